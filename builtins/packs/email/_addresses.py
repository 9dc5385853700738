"""Mail addresses: `ada@example.org` or `Ada Example <ada@example.org>`, and nothing that could become a header."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packline import excerpt

_ENTRY = re.compile(r"(?:(?P<name>[^<>]*?)\s*<(?P<named>[^<>\s]+)>|(?P<bare>[^<>\s]+))\Z")
_LOCAL = re.compile(r"(?!\.)(?!.*\.\.)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}(?<!\.)\Z", re.ASCII)
_LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)\Z", re.ASCII)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
NAME_CHARS = 100


@dataclass(frozen=True, slots=True)
class MailAddress:
    """Somebody's address.

    Attributes:
        name: How they are called; may be empty.
        local: Before the `@`, as written.
        domain: After it, lower case, in ASCII.
    """

    name: str
    local: str
    domain: str

    @property
    def spec(self) -> str:
        """`local@domain`."""
        return f"{self.local}@{self.domain}"


def has_control(text: str) -> bool:
    """Whether a text holds a line break or another control character, U+2028 and U+2029 included."""
    return _CONTROL.search(text) is not None


def parse_address(text: str) -> MailAddress:
    """The address a text gives.

    Raises:
        ValueError: when it is none; the message says why.
    """
    import idna

    shown = excerpt(" ".join(text.split()), 100)
    if has_control(text):
        raise ValueError(f"`{shown}` has a line break or control character, which an address cannot have.")
    match = _ENTRY.match(text.strip())
    if match is None:
        raise ValueError(f"`{shown}` is not a mail address; give `ada@example.org` or `Ada Example <ada@example.org>`.")
    local, at, domain = (match["named"] or match["bare"]).rpartition("@")
    name = (match["name"] or "").strip().strip('"').strip()
    try:
        domain = domain.lower() if domain.isascii() else idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        domain = ""
    if not at or not _LOCAL.match(local) or not all(_LABEL.match(label) for label in domain.split(".")):
        raise ValueError(f"`{shown}` is not a mail address; one address each, such as `ada@example.org`.")
    if len(name) > NAME_CHARS:
        raise ValueError(f"The name in `{shown}` is longer than {NAME_CHARS} characters.")
    return MailAddress(name, local, domain)
