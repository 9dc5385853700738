"""Reads web addresses as people and models paste them, and normalizes them for checks, requests and storage.

Addresses are read as browsers do (WHATWG URL Standard): names in any script, paths with spaces and umlauts, white space
around them. What programs read differently is refused: numbers that are almost an IP address, backslashes in the host,
control characters.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote, urljoin

from runner.excerpts import excerpt

#: Longest address in its final form; httpx accepts no longer one.
MAX_CHARACTERS = 65_536
DEFAULT_PORTS = {"http": 80, "https": 443}

_EXAMPLE_HINT = "Give a full address that begins with https:// or http://."
_HOST_HINT = "Check the host; one with symbols in it can be given in Punycode (xn--…)."
#: Characters that copying leaves around an address: white space, zero-width characters, direction marks.
_AROUND = (
    " \t\r\n\f\v\u00a0\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_LINE_BREAKS = re.compile(r"[\t\r\n]")
_NEVER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PARTS = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_AUTHORITY = re.compile(r"(?:(?P<account>.*)@)?(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]*))?")
_HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_SSH = re.compile(r"ssh://(?P<authority>[^/?#]*)(?P<path>/.*)?", re.IGNORECASE)
#: Only with a user: `host:path` is a folder, a drive or an address without a scheme more often.
_SSH_SHORT = re.compile(r"(?P<authority>[^/:@\s]+@(?:\[[^\[\]]*\]|[^:/@\[\]]+)):(?P<path>[^:].*)")
#: A URL with an account, also one that browsers and libraries would correct: white space after `//` and before `@`,
#: backslashes, no scheme. White space within it counts after `name:`, unless a port precedes it, since prose may begin
#: with an address and go on to an e-mail address.
_URL_ACCOUNT = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?[/\\]{2}\s*"
    r"(?P<account>[^/?#\\\s]*|[^/?#\\\s:@\[]*[\t\r\n]*:(?![0-9]*(?:\s|\Z))[^/?#@\\]*)\s*@"
)
#: `name:password@host` with a port or a path, as `curl` takes it. Without either it may be `from:ann@tea.example`.
_BARE_ACCOUNT = re.compile(
    r"(?P<name>[^/?#\\\s:@]*):(?P<password>[^/?#\\\s@]+)\s*@"
    r"(?:\[[0-9a-fA-F:.]+\]|(?:[\w-]+\.)*(?!\d)[\w-]+\.?|\d+(?:\.\d+){3})(?::[0-9]{1,5}(?![\w.:])|/)"
)
#: Schemes without `//`, whose `@` separates no password.
_OPAQUE_SCHEMES = frozenset(
    {"acct", "data", "im", "jabber", "mailto", "mid", "cid", "sip", "sips", "urn", "xmpp", "npm", "tag"}
)
#: What may hold the name or password of an account in a text that is quoted in a message.
_QUOTED_ACCOUNT = re.compile(r"(?P<before>[A-Za-z][A-Za-z0-9+.-]*:[/\\]{1,2}|)(?P<account>.*)@", re.DOTALL)
_SSH_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_SSH_PORT = 22
_SSH_HINT = "Give an address such as ssh://git@git.example/team/project.git."
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
#: Not escaped, like `%`, so that escapes stay as they are (RFC 3986, and brackets as in browsers).
_KEPT_IN_PATH = "/%:@!$&'()*+,;=[]"
_KEPT_IN_QUERY = f"{_KEPT_IN_PATH}?"
_ESCAPED_LETTERS = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_KEPT_IN_ACCOUNT = "%!$&'()*+,;=:"


class WebAddressError(ValueError):
    """A text is not a web address.

    Attributes:
        shown: The text, shortened and without a password.
        reason: What is wrong, in lower case and without a full stop.
        hint: What to do next.
    """

    def __init__(self, text: str, reason: str, hint: str = _EXAMPLE_HINT) -> None:
        self.shown = _shown(text, 200)
        self.reason = reason
        self.hint = hint
        super().__init__(f"`{self.shown}` is not a web address: {reason}")


class OtherSchemeError(WebAddressError):
    """An address with another scheme than http and https, such as `ftp:` or `file:`."""

    def __init__(self, text: str, scheme: str) -> None:
        super().__init__(text, f"only http and https are supported, not `{excerpt(scheme, 50)}`")


@dataclass(frozen=True, slots=True)
class SshAddress:
    """The address of something on an SSH server, as Git takes it.

    Attributes:
        user: The account; `git` if none is given.
        host: As in `WebAddress`.
        port: 22 when none is given.
        path: As given: from the server's root if it begins with a slash, else from the account's home folder.
    """

    user: str
    host: str
    port: int
    path: str

    @property
    def server(self) -> str:
        """Host and port as `known_hosts` files name them."""
        return self.host if self.port == _SSH_PORT else f"[{self.host}]:{self.port}"

    @property
    def url(self) -> str:
        """The address in one of the two forms that Git reads."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if not self.path.startswith("/"):
            return f"{self.user}@{host}:{self.path}"
        return f"ssh://{self.user}@{host}" + ("" if self.port == _SSH_PORT else f":{self.port}") + self.path


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An `http` or `https` address; all its parts are ASCII and escaped.

    Attributes:
        scheme: `http` or `https`.
        account: User name and password, as written before `@`.
        host: A name in lower case and Punycode without a final dot, or an IP address in its usual form, unbracketed.
        port: The scheme's default when none is given.
        path: Begins with a slash and has no `.` or `..` in it.
        query: Without `?`.
        fragment: Without `#`; never requested.
    """

    scheme: str
    account: str | None
    host: str
    port: int
    path: str
    query: str | None
    fragment: str | None = None

    @property
    def origin(self) -> str:
        """Scheme, host and port; the port only when it is not the scheme's default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}")

    @property
    def url(self) -> str:
        """The address for requests: without a fragment, with the account."""
        before, _, after = self.origin.partition("//")
        account = "" if self.account is None else f"{self.account}@"
        return f"{before}//{account}{after}{self.path}" + ("" if self.query is None else f"?{self.query}")

    @property
    def href(self) -> str:
        """The address for links: with the fragment."""
        return self.url if self.fragment is None else f"{self.url}#{self.fragment}"

    @property
    def readable(self) -> str:
        """The address for display: without an account, and with Punycode and escapes decoded."""
        url = replace(self, account=None).url
        if "xn--" in self.host:
            url = url.replace(f"//{self.host}", f"//{_in_letters(self.host)}", 1)
        return _ESCAPED_LETTERS.sub(_unescaped, url)


