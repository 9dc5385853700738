"""Which repository addresses are accepted, and where they really lead.

Git opens its own connections, outside the egress guard of `ctx.http`. So the first request of the
protocol is made here, through the guard, and Git is then held to what the guard allowed: the same scheme, host and
port, at the very IP address that was checked (`Remote.resolve_entry`), without redirects. Over SSH the guard checks the
server, and `ssh` is held to the address in the same way.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packline import (
    OtherSchemeError,
    PackError,
    WebAddressError,
    excerpt,
    read_ssh_address,
    read_web_address,
)

from .._http import failure_for_answer
from ._access import find_sign_in, hint_for, key_for, refused, ssh_access

if TYPE_CHECKING:
    import httpx2

    from packline import PackContext, SshAddress

    from ._access import SignIn, SshAccess

_MAX_URL_CHARACTERS = 2_000
_MAX_REDIRECTS = 5
_DISCOVERY_TIMEOUT_SECONDS = 20.0
_ADVERTISEMENT = "application/x-git-upload-pack-advertisement"
_DISCOVERY_PATH = "/info/refs"
_DISCOVERY_QUERY = "service=git-upload-pack"
# GitHub serves the Git protocol only to user agents that begin with `git/`.
_HEADERS = {"User-Agent": "git/2 (packline)", "Git-Protocol": "version=2", "Accept": "*/*"}
#: What servers answer to strangers who ask for a private repository; most do not say that there is one.
_PERHAPS_PRIVATE = frozenset({401, 403, 404})
_FORBIDDEN_IN_REF = set(' ~^:?*[\\"')


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository that answered through the guard.

    Attributes:
        url: Where Git is sent: no user, query, fragment or trailing slash.
        host: Name or IP address in `url`.
        port: TCP port.
        address: The IP address that the guard permitted.
        authorization: Value of the header that signs in, if a credential is needed.
        ssh: How to sign in over SSH; None over HTTP.
    """

    url: str
    host: str
    port: int
    address: str
    authorization: str | None = field(default=None, repr=False)
    ssh: SshAccess | None = None

    @property
    def protocol(self) -> str:
        """The only protocol Git may speak."""
        return "ssh" if self.ssh is not None else self.url.partition(":")[0]

    @property
    def resolve_entry(self) -> str:
        """Value for Git's `http.curloptResolve`: this host and port are at this address, not where DNS points now.

        Without it a name could answer with a public address to the guard and with a private one to Git (DNS
        rebinding).
        """
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{self.host}:{self.port}:{address}"


def check_url(url: str) -> str:
    """The address in the form that is used from here on.

    Raises:
        PackError: `invalid_input` when it is not the address of a repository, with what to give instead.
    """
    text = url.strip()
    if not text or len(text) > _MAX_URL_CHARACTERS:
        raise _bad("The repository address is empty or too long.")
    try:
        if (over_ssh := read_ssh_address(text)) is not None:
            return over_ssh.url
        if "://" not in text:
            raise _not_an_address(text)
        address = read_web_address(text)
    except WebAddressError as error:
        raise _bad(f"{error}.", f"{error.hint} Repositories are fetched over https, http or SSH.") from error
    if address.account is not None:
        raise _bad(
            "The repository address carries a user name or a password.",
            "Give the address without them: inputs are kept with the run. Private repositories are read with a "
            "credential.",
        )
    if "?" in text or "#" in text:
        raise _bad("The repository address has a query or a fragment.", "Give the address that `git clone` would take.")
    path = address.path.rstrip("/")
    if not path:
        raise _bad(f"`{_shown(text)}` names a server, not a repository on it.")
    _refuse_page_of_a_repository(address.host, path)
    return f"{address.origin}{path}"


