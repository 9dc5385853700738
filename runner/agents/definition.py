"""Values of an agent step's definition, and its normal form as a document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.failures import JSONValue
    from runner.packs.pack import Effects

#: Pack name of agent steps; no pack can have it, since names of packs have a dot.
AGENT = "agent"

#: Weakest first; see `store.states.IsolationLevel`.
IsolationName = Literal["process", "sandbox", "sandbox_offline"]
ISOLATION_NAMES: tuple[IsolationName, ...] = ("process", "sandbox", "sandbox_offline")


@dataclass(frozen=True, slots=True)
class Choice:
    """A name given directly, or chosen by an environment variable of the server when a run starts.

    Attributes:
        value: The name; None if a variable chooses it.
        variable: The variable's name.
        default: The name if the variable is not set.
        mapping: Pairs of a value of the variable and a name; if empty, the value is the name.
    """

    value: str | None = None
    variable: str | None = None
    default: str | None = None
    mapping: tuple[tuple[str, str], ...] = ()

    @property
    def candidates(self) -> tuple[str, ...]:
        """All names in the definition, in their order, without duplicates."""
        named = (self.value, self.default, *(handle for _, handle in self.mapping))
        return tuple(dict.fromkeys(handle for handle in named if handle is not None))

    def named(self, chosen: str) -> str:
        """Return the name for a caller's choice: a name itself, or a value of the map."""
        return chosen if chosen in self.candidates else dict(self.mapping).get(chosen, chosen)

    def resolve(self, read: Callable[[str], str | None]) -> str | None:
        """Return the name chosen now; None if the variable has no usable value and there is no default.

        Args:
            read: Reads an environment variable of the server.
        """
        if self.variable is None:
            return self.value
        given = read(self.variable)
        if not given:
            return self.default
        return dict(self.mapping).get(given) if self.mapping else given

    def document(self) -> JSONValue:
        """Return the normal form."""
        if self.variable is None:
            return self.value
        written: dict[str, JSONValue] = {"env": self.variable}
        if self.default is not None:
            written["default"] = self.default
        if self.mapping:
            written["map"] = dict(self.mapping)
        return written


@dataclass(frozen=True, slots=True)
class CommandRule:
    """A rule that allows or denies spawning a program.

    Attributes:
        program: Name or absolute path of the program.
        args_prefix: The rule applies only to calls that begin with these arguments.
        allow: Whether such a call is allowed.
    """

    program: str
    args_prefix: tuple[str, ...] = ()
    allow: bool = True


@dataclass(frozen=True, slots=True)
class CommandPolicy:
    """What an agent step may spawn; the first rule that matches decides, else `fallback`.

    Attributes:
        declared: Whether the step has a policy; if not, only the profile's own command may be spawned.
    """

    fallback: Literal["deny", "allow"] = "deny"
    rules: tuple[CommandRule, ...] = ()
    declared: bool = False


@dataclass(frozen=True, slots=True)
class AgentStep:
    """The fixed settings of an agent step; its prompt and inputs are the step's input template.

    Attributes:
        use: The profile.
        model: The model; None for the profile's default.
        workspace: A new folder, or the session of an earlier step.
        stdout_to: Workspace path under which its standard output is proposed.
        outputs: Workspace paths of the files it must create.
        commands: What it may spawn.
        tools: Packline's own MCP tools it may call.
        isolation: Weakest level it accepts; None for the best available.
        credentials: Pairs of an environment variable and `credential` or `credential.field`.
        effects: Its external changes.
        cache: Whether a cached result for the same key may be replayed.
        output_schema: JSON Schema of its answer.
    """

    use: Choice
    model: Choice | None = None
    workspace: Literal["fresh", "session"] = "fresh"
    stdout_to: str | None = None
    outputs: tuple[str, ...] = ()
    commands: CommandPolicy = field(default_factory=CommandPolicy)
    tools: tuple[str, ...] = ()
    isolation: IsolationName | None = None
    credentials: tuple[tuple[str, str], ...] = ()
    effects: Effects = "external"
    cache: bool = False
    output_schema: dict[str, JSONValue] | None = None

    def document(self) -> dict[str, JSONValue]:
        """Return the normal form, without prompt and inputs."""
        written: dict[str, JSONValue] = {"use": self.use.document()}
        if self.model is not None:
            written["model"] = self.model.document()
        if self.workspace != "fresh":
            written["workspace"] = self.workspace
        if self.stdout_to is not None:
            written["stdout_to"] = self.stdout_to
        if self.outputs:
            written["outputs"] = list(self.outputs)
        if self.commands.declared:
            written["commands"] = _commands_document(self.commands)
        if self.tools:
            written["tools"] = list(self.tools)
        if self.isolation is not None:
            written["isolation"] = self.isolation
        if self.credentials:
            written["credentials"] = dict(self.credentials)
        if self.effects != "external":
            written["effects"] = self.effects
        if self.cache:
            written["cache"] = True
        if self.output_schema is not None:
            written["output_schema"] = self.output_schema
        return written


def _commands_document(policy: CommandPolicy) -> dict[str, JSONValue]:
    written: dict[str, JSONValue] = {"fallback": policy.fallback}
    if policy.rules:
        rules: list[JSONValue] = []
        for rule in policy.rules:
            entry: dict[str, JSONValue] = {"program": rule.program}
            if rule.args_prefix:
                entry["args_prefix"] = list(rule.args_prefix)
            entry["allow"] = rule.allow
            rules.append(entry)
        written["rules"] = rules
    return written