def read_web_address(text: str, *, base: str | None = None) -> WebAddress:
    """Read a text that is a web address, perhaps in angle brackets.

    Args:
        text: The text.
        base: The address that it may be relative to.

    Raises:
        WebAddressError: it has another scheme, no host, an invalid host or port, or control characters.
    """
    given = _bare(text)
    if not given:
        raise WebAddressError(text, "it is empty")
    if _NEVER.search(given):
        raise WebAddressError(given, "it contains a line break or another control character", "Give one address.")
    if base is not None:
        try:
            given = urljoin(base, given)
        except ValueError as error:
            raise WebAddressError(given, str(error)) from error
    parts = _PARTS.match(given)
    if parts is None:
        if (other := _SCHEME.match(given)) and other[1].lower() not in DEFAULT_PORTS:
            raise OtherSchemeError(given, other[1])
        raise WebAddressError(given, "it does not begin with https:// or http://")
    scheme = parts["scheme"].lower()
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None:
        raise WebAddressError(given, "what follows `//` is not a host with or without a port")
    address = WebAddress(
        scheme=scheme,
        account=None if authority["account"] is None else quote(authority["account"], safe=_KEPT_IN_ACCOUNT),
        host=_read_host(given, authority["host"]),
        port=_read_port(given, authority["port"]) or DEFAULT_PORTS[scheme],
        path=quote(_without_dots(parts["path"]), safe=_KEPT_IN_PATH),
        query=quote(parts["query"] or "", safe=_KEPT_IN_QUERY) or None,
        fragment=quote(parts["fragment"] or "", safe=_KEPT_IN_QUERY) or None,
    )
    if len(address.href) > MAX_CHARACTERS:
        raise WebAddressError(given, f"it is longer than {MAX_CHARACTERS:,} characters", "Give a shorter address.")
    return address


