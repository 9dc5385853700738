"""The addresses under which callers reach this server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.settings.server import Settings
    from resolvers.context import Services

#: Limit of the cache of services by origin.
_ORIGINS_MAX: Final = 64


class Origins:
    """Absolute addresses for agents, who have no page that a path could be relative to.

    Args:
        settings: The public address; without one, the request's Host header counts.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._services: dict[str, Services] = {}

    def base(self, request: Request) -> str:
        """The beginning of every address of this server, without a slash at the end."""
        outward = self._settings.outward
        return outward if self._settings.public_url else f"{request.url.scheme}://{request.url.netloc}{outward}"

    def services(self, request: Request, services: Services) -> Services:
        """Services that sign absolute addresses."""
        if self._settings.public_url:
            return services
        origin = f"{request.scope['scheme']}://{request.headers.get('host', '')}"
        found = self._services.get(origin)
        if found is None:
            sign = services.sign_download
            found = replace(services, sign_download=lambda item, caller_id: origin + sign(item, caller_id))
            if len(self._services) >= _ORIGINS_MAX:
                self._services.clear()
            self._services[origin] = found
        return found
