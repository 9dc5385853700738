"""Which credential signs in to which server. A credential names its server and is sent to no other."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packline import CredentialNeed, PackError, read_ssh_address, read_web_address

from ..github._repo import PUBLIC_API, api_url

if TYPE_CHECKING:
    from packline import PackContext, SshAddress

_GITHUB, _GIT, _SSH = "github", "git", "ssh"
_OPTIONAL = [CredentialNeed(_GIT, "git", required=False), CredentialNeed(_SSH, "ssh", required=False)]
#: What packs declare that read repositories, and those that push to them.
TO_READ = [CredentialNeed(_GITHUB, "github", required=False), *_OPTIONAL]
TO_PUSH = [CredentialNeed(_GITHUB, "github", alternatives=(_GIT, _SSH)), *_OPTIONAL]
#: GitHub and GitLab accept any account with a token; this is what GitHub documents.
_ANY_ACCOUNT = "x-access-token"
_TOKEN = re.compile(r"[\x21-\x7e]{1,1000}\Z")
_ACCOUNT = re.compile(r"[\x21-\x39\x3b-\x7e]{1,200}\Z")


@dataclass(frozen=True, slots=True)
class SignIn:
    """How to sign in to a server over HTTP.

    Attributes:
        key: Key of the credential.
        origin: The only origin it is sent to.
        header: Value of `Authorization`.
    """

    key: str
    origin: str
    header: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SshAccess:
    """How to sign in to a server over SSH.

    Attributes:
        server: Host and port as `known_hosts` names them.
        private_key: In OpenSSH's or PEM form.
        known_hosts: The server's public keys.
    """

    server: str
    private_key: str = field(repr=False)
    known_hosts: str = field(repr=False)


async def find_sign_in(ctx: PackContext, url: str) -> SignIn | None:
    """Return how to sign in to the server of a repository; None if no credential for it can be used.

    Raises:
        PackError: `credential_invalid` when the credential cannot be sent.
    """
    origin = read_web_address(url).origin
    if _is_github(ctx, origin) and (fields := await ctx.find_credential(_GITHUB)) is not None:
        return _sign_in(_GITHUB, origin, fields.get("token", ""))
    fields = await ctx.find_credential(_GIT)
    if fields is None or _origin_of(fields.get("url", "")) != origin:
        return None
    return _sign_in(_GIT, origin, fields.get("token", ""), fields.get("username") or _ANY_ACCOUNT)


async def require_sign_in(ctx: PackContext, url: str) -> SignIn:
    """Return how to sign in to the server of a repository.

    Raises:
        PackError: `credential_invalid` with the reason when no credential for it can be used.
    """
    if (found := await find_sign_in(ctx, url)) is not None:
        return found
    fields = await ctx.credential(key_for(ctx, url))
    raise _for_another(_GIT, str(_origin_of(fields.get("url", ""))), read_web_address(url).origin)


def key_for(ctx: PackContext, url: str) -> str:
    """Return the key of the credential that signs in to the server of a repository over HTTP."""
    return _GITHUB if _is_github(ctx, read_web_address(url).origin) else _GIT


def hint_for(ctx: PackContext, url: str) -> str:
    """Say how a private repository of this server can be reached."""
    key = key_for(ctx, url)
    which = f"`{key}`" if key == _GITHUB else f"`{key}` with the `url` {read_web_address(url).origin}"
    return f"Check the address. A private repository needs the credential {which}, granted to this pack."


async def ssh_access(ctx: PackContext, address: SshAddress) -> SshAccess:
    """Return how to sign in to an SSH server.

    Raises:
        PackError: `credential_invalid` with the reason when there is no credential for it.
    """
    try:
        fields = await ctx.credential(_SSH)
    except PackError as error:
        hint = f"{error.failure.hint or ''} A public repository can be fetched by its https address without one."
        raise PackError.of(replace(error.failure, field="url", hint=hint.strip())) from error
    server = read_ssh_address(f"ssh://{fields.get('host', '')}/any")
    if server is None or server.server != address.server:
        raise _for_another(_SSH, fields.get("host", ""), address.server)
    return SshAccess(address.server, fields.get("private_key", ""), fields.get("known_hosts", ""))


def refused(key: str, where: str, how: str) -> PackError:
    """Return the failure for a credential that a server rejects.

    Args:
        key: Key of the credential.
        where: The server or repository.
        how: What it answered.
    """
    return PackError(
        "credential_invalid",
        f"{where} does not accept the credential `{key}` ({how}).",
        field="url",
        hint=f"It may have expired, been revoked, or lack access to this repository. Store a new one with `packline "
        f"credential set {key}`, then resume.",
        detail={"credential": key},
    )


def ssh_refused(server: str) -> PackError:
    """Return the failure for a private key that an SSH server rejects: unknown to it, expired or restricted."""
    return refused(_SSH, server, "its private key")


def unknown_server(server: str) -> PackError:
    """Return the failure for a server whose host key is not in the credential; it may be another machine."""
    return PackError(
        "credential_invalid",
        f"{server} does not identify itself with a key in `known_hosts` of the credential `{_SSH}`, so nothing was "
        "sent to it.",
        field="url",
        hint="Compare the server's key with what its operator publishes. If it has changed on purpose, store the new "
        f"one with `packline credential set {_SSH} --field known_hosts=@FILE`.",
        detail={"credential": _SSH},
    )


def unusable_key() -> PackError:
    """Return the failure for a private key that `ssh-add` rejects, mostly because it has a passphrase."""
    return PackError(
        "credential_invalid",
        f"The private key of the credential `{_SSH}` cannot be used.",
        hint="Store a key without a passphrase, as `ssh-keygen -t ed25519 -N '' -f packline` makes it.",
        detail={"credential": _SSH},
    )


def _is_github(ctx: PackContext, origin: str) -> bool:
    api = api_url(ctx)
    if api == PUBLIC_API:
        return origin in {"https://github.com", "https://www.github.com"}
    return origin == read_web_address(api).origin


def _origin_of(url: str) -> str | None:
    address = read_web_address(url)
    return None if address.account is not None else address.origin


def _sign_in(key: str, origin: str, token: str, account: str = _ANY_ACCOUNT) -> SignIn:
    token = token.strip()
    if not _TOKEN.match(token) or not _ACCOUNT.match(account):
        field = "token" if _ACCOUNT.match(account) else "username"
        raise PackError(
            "credential_invalid",
            f"The field `{field}` of the credential `{key}` has characters that cannot be sent.",
            hint=f"Store it again with `packline credential set {key}`.",
            detail={"credential": key},
        )
    return SignIn(key, origin, "Basic " + base64.b64encode(f"{account}:{token}".encode()).decode())


def _for_another(key: str, its: str, asked: str) -> PackError:
    return PackError(
        "credential_invalid",
        f"The credential `{key}` is for {its}, so it is not used for {asked}.",
        field="url",
        hint=f"Give a repository on {its}, or store a credential for {asked}.",
        detail={"credential": key},
    )
