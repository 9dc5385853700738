"""What holds for every test: a property may take its time, for a busy machine is no defect. Slow files run first.

A property is tried with 40 examples; `make sweeps` tries it with 400.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
import structlog
from hypothesis import settings

from app.server import GARBAGE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

settings.register_profile("packline", deadline=None, max_examples=40)
settings.register_profile("sweeps", deadline=None, max_examples=400)
settings.load_profile("packline")

# Left to itself structlog renders an exception with rich, local variables included: half a second for some.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order files that hold slow tests before the others, so that no worker is left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow") or item.get_closest_marker("browser")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import all tests without collecting garbage, then spare the collector modules and tests until the end.

    Afterwards the youngest objects are collected as rarely as in `packline up`.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(GARBAGE[0])
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _nothing_left_open() -> Iterator[None]:
    """Collect when all fixtures are torn down, so that what they and tests left open fails a worker's last test."""
    yield
    gc.collect()
