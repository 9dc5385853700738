"""What callers read when nobody could be found for their request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection


class TokenRefusedError(Exception):
    """A token of an OpenID provider is not valid here; the message says why, for people."""


class SignInError(Exception):
    """A browser could not be signed in at the provider; the message says why, for the person."""


def note_refused_token(connection: HTTPConnection, refused: TokenRefusedError) -> None:
    """Keep the reason for `refusal_message` and `challenge`."""
    connection.state.refused_token = str(refused)


def refusal_message(connection: HTTPConnection, token: str | None) -> str:
    """Return why `Authenticator.authenticate` found no caller.

    Args:
        connection: What it was given.
        token: The bearer token, if one was sent.
    """
    if token is None:
        return "Sign in, or send a token as `Authorization: Bearer …`."
    reason: str | None = getattr(connection.state, "refused_token", None)
    return reason or "The token is invalid, expired or revoked, or its caller is disabled."


def challenge(connection: HTTPConnection, token: str | None, *, metadata: str | None = None) -> dict[str, str]:
    """Return the header `WWW-Authenticate` of that refusal (RFC 6750 section 3, RFC 9728 section 5.1).

    Args:
        connection: What `authenticate` was given.
        token: The bearer token, if one was sent.
        metadata: Address of the metadata about the protected resource.
    """
    parts = ['realm="packline"']
    if metadata is not None:
        parts.append(f'resource_metadata="{metadata}"')
    if token is not None:
        message = refusal_message(connection, token)
        described = "".join(sign if " " <= sign <= "~" and sign not in '"\\' else "'" for sign in message)
        parts += ['error="invalid_token"', f'error_description="{described}"']
    return {"www-authenticate": f"Bearer {', '.join(parts)}"}
