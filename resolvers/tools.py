"""Declares how a use case is published to agents as an MCP tool.

    @operation("get_run", scope=Scope.READ, kind="query", tool=Tool(
        title="Get a run",
        description="Returns a run: …",
        parameters={"id": Parameter(name="run_id")},
    ))

The GraphQL field names its operation, `directives=[Requires(…), published(get_run)]`. `app.mcp` builds the tool from
both: its parameters are the field's arguments, its result is what `app/mcp/documents/<tool>.graphql` selects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue

#: Every agent sees `default`; the URL asks for others (`/mcp?toolsets=author`).
Toolset = Literal["default", "author"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """How a tool's parameter differs from the GraphQL argument.

    Attributes:
        name: Replaces the argument's name in snake_case.
        description: Replaces the argument's description.
        default: Replaces the argument's default, if `has_default`.
        minimum: Smallest number.
        maximum: Largest number.
        one_of: The allowed words, where the schema only says text.
        hidden: Left out of the tool; the argument keeps its default.
        nullable: Whether null differs from leaving it out.
    """

    name: str | None = None
    description: str | None = None
    default: JSONValue = None
    minimum: int | None = None
    maximum: int | None = None
    one_of: tuple[str, ...] | None = None
    hidden: bool = False
    nullable: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not None


@dataclass(frozen=True, slots=True)
class Tool:
    """An operation as a tool. The operation declares whether it is read-only, destructive or idempotent.

    Attributes:
        title: For people who approve calls.
        description: For agents, one to three plain sentences: what, when, what it returns, which tool comes next.
        name: The operation's name if None.
        toolset: The toolset that lists it.
        open_world: Whether it may reach external systems.
        parameters: By the argument's name in snake_case; the fields of a filter object are parameters, too.
        when_empty: What to say for an empty page, and which tool helps.
    """

    title: str
    description: str
    name: str | None = None
    toolset: Toolset = "default"
    open_world: bool = False
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    when_empty: str | None = None


#: Longest wait of a call: clients abort a silent call after 60 s.
WAIT_SECONDS_MAX: Final = 50

#: How long a call that starts a run waits for its end.
WAIT: Final = Parameter(
    default=25,
    minimum=0,
    maximum=WAIT_SECONDS_MAX,
    description="Seconds to wait for the end; after that, `next` says how to continue.",
)
FROM_MEMORY: Final = Parameter(description="Inputs whose values come from get_defaults; recorded with the run.")
IDEMPOTENCY: Final = Parameter(description="Calls with the same key start only one run.")
START_AT: Final = Parameter(description="Start later: an instant with a zone, such as 2030-01-31T06:00:00Z.")
RUN_ID: Final = Parameter(name="run_id", description="The run's id.")
TRIGGER_ID: Final = Parameter(name="trigger_id", description="The trigger's id.")

DEFINITION: Final = Parameter(
    name="definition",
    description="YAML text or an object: {name, description, inputs: JSON Schema, steps: [{id, pack, input}]}. "
    "Steps run in order; `${{ inputs.x }}` and `${{ steps.id.output.y }}` refer to values.",
)
