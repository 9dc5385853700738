"""Requests that several commands about credentials share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.cli.base.exits import CliError
from app.cli.base.output import accept
from app.cli.credentials.documents import CREDENTIALS, SET_CREDENTIAL
from runner.issues import did_you_mean

if TYPE_CHECKING:
    from app.cli.base.client import Client
    from app.cli.base.output import JSON


def stored_credentials(client: Client) -> Any:  # noqa: ANN401 - an iterator of JSON
    """All credentials the caller may see, page by page."""
    return client.pages(CREDENTIALS, "credentials", {}, limit=None, page_size=50)


def get_credential(client: Client, key: str) -> JSON:
    """A credential by its key or id.

    Raises:
        CliError: there is no such credential; the message names the nearest key.
    """
    found = list(stored_credentials(client))
    for each in found:
        if key in (each["key"], each["id"]):
            return dict(each)
    hint = did_you_mean(key, [each["key"] for each in found]) or "`packline credential set` stores one."
    raise CliError(f"There is no credential `{key}`. {hint}")


def put_credential(client: Client, change: dict[str, object]) -> JSON:
    """Create or change a credential by arguments of `setCredential`, and return it."""
    stored: JSON = accept(client.execute(SET_CREDENTIAL, change)["result"])["credential"]
    return stored
