"""Compiled definitions: templates compiled once for each stored version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from runner.definitions.inputs import declared_optional
from runner.definitions.models import RetryPolicy, step_digest
from runner.definitions.parsing import parse_stored
from runner.definitions.step_inputs import SESSION_FIELD
from runner.json_values import canonical_json
from runner.templates.templating import Resolved, Template, compile_template

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.agents.definition import AgentStep
    from runner.definitions.models import Concurrency
    from runner.failures import JSONValue

OptionalInputs: TypeAlias = "Callable[[tuple[str | int, ...]], bool]"

#: Key of the only step of a single pack call.
CALL_STEP = "call"


class CompileError(Exception):
    """A stored definition cannot be read: a defect, or a change by hand in the database."""


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """A step ready to run.

    Attributes:
        template: Its input template; None for a pack call, whose input is the run inputs.
        reads_inputs: Run inputs it reads, at the top level.
        reads_steps: Steps whose output it reads.
        session: The `_session_id` in its input, which a changed input at a resume replaces only if it names another;
            None if its input names none.
        session_reads: Steps whose session it names directly, as `steps.<id>.output._session_id`.
        session_sources: All steps whose output is part of `session`, including `session_reads`.
        agent: The fixed settings of an agent step; None for a pack step.
        digest: Digest of its normal form, to compare steps; empty for a pack call.
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
        """Resolve the step's input; see `Template.resolve`.

        Raises:
            TemplateError: A reference has no value.
        """
        if self.template is None:
            return Resolved(dict(inputs))
        return self.template.resolve(inputs, outputs, optional, limit_bytes=limit_bytes)


@dataclass(frozen=True, slots=True)
class CompiledPipeline:
    """A definition ready to run.

    Attributes:
        deadline_seconds: Deadline of its runs; None for the server's default.
        optional_inputs: Whether a path into the inputs is declared and may be absent.
        concurrency: How many of its runs are admitted at a time; None for no limit.
    """

    name: str
    steps: tuple[CompiledStep, ...]
    optional_inputs: OptionalInputs
    deadline_seconds: float | None = None
    concurrency: Concurrency | None = None
    _by_key: dict[str, CompiledStep] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {step.key: step for step in self.steps})

    def concurrency_group(self, inputs: Mapping[str, JSONValue]) -> str:
        """Resolve the concurrency key of a run with these inputs, as canonical JSON; empty if there is none.

        Raises:
            TemplateError: An input that the key needs is missing.
        """
        if self.concurrency is None or self.concurrency.key is None:
            return ""
        key = compile_template(self.concurrency.key).resolve(inputs, {}, self.optional_inputs)
        return canonical_json(key.value)

    def step(self, key: str) -> CompiledStep:
        """Get a step by key.

        Raises:
            CompileError: It does not exist.
        """
        step = self._by_key.get(key)
        if step is None:
            raise CompileError(f"The stored definition has no step `{key}`.")
        return step


def pack_call_document(pack: str, version: str) -> dict[str, JSONValue]:
    """Make the document that a single pack call stores instead of a definition."""
    return {"call": {"pack": pack, "version": version}}


def compile_document(document: str, input_schema: str | None = None) -> CompiledPipeline:
    """Compile a stored definition; `runner.definitions.definition_cache` caches the result.

    Args:
        document: Canonical JSON, as `store.models` keeps it.
        input_schema: The version's input schema, for a definition that declares none.

    Raises:
        CompileError: It cannot be read.
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
        raise CompileError("The stored definition cannot be read: " + "; ".join(issue.message for issue in issues))
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
    return CompiledPipeline(
        definition.name, tuple(steps), declared_optional(schema), definition.deadline_seconds, definition.concurrency
    )


def _session_template(step_input: JSONValue) -> Template | None:
    if not isinstance(step_input, dict) or SESSION_FIELD not in step_input:
        return None
    return compile_template(step_input[SESSION_FIELD])
