"""What a handler may ask the catalog: which pipeline or pack serves a request. Never runs one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from runner.failures import JSONValue
    from runner.packs.models import Models


class RouterPort(Protocol):
    """Routes requests; `resolvers.catalog.pack_routing.PackRouter` is one."""

    async def route_for(self, caller_id: str, request: str, context: JSONValue, models: Models) -> dict[str, JSONValue]:
        """What to run for a caller's request.

        Args:
            caller_id: Whose defaults and history count.
            request: In the user's words.
            context: What the caller has.
            models: Whom to ask; what they spend is recorded there.

        Raises:
            PackError: `invalid_input`; the request is empty or too long.
        """


class CallerCatalog:
    """The catalog as one attempt's caller sees it."""

    def __init__(self, port: RouterPort, caller_id: str, models: Models) -> None:
        self._port = port
        self._caller_id = caller_id
        self._models = models

    async def route(self, request: str, context: JSONValue = None) -> dict[str, JSONValue]:
        """What to run for a request: `recommendation`, `alternatives`, `gap_warning`, `reasoning`, `decided_by`.

        Args:
            request: In the user's words.
            context: What the caller has: inputs, files, artifacts, earlier runs.

        Raises:
            PackError: `invalid_input`; the request is empty or too long.
        """
        return await self._port.route_for(self._caller_id, request, context, self._models)
