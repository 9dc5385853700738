"""Marks tests that need a sandbox around an agent."""

from __future__ import annotations

import pytest

from runner.agents.isolation import Isolation, best_isolation

NEEDS_SANDBOX = pytest.mark.skipif(
    best_isolation() is Isolation.PROCESS,
    reason="bubblewrap makes no sandbox here; install the package `bubblewrap`, and allow user namespaces",
)
