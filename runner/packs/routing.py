"""Access of handlers to routing: which pipeline or pack serves a request. Never runs one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from runner.failures import JSONValue
    from runner.packs.models import Models


class RouterPort(Protocol):
    """The port of routing, implemented by `resolvers.catalog.pack_routing.PackRouter`."""

    async def route_for(self, caller_id: str, request: str, context: JSONValue, models: Models) -> dict[str, JSONValue]:
        """Recommend what to run for a caller's request.

        Args:
            caller_id: The caller, whose defaults and history count.
            request: The request in the user's words.
            context: What the caller has.
            models: The models to ask; they record their spending.

        Raises:
            PackError: `invalid_input` if the request is empty or too long.
        """


class CallerCatalog:
    """The catalog for one attempt's caller."""

    def __init__(self, port: RouterPort, caller_id: str, models: Models) -> None:
        self._port = port
        self._caller_id = caller_id
        self._models = models

    async def route(self, request: str, context: JSONValue = None) -> dict[str, JSONValue]:
        """Recommend what to run: `recommendation`, `alternatives`, `gap_warnings`, `reasoning`, `decided_by`.

        Args:
            request: The request in the user's words.
            context: What the caller has: inputs, files, artifacts, earlier runs.

        Raises:
            PackError: `invalid_input` if the request is empty or too long.
        """
        return await self._port.route_for(self._caller_id, request, context, self._models)
