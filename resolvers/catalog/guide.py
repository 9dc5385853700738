"""The routing guide: all packs and pipelines and how to choose among them, for agents that choose themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.routing.policy import POLICY
from catalog.routing.practice import offered
from resolvers.catalog.catalog import catalog_entries
from resolvers.operations import operation
from resolvers.tools import Parameter, Tool
from store.states import Scope

if TYPE_CHECKING:
    from datetime import datetime

    from catalog.search import Entry
    from resolvers.catalog.catalog import Found
    from resolvers.context import Context
    from store.database.paging import PageWindow


@dataclass(frozen=True, slots=True)
class RoutingGuide:
    """How to choose what to run, and from what.

    Attributes:
        entries: The entries of a page, pipelines before packs, each by id; one more than asked for if there are more.
    """

    policy: str
    fetched_at: datetime
    entries: list[Entry[Found]]


@operation(
    "routing_guide",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Read the routing guide",
        description="Returns rules for choosing between packs and pipelines, and all of them with what they "
        "accept, produce and cannot do, whether they can run on this server, and your defaults. "
        "route_request chooses for you.",
        name="get_routing_guide",
        parameters={
            "first": Parameter(name="limit", description="Entries per page; default 500.", minimum=1, maximum=500),
            "after": Parameter(name="cursor", description="next_cursor of the previous page."),
        },
    ),
)
async def routing_guide(context: Context, *, window: PageWindow) -> RoutingGuide:
    """Return the guide, or a page of its entries."""
    entries = sorted(offered(await catalog_entries(context)), key=place_of)
    if window.after is not None:
        entries = [entry for entry in entries if place_of(entry) > window.after]
    return RoutingGuide(POLICY, context.services.now(), entries[: window.limit + 1])


def place_of(entry: Entry[Found]) -> tuple[int, str]:
    """Return an entry's sort key in the guide."""
    return (0 if entry.kind == "pipeline" else 1, entry.id)
