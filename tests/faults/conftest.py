from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here drives real processes and takes seconds."""
    for item in items:
        if "tests/faults" in str(item.path):
            item.add_marker(pytest.mark.slow)
