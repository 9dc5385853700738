"""Addresses a server listens on, as machines and people call them."""

from __future__ import annotations

import re
from ipaddress import IPv6Address


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine only."""
    bare = host.strip("[]").lower()
    return bare in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", bare) is not None


def is_host(text: str) -> bool:
    """Whether a text is a host's name or address alone, without scheme, port or path; IPv6 with or without brackets."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if ":" not in bare:
        return bare == text and re.fullmatch(r"[^\s/@\[\]?#\\]+", bare) is not None
    try:
        IPv6Address(bare)
    except ValueError:
        return False
    return True


def url_of(host: str, port: int) -> str:
    """The address to give people for a server that listens on `host`."""
    name = host.strip("[]")
    if name in ("0.0.0.0", "::"):
        name = "127.0.0.1"
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
