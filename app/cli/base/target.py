"""The server a command talks to, and its token there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from app.addresses import is_loopback, url_of
from app.cli.base.exits import CliError
from app.settings.client import ClientSettings, cli_address_path, cli_token_path
from app.settings.server import Settings, SettingsError
from runner.egress.web_address import WebAddressError, read_web_address


@dataclass(frozen=True, slots=True)
class Target:
    """The server to talk to, and the token to send.

    Attributes:
        url: The server's address, without a slash at the end.
        token: Bearer token, if there is one.
        token_source: The source of the token, for messages.
    """

    url: str
    token: str | None
    token_source: str

    @classmethod
    def find(cls, server: str | None = None) -> Self:
        """The server of `--server`, else of PACKLINE_SERVER, else the last one started on this machine's data folder.

        The token is PACKLINE_TOKEN, else the one the server wrote into the data folder for its own user, which is sent
        only to a server on this machine.
        """
        client = ClientSettings.load()
        try:
            settings = Settings.load()
        except SettingsError as error:
            raise CliError(str(error)) from error
        address = server or client.server or _own_address(settings)
        try:
            read = read_web_address(address if "://" in address else f"http://{address}")
        except WebAddressError as error:
            raise CliError(f"`{address}` is not a server address. Write it as http://127.0.0.1:8420.") from error
        url = replace(read, query=None).url.rstrip("/")
        if client.token:
            return cls(url, client.token, "PACKLINE_TOKEN")
        if settings.bootstrap_token and is_loopback(read.host):
            return cls(url, settings.bootstrap_token.get_secret_value(), "PACKLINE_BOOTSTRAP_TOKEN")
        path = cli_token_path(settings.data_dir)
        if is_loopback(read.host):
            try:
                return cls(url, path.read_text("ascii").strip(), str(path))
            except FileNotFoundError:
                pass
            except (OSError, UnicodeDecodeError) as error:
                raise CliError(f"The token file {path} cannot be read: {error}. Set PACKLINE_TOKEN instead.") from error
        return cls(url, None, "")


def _own_address(settings: Settings) -> str:
    try:
        return cli_address_path(settings.data_dir).read_text("utf-8").strip() or url_of(settings.host, settings.port)
    except (OSError, UnicodeDecodeError):
        return url_of(settings.host, settings.port)
