"""Host names, ports and addresses of the server: parsing and printing."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from typing import Final, NamedTuple

#: The host and port of a URL and of the `Host` header (RFC 3986 section 3.2), without user and password.
_AUTHORITY: Final = re.compile(r"(?:([A-Za-z0-9._-]+)|\[([0-9A-Fa-f:.]+)\])(?::([0-9]{1,5}))?")
_PORTS: Final = range(1, 65_536)


class Authority(NamedTuple):
    """A host as a request or a web page names it.

    Attributes:
        name: In lower case; an IPv6 address in its shortest form, without brackets.
        port: None where none is named.
    """

    name: str
    port: int | None


def read_authority(text: str) -> Authority | None:
    """Parse a host name or address, IPv6 in brackets, with or without a port; None for any other text.

    `urllib.parse` is too lenient: it accepts user names and ports that are not numbers.
    """
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    name, address, digits = found.groups()
    if address is not None:
        try:
            name = str(IPv6Address(address))
        except ValueError:
            return None
    port = None if digits is None else int(digits)
    return None if port is not None and port not in _PORTS else Authority(name.lower(), port)


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine only."""
    bare = host.strip("[]").lower()
    try:
        return bare == "localhost" or ip_address(bare).is_loopback
    except ValueError:
        return False


def read_host(text: str) -> str | None:
    """Parse a host without a port, IPv6 with or without brackets, into `Authority.name`; None for any other text."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    authority = read_authority(f"[{bare}]" if ":" in bare else text)
    return None if authority is None or authority.port is not None else authority.name


def url_of(host: str, port: int) -> str:
    """The address to give people for a server that listens on `host`."""
    name = host.strip("[]")
    if name in ("0.0.0.0", "::"):
        name = "127.0.0.1"
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
