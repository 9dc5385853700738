"""Which repository is meant: `owner/name`, or an address copied from the browser."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packline import PackContext, PackError, WebAddressError, excerpt, read_web_address

PUBLIC_API = "https://api.github.com"

_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?\Z", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}\Z", re.ASCII)
_NUMBER = re.compile(r"[1-9]\d{0,9}\Z", re.ASCII)
_HINT = "Give it as `owner/name` or as `https://github.com/owner/name`."


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository's name, made of characters that need no escaping in a path.

    Attributes:
        owner: A person or organisation.
        name: Without `.git`.
        number: Of the issue or pull request the address was of.
    """

    owner: str
    name: str
    number: int | None = None

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"

    @property
    def path(self) -> str:
        """Where its part of the API begins."""
        return f"/repos/{self.owner}/{self.name}"


def api_url(ctx: PackContext) -> str:
    """Root of the REST API, without a slash at the end."""
    return (ctx.service_url("github") or PUBLIC_API).rstrip("/")


def parse_repo(ctx: PackContext, text: str, *, field: str = "repo") -> Repo:
    """The repository a text names.

    Raises:
        PackError: `invalid_input` for anything but a name or an address on the GitHub that is spoken to.
    """
    given = text.strip()
    if re.match(r"[a-z][a-z0-9+.-]*:", given, re.IGNORECASE):
        segments = _segments_of_address(ctx, given, field)
    elif given.lower().startswith(("github.com/", "www.github.com/")):
        segments = _segments_of_address(ctx, f"https://{given}", field)
    else:
        segments = given.split("/")
        if len(segments) != 2:
            raise _bad(given, field)
    if len(segments) < 2:
        raise _bad(given, field)
    owner, name = segments[0], segments[1].removesuffix(".git")
    if not _OWNER.match(owner) or not _NAME.match(name) or name in (".", ".."):
        raise _bad(given, field)
    is_item = len(segments) > 3 and segments[2] in ("issues", "pull") and _NUMBER.match(segments[3])
    return Repo(owner, name, int(segments[3]) if is_item else None)


def _segments_of_address(ctx: PackContext, address: str, field: str) -> list[str]:
    try:
        given = read_web_address(address)
    except WebAddressError as error:
        raise _bad(address, field) from error
    if given.account is not None:
        raise _bad(address, field)
    api = read_web_address(api_url(ctx))
    hosts = {"github.com", "www.github.com"} if api.host == "api.github.com" else {api.host}
    if given.host not in hosts or given.port not in (80, 443, api.port):
        raise PackError(
            "invalid_input",
            f"`{excerpt(given.origin.partition('//')[2], 100)}` is not the GitHub that is set up here, which is "
            f"`{min(hosts)}`.",
            field=field,
            hint=f"{_HINT} Another GitHub is set by an operator as PACKLINE_SERVICE_GITHUB_URL.",
        )
    return [segment for segment in given.path.split("/") if segment]


def _bad(text: str, field: str) -> PackError:
    shown = excerpt(text.rpartition("@")[2], 100)
    return PackError("invalid_input", f"`{shown}` is not a repository on GitHub.", field=field, hint=_HINT)
