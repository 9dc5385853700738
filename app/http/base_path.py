"""Serving below a path prefix, such as /tools/pipes behind a proxy that also serves other applications.

Proxies may pass the prefix on or strip it. Inside the server, addresses have no prefix; only those sent to browsers do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import Scope


def without_base(scope: Scope, base: str) -> Scope:
    """A copy of the scope without the base in its path; the scope itself if the path does not begin with it.

    Args:
        scope: The scope of a request or socket.
        base: The prefix, such as `/tools/pipes`, without a slash at the end; not empty.
    """
    path: str = scope["path"]
    if path != base and not path.startswith(f"{base}/"):
        return scope
    changed: dict[str, Any] = {**scope, "path": path[len(base) :] or "/"}
    raw: bytes | None = scope.get("raw_path")
    if raw is not None and raw.startswith(base.encode()):
        changed["raw_path"] = raw[len(base) :] or b"/"
    return changed
