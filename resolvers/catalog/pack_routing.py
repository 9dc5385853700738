"""Routing for packs: the public use case, on behalf of the caller of the pack's run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.catalog.routing import Routed, find_route
from resolvers.context import Caller, Context, Services
from resolvers.problems import Invalid
from runner.failures import FailureCode, PackError
from store.states import Scope

if TYPE_CHECKING:
    from catalog.routing.inputs import SuggestedInputs
    from runner.failures import JSONValue
    from runner.packs.models import Models


class PackRouter:
    """Implements `runner.packs.routing.RouterPort`; call `open` once there are services."""

    def __init__(self) -> None:
        self._services: Services | None = None

    def open(self, services: Services) -> None:
        """Accept requests from packs from now on."""
        self._services = services

    async def route_for(self, caller_id: str, request: str, context: JSONValue, models: Models) -> dict[str, JSONValue]:
        """Route a caller's request; see `RouterPort`."""
        if self._services is None:
            raise PackError(FailureCode.UPSTREAM_UNAVAILABLE, "The server is still starting.")
        caller = Caller(id=caller_id, subject=caller_id, name=caller_id, scopes=frozenset({Scope.READ}))
        try:
            routed = await find_route(Context(self._services, caller), request, context, models)
        except Invalid as refused:
            hint = None if refused.hint is None else str(refused.hint)
            raise PackError(FailureCode.INVALID_INPUT, refused.message, hint=hint) from refused
        return as_json(routed)


def as_json(routed: Routed) -> dict[str, JSONValue]:
    """Serialize a route for packs and MCP clients, in snake_case."""
    best = routed.recommendation
    return {
        "recommendation": {
            "kind": best.kind,
            "id": best.id,
            **_filled(best.inputs),
            "missing_requirements": [lack.message for lack in best.lacks],
            "why": best.why,
            "confidence": best.confidence,
        },
        "alternatives": [
            {
                "kind": other.kind,
                "id": other.id,
                **_filled(other.inputs),
                "missing_requirements": [lack.message for lack in other.lacks],
                "why": other.why,
                "confidence": other.confidence,
            }
            for other in routed.alternatives
        ],
        "gap_warnings": [gap.model_dump(mode="json") for gap in routed.gaps],
        "reasoning": routed.reasoning,
        "decided_by": routed.decided_by,
    }


def _filled(inputs: SuggestedInputs) -> dict[str, JSONValue]:
    return {
        "suggested_inputs": inputs.values(),
        "input_sources": {given.name: given.source for given in inputs.inputs},
        "missing_inputs": list(inputs.missing),
    }