def is_web_address(text: str) -> bool:
    """Return whether `read_web_address` can read a text."""
    try:
        read_web_address(text)
    except WebAddressError:
        return False
    return True


def has_url_credentials(text: str) -> bool:
    """Return whether a text is a URL with a password or token, such as `https://me:secret@host/`.

    Any account counts in URLs of `http`, `https` and schemes such as `git+https`, since it may be a token. Malformed
    and escaped URLs count, too: they contain the secret all the same.
    """
    return url_account(text) is not None


def url_account(text: str) -> str | None:
    """Return what precedes `@` in a URL if it contains credentials, as `has_url_credentials` decides; else None."""
    if "@" not in text and "%" not in text:
        return None
    forms = [_bare(text)]
    for _ in range(2):  # escaped once, or once more inside another address
        if "%" not in forms[-1]:
            break
        forms.append(_bare(unquote(forms[-1])))
    return next((account for form in forms if (account := _account(form)) is not None), None)


def _account(given: str) -> str | None:
    before, slashes, rest = given.partition("//")
    # Browsers remove tabs and line breaks from an address; between it and an e-mail address they separate the two.
    found = _URL_ACCOUNT.match(_LINE_BREAKS.sub("", before) + slashes + rest)
    if found is not None:
        account = found["account"]
        is_web = (found["scheme"] or "").lower().rpartition("+")[2] in DEFAULT_PORTS
        return account if is_web or account.partition(":")[2] else None
    found = _BARE_ACCOUNT.match(given)
    if found is None or found["name"].lower() in _OPAQUE_SCHEMES:
        return None
    return f"{found['name']}:{found['password']}"


def without_account(text: str) -> str:
    """Remove what may be a name and password before `@` from a text that a message quotes.

    Looser than `has_url_credentials`: an e-mail address stays, all else with a colon or a slash before `@` goes.
    """
    if "%" in text and "@" not in text and "@" in (decoded := unquote(unquote(text))):
        text = decoded
    found = _QUOTED_ACCOUNT.match(text)
    if found is None or not (found["before"] or re.search(r"[:/\\]", found["account"])):
        return text
    return f"{found['before']}…{text[found.end() - 1 :]}"


def read_ssh_address(text: str) -> SshAddress | None:
    """Read `ssh://user@host:port/path` or `user@host:path`; None for a text in neither form.

    Raises:
        WebAddressError: it has a password, no path, or an invalid user, host or port.
    """
    given = text.strip(_AROUND)
    if _NEVER.search(given):
        raise WebAddressError(given, "it contains a line break or another control character", "Give one address.")
    parts = _SSH.fullmatch(given)
    if parts is not None:
        authority, path = _AUTHORITY.fullmatch(parts["authority"]), parts["path"] or ""
    elif (short := _SSH_SHORT.fullmatch(given)) is not None:
        authority, path = _AUTHORITY.fullmatch(short["authority"]), short["path"]
    else:
        return None
    if authority is None:
        raise WebAddressError(given, "it has no host, or an invalid port", _SSH_HINT)
    user = "git" if authority["account"] is None else authority["account"]
    if ":" in user:
        raise WebAddressError(given, "it contains a password", "Give the address without it.")
    if not _SSH_USER.fullmatch(user):
        raise WebAddressError(given, "its user name is not one that SSH accepts", _SSH_HINT)
    if not path.strip("/") or path.startswith("-"):
        raise WebAddressError(given, "it names no path on the server", _SSH_HINT)
    return SshAddress(
        user, _read_host(given, authority["host"]), _read_port(given, authority["port"]) or _SSH_PORT, path
    )