def check_ref(ref: str) -> str:
    """A branch, tag, full ref name or commit that is safe to hand to Git.

    Raises:
        PackError: `invalid_input` for what cannot be a ref (`git help check-ref-format`).
    """
    wrong = (
        not ref
        or len(ref) > 250
        or ref.startswith(("-", "/", "."))
        or ref.endswith(("/", ".", ".lock"))
        or ".." in ref
        or "//" in ref
        or "@{" in ref
        or any(char in _FORBIDDEN_IN_REF or ord(char) < 0x20 or ord(char) == 0x7F for char in ref)
    )
    if wrong:
        raise PackError(
            "invalid_input",
            f"`{excerpt(ref, 100)}` cannot be the name of a branch, tag or commit.",
            field="ref",
            hint="Give a branch such as `main`, a tag such as `v1.2.0` or a full commit id; leave it out for the"
            " default branch.",
        )
    return ref


async def discover(ctx: PackContext, url: str) -> Remote:
    """Asks the server for the repository as Git would, through the egress guard.

    Redirects are followed within one host only, as when a repository was renamed or http moved to https. The first
    request is made without credentials; only when the server refuses it is one for that origin looked for and sent.

    Raises:
        PackError: `not_found`, `credential_invalid`, `rate_limited`, `timeout`, `upstream_unavailable` as the server
            answered; `policy_denied` for a redirect to another host; `invalid_input` when no Git server answers.
    """
    import httpx2

    if (over_ssh := read_ssh_address(url)) is not None:
        return await _remote_over_ssh(ctx, over_ssh)
    signed: SignIn | None = None
    for _ in range(_MAX_REDIRECTS + 2):  # one more for signing in
        request = ctx.http.stream(
            "GET",
            f"{url}{_DISCOVERY_PATH}?{_DISCOVERY_QUERY}",
            headers=_HEADERS if signed is None else {**_HEADERS, "Authorization": signed.header},
            follow_redirects=False,
            timeout=_DISCOVERY_TIMEOUT_SECONDS,
        )
        try:
            async with request as response:
                if response.is_redirect:
                    url = _redirected(url, response.headers.get("location", ""))
                    if signed is not None and read_web_address(url).origin != signed.origin:
                        signed = None
                    continue
                if signed is None and response.status_code in _PERHAPS_PRIVATE:
                    signed = await find_sign_in(ctx, url)
                    if signed is not None:
                        continue
                _check_answer(ctx, url, response, signed)
                return _remote(url, response, signed)
        except httpx2.TimeoutException as error:
            raise PackError("timeout", f"{url} did not answer within {_DISCOVERY_TIMEOUT_SECONDS:.0f} s.") from error
        except httpx2.TransportError as error:
            raise PackError("upstream_unavailable", f"{url} could not be reached: {error}.") from error
    raise PackError("upstream_unavailable", f"{url} redirected more than {_MAX_REDIRECTS} times.", field="url")


def _not_an_address(text: str) -> PackError:
    """What to answer to something without a scheme: `git@host:path`, `host/path` or a folder."""
    before, colon, after = text.partition(":")
    host = before.rpartition("@")[2]
    if colon and "/" not in before and "." in host and after and not after.startswith(":"):
        return _bad(
            f"`{_shown(text)}` is an SSH address without a user.",
            f"Give `https://{host}/{after.lstrip('/')}`, or with a key as the credential `ssh` `git@{host}:{after}`.",
        )
    first = text.partition("/")[0]
    if "." in first.strip(".") and "/" in text and not text.startswith((".", "/", "~")):
        return _bad(f"`{_shown(text)}` has no scheme.", f"Give `https://{text}` instead.")
    return _bad(
        f"`{_shown(text)}` is not the address of a repository.",
        "Give an address such as `https://example.org/team/project.git`; folders on this machine are not read.",
    )


def _refuse_page_of_a_repository(host: str, path: str) -> None:
    """GitHub's repositories are always `/owner/name`; what follows is a page about one."""
    segments = path.strip("/").split("/")
    if host not in {"github.com", "www.github.com"} or len(segments) <= 2:
        return
    hint = f"Give `https://github.com/{segments[0]}/{segments[1]}` as url"
    if segments[2] in {"tree", "blob", "commit"} and len(segments) > 3:
        hint += f" and `{segments[3]}` as ref"
    raise _bad("This is the address of a page of a repository, not of the repository.", f"{hint}.")


