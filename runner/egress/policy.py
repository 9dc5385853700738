"""The policy which addresses packs may reach.

Names are resolved by `runner.egress.transport`, **every** address is checked against an explicit list of networks, and
the connection goes to the checked address itself, so that DNS rebinding has no effect. `ipaddress.is_global` is not
used: in CPython 3.11 it calls `64:ff9b::a00:1` (10.0.0.1 behind NAT64) global.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.egress.web_address import OtherSchemeError, WebAddressError, read_web_address, read_web_host
from runner.failures import PackError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeAlias

    Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SETTING = "PACKLINE_EGRESS_ALLOW"
#: Largest limits that a single request may set by its extensions: the upload limit and the default step timeout.
CEILING_BYTES = 100 * 1024 * 1024
CEILING_SECONDS = 600.0
_WEB_PORTS = frozenset({80, 443})

# IANA special-purpose registries (RFC 6890 and later additions). 168.63.129.16 is the host agent of one large cloud.
_REFUSED_IPV4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_IPV6 = tuple(ipaddress.IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
#: Networks whose last 32 bits are an IPv4 address: mapped, translated, NAT64, compatible.
_EMBEDDING = tuple(
    ipaddress.IPv6Network(text) for text in ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "::/96")
)

_ENTRY = re.compile(r"(?:\[(?P<bracketed>[^\]]*)\]|(?P<plain>[^:\[\]]*))(?::(?P<port>\d{1,5}))?\Z")


def embedded_ipv4(address: Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to: mapped, translated, NAT64, compatible, 6to4."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _SIX_TO_FOUR:
        return ipaddress.IPv4Address(address.packed[2:6])
    if any(address in network for network in _EMBEDDING):
        return ipaddress.IPv4Address(address.packed[-4:])
    return None


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the public internet, also if it embeds an IPv4 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_IPV4)
    inner = embedded_ipv4(address)
    if inner is not None:
        return is_public(inner)
    return address in _GLOBAL_IPV6 and not any(address in network for network in _REFUSED_IPV6)


class EgressPolicyError(ValueError):
    """An entry of the allow list is malformed; the message names it."""


@dataclass(frozen=True, slots=True)
class AllowEntry:
    """One exception: a host name, or a network, on one port or on all.

    Attributes:
        host: Exact name in lower case; all addresses it resolves to are permitted.
        network: Permitted addresses, by whatever name they were found.
        port: The only port it covers; None covers every port.
    """

    host: str | None
    network: Network | None
    port: int | None

    def covers(self, host: str, address: Address, port: int) -> bool:
        """Return whether this entry permits a connection to `address`, to which `host` resolved."""
        if self.port is not None and self.port != port:
            return False
        if self.host is not None:
            return self.host == host
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return self.network is not None and (mapped or address) in self.network


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """What packs may reach: the public internet on ports 80 and 443, and the allowed exceptions."""

    allow: tuple[AllowEntry, ...] = ()

    @classmethod
    def parse(cls, text: str) -> EgressPolicy:
        """Read the setting: entries separated by commas.

        Each is a host name, an address or a network, with or without a port: `docs.internal`, `localhost:8931`,
        `10.1.2.3`, `10.0.0.0/8:8080`, `[fd00::/8]:443`.

        Raises:
            EgressPolicyError: an entry is malformed.
        """
        return cls(tuple(_parse_entry(entry.strip()) for entry in text.split(",") if entry.strip()))

    def permits(self, host: str, address: Address, port: int) -> bool:
        """Return whether a connection to `address`, to which `host` resolved, may be opened."""
        if any(entry.covers(host, address, port) for entry in self.allow):
            return True
        return port in _WEB_PORTS and is_public(address)

    def may_permit_port(self, port: int) -> bool:
        """Return whether any host may be reached on this port."""
        return port in _WEB_PORTS or any(entry.port in (None, port) for entry in self.allow)


def _parse_entry(entry: str) -> AllowEntry:
    bad = f"{SETTING}: `{entry}` is not a host name, an address or a network, with or without a port"
    try:  # an IPv6 address or network without brackets
        return AllowEntry(None, ipaddress.ip_network(entry, strict=False), None)
    except ValueError:
        pass
    match = _ENTRY.match(entry)
    if match is None:
        raise EgressPolicyError(f"{bad}. Write a name, not an address of a page; an IPv6 address goes in brackets.")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65536:
        raise EgressPolicyError(f"{bad}: port {port} is not within 1 to 65535.")
    target = (match["bracketed"] or match["plain"] or "").lower()
    try:
        return AllowEntry(None, ipaddress.ip_network(target, strict=False), port)
    except ValueError:
        if match["bracketed"] is not None:
            raise EgressPolicyError(f"{bad}.") from None
    try:
        return AllowEntry(read_web_host(target), None, port)
    except WebAddressError as error:
        raise EgressPolicyError(f"{bad}: {error.reason}.") from error


def refusal(what: str, host: str, port: int) -> PackError:
    """Return the failure of a connection that is not permitted; without addresses, which would map private networks."""
    entry = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return PackError(
        "policy_denied",
        f"Requests to `{host}` on port {port} are refused: {what}.",
        cause="This server keeps packs away from private networks, and from ports other than 80 and 443.",
        hint=f"The operator can permit it by adding `{entry}` to {SETTING}.",
    )


def origin_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of a URL, as requests to it have them.

    Raises:
        PackError: `invalid_input` when it is not a web address.
    """
    try:
        address = read_web_address(url)
    except WebAddressError as error:
        raise not_an_address(error) from error
    return address.scheme, address.host, address.port


def not_an_address(error: WebAddressError) -> PackError:
    """Return the failure of a request to something that is not a web address."""
    code = "policy_denied" if isinstance(error, OtherSchemeError) else "invalid_input"
    return PackError(code, f"{error}.", hint=error.hint)
