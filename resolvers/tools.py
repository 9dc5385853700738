"""How a use case is published to agents: what its declaration says of the MCP tool.

    @operation("get_run", scope=Scope.READ, kind="query", tool=Tool(
        title="Get a run",
        description="Looks at one run: …",
        parameters={"id": Parameter(name="run_id")},
    ))

The GraphQL field names its operation, `directives=[Requires(…), published(get_run)]`. `app.mcp` makes the tool of both:
its parameters are the field's arguments, its answer is what `app/mcp/documents/<tool>.graphql` selects of the field.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue

#: `default` is what every agent is shown; the others are asked for by address (`/mcp?toolsets=author`).
Toolset = Literal["default", "author"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """What an argument is for agents, where that differs from what it is in the schema.

    Attributes:
        name: Its name; the argument's in snake_case when None.
        description: In place of the argument's.
        default: The default in place of the argument's, where `has_default`.
        minimum: Smallest number.
        maximum: Largest number.
        one_of: The words it takes, where the schema only says text.
        hidden: Left out of the tool; the argument keeps its default.
        nullable: Whether null is another thing than leaving it out.
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
        """Whether it has a default of its own."""
        return self.default is not None


@dataclass(frozen=True, slots=True)
class Tool:
    """An operation as a tool. Whether it reads only, destroys, or may be repeated is said by the operation.

    Attributes:
        title: For people who approve calls.
        description: For agents, one to three plain sentences: what, when, what it returns, which tool comes next.
        name: The operation's when None.
        toolset: Who is shown it.
        open_world: Whether it may reach outside systems.
        parameters: By the argument's name in snake_case; fields of a filter object stand for themselves.
        when_empty: What an empty page says, and which tool helps.
    """

    title: str
    description: str
    name: str | None = None
    toolset: Toolset = "default"
    open_world: bool = False
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    when_empty: str | None = None


#: The longest a call may wait: clients cut a silent call at 60 s.
WAIT_SECONDS_MAX: Final = 50

#: How long a call that starts something waits for its end.
WAIT: Final = Parameter(
    default=25,
    minimum=0,
    maximum=WAIT_SECONDS_MAX,
    description="Wait this long for the end; then `next` says how to go on.",
)
FROM_MEMORY: Final = Parameter(description="Inputs whose values were taken from get_defaults; the run tells them.")
IDEMPOTENCY: Final = Parameter(description="Repeat a call with the same key, and no second run starts.")
RUN_ID: Final = Parameter(name="run_id", description="The run's id.")

DEFINITION: Final = Parameter(
    name="definition",
    description="A YAML text or an object: {name, description, inputs: JSON Schema, steps: [{id, pack, input}]}. "
    "Steps run in order; `${{ inputs.x }}` and `${{ steps.id.output.y }}` refer to values.",
)