def _check_answer(ctx: PackContext, url: str, response: httpx2.Response, signed: SignIn | None) -> None:
    """Raises what the server's answer means, unless it is Git's.

    Raises:
        PackError: see `discover`.
    """
    status = response.status_code
    if status == 200:
        if response.headers.get("content-type", "").partition(";")[0].strip() == _ADVERTISEMENT:
            return
        raise _bad(f"{url} answers, but not as a Git repository.", "Give the address that `git clone` would take.")
    if signed is not None and status in {401, 403}:
        raise refused(signed.key, url, f"HTTP {status}")
    hint = None
    if signed is not None and status in _PERHAPS_PRIVATE:
        hint = f"Check the address, and that the credential `{signed.key}` may read this repository."
    elif status in _PERHAPS_PRIVATE:
        hint = hint_for(ctx, url)
    error = failure_for_answer(response, field="url", hint=hint)
    if error.code == "credential_invalid":
        raise PackError.of(replace(error.failure, detail={"credential": key_for(ctx, url)}))
    raise error


async def _remote_over_ssh(ctx: PackContext, address: SshAddress) -> Remote:
    """The repository at an address that the guard permits, with the key for its server.

    Raises:
        PackError: `credential_invalid`, `policy_denied` or `upstream_unavailable`.
    """
    access = await ssh_access(ctx, address)
    permitted = await ctx.permitted_address(address.host, address.port)
    return Remote(address.url, address.host, address.port, permitted, ssh=access)


def _remote(url: str, response: httpx2.Response, signed: SignIn | None) -> Remote:
    """The address the request went to, read from its connection.

    Raises:
        PackError: `policy_denied` when the connection does not tell: unpinned, Git could be led elsewhere.
    """
    asked = read_web_address(url)
    stream = response.extensions.get("network_stream")
    peer = stream.get_extra_info("server_addr") if stream is not None else None
    if not peer:
        raise PackError(
            "policy_denied",
            f"The IP address of {asked.host} is not known, so that Git cannot be held to it.",
            hint="Repositories must be reached directly, not through a proxy.",
        )
    address = str(ipaddress.ip_address(str(peer[0]).partition("%")[0]))
    return Remote(url, asked.host, asked.port, address, None if signed is None else signed.header)


def _redirected(url: str, location: str) -> str:
    """The repository's new address.

    Raises:
        PackError: `policy_denied` when it is on another host or port, or no longer encrypted; `invalid_input` when it
            is no address.
    """
    try:
        target = read_web_address(location, base=f"{url}{_DISCOVERY_PATH}")
    except OtherSchemeError as error:
        raise _elsewhere(url, error.shown) from error
    except WebAddressError as error:
        raise _bad(f"{url} redirects to what cannot be read: {error}.", error.hint) from error
    old = read_web_address(url)
    upgraded = (old.scheme, old.port, target.scheme, target.port) == ("http", 80, "https", 443)
    if target.host != old.host or target.account is not None or not (upgraded or target.origin == old.origin):
        raise _elsewhere(url, target.origin)
    if not target.path.endswith(_DISCOVERY_PATH):
        raise _bad(f"{url} redirects to a page that is not a Git repository.")
    return check_url(f"{target.origin}{target.path.removesuffix(_DISCOVERY_PATH)}")


def _elsewhere(url: str, target: str) -> PackError:
    return PackError(
        "policy_denied",
        f"{url} redirects to {target}, and redirects are followed within one host only.",
        field="url",
        hint="If you trust that host, give the repository's address there.",
    )


def _shown(text: str) -> str:
    """The start of an address for a message, without a password that may be in it."""
    return excerpt(text.rpartition("@")[2], 200)


def _bad(message: str, hint: str | None = None) -> PackError:
    return PackError("invalid_input", message, field="url", hint=hint)
