"""Addresses a server listens on, as machines and people call them."""

from __future__ import annotations

import re


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine only."""
    bare = host.strip("[]").lower()
    return bare in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", bare) is not None


def url_of(host: str, port: int) -> str:
    """The address to give people for a server that listens on `host`."""
    name = host.strip("[]")
    if name in ("0.0.0.0", "::"):
        name = "127.0.0.1"
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