def read_web_host(text: str) -> str:
    """Normalize a host: lower case, Punycode, no final dot; an IP address in its usual form.

    Args:
        text: A name, or an IP address with or without brackets.

    Raises:
        WebAddressError: it is neither.
    """
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return _read_host(text, f"[{bare}]" if ":" in bare else text)


def _bare(text: str) -> str:
    """Remove what copying leaves around an address, and angle brackets."""
    given = text.strip(_AROUND)
    if given.startswith("<") and given.endswith(">"):
        given = given[1:-1].strip(_AROUND)
    return given


def _read_host(given: str, text: str) -> str:
    if not text:
        raise WebAddressError(given, "it has no host")
    if text.startswith("["):
        try:
            address = ipaddress.IPv6Address(text[1:-1])
        except ValueError:
            address = None
        if address is None or address.scope_id is not None:
            raise WebAddressError(given, f"`{_shown(text, 100)}` is not an IPv6 address", "Check the host.")
        return address.compressed
    name = _in_ascii(unquote(text)).removesuffix(".")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        try:  # `127.1`, `0x7f.1` and `2130706433` are 127.0.0.1 to some programs and names to others
            return str(ipaddress.IPv4Address(name))
        except ValueError as error:
            reason = f"`{_shown(text, 100)}` is neither a host name nor an IP address"
            raise WebAddressError(given, reason, "Write an IP address as four numbers up to 255.") from error
    if len(name) > 253 or not _HOST_NAME.fullmatch(name):
        raise WebAddressError(given, f"`{_shown(text, 100)}` is not a host name", _HOST_HINT)
    return name


def _in_ascii(name: str) -> str:
    """Return a host name in lower case and Punycode (UTS #46, IDNA 2008); one without such a form is unchanged."""
    if name.isascii():
        return name.lower()
    import idna

    try:
        labels = idna.uts46_remap(name, std3_rules=False).split(".")
        return ".".join(label if label.isascii() else idna.alabel(label).decode("ascii") for label in labels)
    except UnicodeError:  # idna's errors are subclasses
        return name


def _in_letters(host: str) -> str:
    """Decode a host in Punycode, if encoding the result gives the same host."""
    import idna

    try:
        name = idna.decode(host)
        return name if read_web_host(name) == host else host
    except (UnicodeError, WebAddressError):
        return host


def _unescaped(escaped: re.Match[str]) -> str:
    try:
        text = unquote(escaped.group(), errors="strict")
    except UnicodeDecodeError:
        return escaped.group()
    return text if text.isprintable() else escaped.group()


def _read_port(given: str, digits: str | None) -> int | None:
    if not digits:
        return None
    port = int(digits) if len(digits) <= 10 else 0
    if not 0 < port < 65536:
        raise WebAddressError(
            given, f"port {excerpt(digits, 20)} is not within 1 to 65535", "Leave the port out, or correct it."
        )
    return port


def _without_dots(path: str) -> str:
    """Resolve `.` and `..` in a path, also escaped ones (WHATWG URL, 4.1); the result begins with a slash."""
    kept: list[str] = []
    plain = ""
    for segment in path.split("/")[1:]:
        plain = segment.lower().replace("%2e", ".")
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(segment)
    return f"/{'/'.join(kept)}{'/' if kept and plain in ('.', '..') else ''}"


def _shown(text: str, limit: int) -> str:
    """Prepare a text for a message: shortened, without a password and control characters."""
    return excerpt(_NEVER.sub("\ufffd", without_account(text).rpartition("@")[2]), limit)
