"""Serving below a path, such as /tools/pipes behind a proxy that has other things beside.

Both sorts of proxies work: those that pass the path on and those that take it off. Inside the server addresses have no
base; only what goes out to browsers does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import Scope


def inside(scope: Scope, base: str) -> Scope:
    """A request's scope with the base taken off its path, if it stands there.

    Args:
        scope: Of a request or socket.
        base: Such as `/tools/pipes`, without a slash at the end; not empty.
    """
    path: str = scope["path"]
    if path != base and not path.startswith(f"{base}/"):
        return scope
    changed: dict[str, Any] = {**scope, "path": path[len(base) :] or "/"}
    raw: bytes | None = scope.get("raw_path")
    if raw is not None and raw.startswith(base.encode()):
        changed["raw_path"] = raw[len(base) :] or b"/"
    return changed
