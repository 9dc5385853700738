"""What the start of a server does before it imports anything: it has a second (DESIGN 6)."""

from __future__ import annotations

import gc
import os
import sys


def prepare_imports() -> None:
    """Makes the imports of a start cheaper; `app.server` turns garbage collection on again once it serves.

    Imports make more garbage collections than garbage. Dataclasses, of which there are 550, are declared in a cheaper
    way. structlog is imported as if rich were not there: for tracebacks in colour it would bring 80 modules along, a
    twentieth of the time of a start, and those tracebacks would show local variables, which may hold what must not be
    logged. And pydantic does not look for plugins of itself in every package that is installed.
    """
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from app.dataclass_methods import share_methods

    share_methods()
    _import_structlog()


def _import_structlog() -> None:
    if "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment] # what the import system takes for "not installed"
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
