"""Addresses of servers as people give them, in settings, credentials and commands."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def read_web_address(text: str) -> SplitResult | None:
    """The parts of an `http` or `https` address that names a host; None for anything else."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a bracket that is never closed, or a port that is none
        return None
    return parts if usable else None


def has_account(address: SplitResult) -> bool:
    """Whether an address carries a user name or a password."""
    return address.username is not None
