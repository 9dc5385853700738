"""Definitions of pipelines as the API takes and shows them: steps, what they refer to, and what a check tells."""

# mypy: disallow-untyped-decorators=False
from typing import TYPE_CHECKING, Annotated

import orjson
import strawberry

from resolvers.pipelines.definitions import DefinitionText
from runner.definitions.definition_cache import DefinitionCache
from runner.definitions.parsing import parse_stored
from runner.json_values import canonical_json
from runner.templates.templating import compile_template
from schema.base.context import Info
from schema.base.issues import Availability, Issue
from schema.base.scalars import JSON, JSONSchema, Key

if TYPE_CHECKING:
    from datetime import datetime

    from resolvers.pipelines.definitions import DefinitionCheck
    from runner.definitions.models import RetryPolicy as WrittenPolicy
    from runner.definitions.models import StepDefinition
    from runner.failures import JSONValue
    from runner.templates.references import Reference
    from schema.packs.packs import Pack


@strawberry.type(description="A template in a step's input.")
class StepReference:
    path: list[str] = strawberry.field(description="Where in the input it stands, outermost first.")
    expression: str = strawberry.field(description="As written.")
    source_step: Key | None = strawberry.field(description="The step it reads; null when it reads a run input.")
    source_path: str = strawberry.field(description="The input or output field it reads.")

    @classmethod
    def of(cls, reference: "Reference") -> "StepReference":
        """A reference as the tokenizer read it."""
        return cls(
            path=list(reference.path),
            expression=reference.expression,
            source_step=None if reference.source_step is None else Key(reference.source_step),
            source_path=reference.source_text,
        )


@strawberry.type(
    description=(
        "When and how a step is tried again by itself: only after retryable failures, inside the run's deadline."
    )
)
class RetryPolicy:
    max_attempts: int = strawberry.field(description="Attempts in all, the first included.")
    initial_seconds: float = strawberry.field(description="Wait before the second attempt, in seconds.")
    factor: float = strawberry.field(description="What the wait is multiplied by each time.")
    max_seconds: float = strawberry.field(description="Longest wait, in seconds.")
    jitter: float = strawberry.field(description="Share of the wait left to chance, 0 to 1.")

    @classmethod
    def of(cls, policy: "WrittenPolicy") -> "RetryPolicy":
        """A policy as written or by default."""
        return cls(
            max_attempts=policy.max_attempts,
            initial_seconds=policy.initial_seconds,
            factor=policy.factor,
            max_seconds=policy.max_seconds,
            jitter=policy.jitter,
        )


@strawberry.interface(
    description="One thing a pipeline does. Steps run strictly in order and stop at the first failure."
)
class Step:
    key: Key = strawberry.field(description="Its id in the definition, as in `steps.<key>.output`.")
    position: int = strawberry.field(description="Place in the order, from 1.")
    references: list[StepReference] = strawberry.field(description="What it takes from earlier steps and run inputs.")
    retry: RetryPolicy = strawberry.field(description="When and how it is tried again by itself.")

    @strawberry.field(description="Longest one attempt may take, in seconds.")
    def timeout_seconds(self) -> float:
        raise NotImplementedError


@strawberry.type(description="A step that calls a pack.")
class PackStep(Step):
    """Holds nothing of a request, so instances may be cached."""

    pack_name: str = strawberry.field(description="Name of the pack as written.")
    pack_version: str | None = strawberry.field(description="Version asked for; null for the one in use.")
    input: JSON = strawberry.field(description="Input as written, templates unresolved.")
    written_timeout: strawberry.Private[float | None]

    @classmethod
    def of(cls, step: "StepDefinition", position: int) -> "PackStep":
        return cls(
            key=Key(step.id),
            position=position,
            references=[StepReference.of(reference) for reference in compile_template(step.input).references],
            retry=RetryPolicy.of(step.retry),
            pack_name=step.pack,
            pack_version=step.version,
            input=JSON(step.input),
            written_timeout=step.timeout_seconds,
        )

    @strawberry.field(description="The pack; null when it is not installed here.")
    def pack(self, info: Info) -> 'Annotated[Pack, strawberry.lazy("schema.packs.packs")] | None':
        from schema.packs.packs import Pack

        found = info.context.context.services.registry.find(self.pack_name, self.pack_version)
        return None if found is None else Pack.of(found)

    @strawberry.field(description="Longest one attempt may take, in seconds.")
    def timeout_seconds(self, info: Info) -> float:
        services = info.context.context.services
        pack = services.registry.find(self.pack_name, self.pack_version)
        own = self.written_timeout or (pack.timeout_seconds if pack is not None else None)
        return own or services.limits.step_timeout_seconds


async def steps_of_document(info: Info, document: str) -> list[Step]:
    """The steps of a definition, in the order they run; empty if it cannot be parsed.

    Args:
        info: Of the operation.
        document: Canonical JSON.
    """
    return list(await _steps.get(info.context.caller.id, document))


def _read_steps(document: str, _: str | None) -> tuple[Step, ...]:
    definition, _issues = parse_stored(orjson.loads(document))
    if definition is None:
        return ()
    return tuple(_step(step, position) for position, step in enumerate(definition.steps, 1))


def _step(step: "StepDefinition", position: int) -> Step:
    from schema.pipelines.agent_steps import AgentStep

    return PackStep.of(step, position) if step.agent is None else AgentStep.of(step, step.agent, position)


_steps = DefinitionCache(_read_steps)


@strawberry.type(description="Result of checking a definition.")
class PipelineCheck:
    valid: bool = strawberry.field(description="Whether it would be saved.")
    issues: list[Issue] = strawberry.field(description="Everything wrong or questionable.")
    input_schema: JSONSchema | None = strawberry.field(
        description="What a run would have to be given; null when the definition cannot be read."
    )
    document: strawberry.Private["dict[str, JSONValue] | None"]
    preflight: Availability = strawberry.field(
        description="Whether it could run here: packs, services, sessions, all steps at once."
    )

    @classmethod
    def of(cls, check: "DefinitionCheck", now: "datetime") -> "PipelineCheck":
        """What a check told at `now`."""
        return cls(
            valid=check.valid,
            issues=Issue.all(check.issues),
            input_schema=None if check.input_schema is None else JSONSchema(check.input_schema),
            document=check.document,
            preflight=Availability.of(check.preflight, now),
        )

    @strawberry.field(description="The steps as understood; empty when they cannot be read.")
    async def steps(self, info: Info) -> list[Step]:
        return [] if self.document is None else await steps_of_document(info, canonical_json(self.document))


@strawberry.input(one_of=True, description="A definition, one way.")
class PipelineDefinitionInput:
    yaml: str | None = strawberry.field(default=strawberry.UNSET, description="As YAML text.")
    document: JSON | None = strawberry.field(
        default=strawberry.UNSET, description="As a JSON document of the same shape."
    )

    def text(self) -> DefinitionText:
        if isinstance(self.yaml, str):
            return DefinitionText(yaml=self.yaml)
        return DefinitionText(document=self.document)  # type: ignore[arg-type] # the use case checks what it is


@strawberry.input(one_of=True, description="A change to a definition, one way.")
class PipelineChangeInput:
    yaml: str | None = strawberry.field(default=strawberry.UNSET, description="The whole definition as YAML text.")
    document: JSON | None = strawberry.field(
        default=strawberry.UNSET, description="The whole definition as a JSON document."
    )
    fields: JSON | None = strawberry.field(
        default=strawberry.UNSET,
        description=("Top-level keys to replace, such as `name` or `steps`; null removes one, keys left out stay."),
    )
