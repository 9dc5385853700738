"""Definitions made ready to run: templates compiled once for each stored version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from runner.definitions.inputs import declared_optional
from runner.definitions.models import RetryPolicy, step_digest
from runner.definitions.parsing import parse_stored
from runner.definitions.step_inputs import SESSION_FIELD
from runner.templates.templating import Resolved, Template, compile_template

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.agents.definition import AgentStep
    from runner.failures import JSONValue

OptionalInputs: TypeAlias = "Callable[[tuple[str | int, ...]], bool]"

#: Key of the only step of a single pack call.
CALL_STEP = "call"


class CompileError(Exception):
    """A stored definition no longer reads; the message says why. A defect or a foreign hand in the database."""


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """A step ready to run.

    Attributes:
        template: Its input; None for a pack call, whose run inputs are the input, word for word.
        reads_inputs: Run inputs it reads, at the top level.
        reads_steps: Steps whose output it reads.
        session: The `_session_id` its input names, which a step input given at a resume does not replace unless it
            names another; None when it names none.
        session_reads: Steps whose session it names itself, as `steps.<id>.output._session_id`.
        session_sources: Steps whose output it names a session by, those of `session_reads` included.
        agent: What is fixed of an agent step; None for a pack step.
        digest: What it is compared by; empty for a pack call.
    """

    key: str
    position: int
    pack: str
    version: str | None
    template: Template | None
    retry: RetryPolicy
    timeout_seconds: float | None
    reads_inputs: frozenset[str]
    reads_steps: frozenset[str]
    session: Template | None = None
    session_reads: frozenset[str] = frozenset()
    session_sources: frozenset[str] = frozenset()
    agent: AgentStep | None = None
    digest: str = ""

    def resolve(
        self,
        inputs: Mapping[str, JSONValue],
        outputs: Mapping[str, JSONValue],
        optional: OptionalInputs,
        *,
        limit_bytes: int,
    ) -> Resolved:
        """The step's input; see `Template.resolve`.

        Raises:
            TemplateError: a reference leads nowhere.
        """
        if self.template is None:
            return Resolved(dict(inputs))
        return self.template.resolve(inputs, outputs, optional, limit_bytes=limit_bytes)


@dataclass(frozen=True, slots=True)
class CompiledPipeline:
    """A definition ready to run.

    Attributes:
        deadline_seconds: Deadline of its runs; None for the server's.
        optional_inputs: Tells of a path into the inputs whether it is declared and may be absent.
    """

    name: str
    steps: tuple[CompiledStep, ...]
    optional_inputs: OptionalInputs
    deadline_seconds: float | None = None
    _by_key: dict[str, CompiledStep] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {step.key: step for step in self.steps})

    def step(self, key: str) -> CompiledStep:
        """The step of that key.

        Raises:
            CompileError: there is none.
        """
        step = self._by_key.get(key)
        if step is None:
            raise CompileError(f"The stored definition has no step `{key}`.")
        return step


def pack_call_document(pack: str, version: str) -> dict[str, JSONValue]:
    """What a single pack call stores in place of a definition."""
    return {"call": {"pack": pack, "version": version}}


def compile_document(document: str, input_schema: str | None = None) -> CompiledPipeline:
    """Compile a stored definition; `runner.definitions.definition_cache` keeps what comes of it.

    Args:
        document: Canonical JSON, as `store.models` keeps it.
        input_schema: The version's input schema, when the definition declares none.

    Raises:
        CompileError: it does not read.
    """
    data: dict[str, Any] = orjson.loads(document)
    if "call" in data:
        call = data["call"]
        step = CompiledStep(
            CALL_STEP, 1, call["pack"], call["version"], None, RetryPolicy(), None, frozenset(), frozenset()
        )
        return CompiledPipeline(call["pack"], (step,), declared_optional({}))
    definition, issues = parse_stored(data)
    if definition is None:
        raise CompileError("The stored definition does not read: " + "; ".join(issue.message for issue in issues))
    schema = definition.inputs or (orjson.loads(input_schema) if input_schema else {})
    steps = []
    for position, step_definition in enumerate(definition.steps, 1):
        template = compile_template(step_definition.input)
        session = _session_template(step_definition.input)
        reads = frozenset(
            str(reference.source_path[0])
            for reference in template.references
            if reference.source_step is None and reference.source_path
        )
        steps.append(
            CompiledStep(
                key=step_definition.id,
                position=position,
                pack=step_definition.pack,
                version=step_definition.version,
                template=template,
                retry=step_definition.retry,
                timeout_seconds=step_definition.timeout_seconds,
                reads_inputs=reads,
                reads_steps=frozenset(
                    reference.source_step for reference in template.references if reference.source_step is not None
                ),
                session_reads=frozenset(
                    reference.source_step
                    for reference in template.references
                    if reference.source_step is not None and reference.source_path == (SESSION_FIELD,)
                ),
                session=session,
                session_sources=frozenset(
                    reference.source_step
                    for reference in (session.references if session else ())
                    if reference.source_step is not None
                ),
                agent=step_definition.agent,
                digest=step_digest(step_definition),
            )
        )
    return CompiledPipeline(definition.name, tuple(steps), declared_optional(schema), definition.deadline_seconds)


def _session_template(step_input: JSONValue) -> Template | None:
    if not isinstance(step_input, dict) or SESSION_FIELD not in step_input:
        return None
    return compile_template(step_input[SESSION_FIELD])
