"""What callers read when nobody could be found for their request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

#: What callers read when a call, stream or socket is ended.
ACCESS_ENDED: Final = "Your access ended: the token expired, was revoked or lost a scope, or the caller was disabled."
#: What becomes of a run that an ended call has started.
RUN_CONTINUES: Final = "A run that this call started continues, unless the caller was disabled: then it is cancelled."


class TokenRefusedError(Exception):
    """A token of an OpenID provider is not valid here; the message says why, for people."""


class SignInError(Exception):
    """A browser could not be signed in at the provider; the message says why, for the person."""


def note_refused_token(connection: HTTPConnection, refused: TokenRefusedError) -> None:
    """Keep the reason for `unauthenticated`."""
    connection.state.refused_token = str(refused)


class Unauthenticated(NamedTuple):
    """Why `Authenticator.authenticate` found no caller.

    Attributes:
        message: The reason, for people.
        headers: The header `WWW-Authenticate` (RFC 6750 section 3, RFC 9728 section 5.1).
    """

    message: str
    headers: dict[str, str]


def unauthenticated(connection: HTTPConnection, token: str | None, *, metadata: str | None = None) -> Unauthenticated:
    """Return what to answer to a request without a caller.

    Args:
        connection: What `authenticate` was given.
        token: The bearer token, if one was sent.
        metadata: Address of the metadata about the protected resource.
    """
    parts = ['realm="packline"']
    if metadata is not None:
        parts.append(f'resource_metadata="{metadata}"')
    if token is None:
        message = "Sign in, or send a token as `Authorization: Bearer …`."
    else:
        refused: str | None = getattr(connection.state, "refused_token", None)
        message = refused or "The token is invalid, expired or revoked, or its caller is disabled."
        described = "".join(
            character if " " <= character <= "~" and character not in '"\\' else "'" for character in message
        )
        parts += ['error="invalid_token"', f'error_description="{described}"']
    return Unauthenticated(message, {"www-authenticate": f"Bearer {', '.join(parts)}"})
