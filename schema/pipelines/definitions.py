"""Pipeline definitions: steps, their references and retries, and the result of a check."""

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
    path: list[str] = strawberry.field(description="Path of the template within the input, outermost first.")
    expression: str = strawberry.field(description="The expression as written.")
    source_step: Key | None = strawberry.field(
        description="Key of the step whose output is read. Null if it reads a run input."
    )
    source_path: str = strawberry.field(description="The input or output field that is read.")

    @classmethod
    def of(cls, reference: "Reference") -> "StepReference":
        return cls(
            path=list(reference.path),
            expression=reference.expression,
            source_step=None if reference.source_step is None else Key(reference.source_step),
            source_path=reference.source_text,
        )


@strawberry.type(
    description=(
        "When a step is retried automatically. Only retryable failures are retried, within the run's deadline."
    )
)
class RetryPolicy:
    max_attempts: int = strawberry.field(description="Maximum number of attempts, including the first.")
    initial_seconds: float = strawberry.field(description="Delay before the second attempt, in seconds.")
    factor: float = strawberry.field(description="Factor by which the delay grows after each attempt.")
    max_seconds: float = strawberry.field(description="Maximum delay, in seconds.")
    jitter: float = strawberry.field(description="Random share of the delay, from 0 to 1.")

    @classmethod
    def of(cls, policy: "WrittenPolicy") -> "RetryPolicy":
        return cls(
            max_attempts=policy.max_attempts,
            initial_seconds=policy.initial_seconds,
            factor=policy.factor,
            max_seconds=policy.max_seconds,
            jitter=policy.jitter,
        )


@strawberry.interface(description="A step of a pipeline. Steps run one after another and stop at the first failure.")
class Step:
    key: Key = strawberry.field(description="Key of the step in the definition, as in `steps.<key>.output`.")
    position: int = strawberry.field(description="Position in the pipeline, starting at 1.")
    references: list[StepReference] = strawberry.field(
        description="Templates that read run inputs or outputs of earlier steps."
    )
    retry: RetryPolicy = strawberry.field(description="When the step is retried automatically.")

    @strawberry.field(description="Timeout of one attempt, in seconds.")
    def timeout_seconds(self) -> float:
        raise NotImplementedError


@strawberry.type(description="A step that calls a pack.")
class PackStep(Step):
    """Holds nothing of a request, so instances may be cached."""

    pack_name: str = strawberry.field(description="Name of the pack as written.")
    pack_version: str | None = strawberry.field(description="The requested version. Null for the version in use.")
    input: JSON = strawberry.field(description="The input as written, with templates unresolved.")
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

    @strawberry.field(description="The pack. Null if it is not installed.")
    def pack(self, info: Info) -> 'Annotated[Pack, strawberry.lazy("schema.packs.packs")] | None':
        from schema.packs.packs import Pack

        found = info.context.context.services.registry.find(self.pack_name, self.pack_version)
        return None if found is None else Pack.of(found)

    @strawberry.field(description="Timeout of one attempt, in seconds.")
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


@strawberry.type(description="The result of checking a definition.")
class PipelineCheck:
    valid: bool = strawberry.field(description="Whether the definition would be saved.")
    issues: list[Issue] = strawberry.field(description="All errors and warnings.")
    input_schema: JSONSchema | None = strawberry.field(
        description="JSON Schema of the run inputs. Null if the definition cannot be parsed."
    )
    document: strawberry.Private["dict[str, JSONValue] | None"]
    preflight: Availability = strawberry.field(
        description="Whether it could run on this server, considering the requirements of all steps."
    )

    @classmethod
    def of(cls, check: "DefinitionCheck", now: "datetime") -> "PipelineCheck":
        return cls(
            valid=check.valid,
            issues=Issue.all(check.issues),
            input_schema=None if check.input_schema is None else JSONSchema(check.input_schema),
            document=check.document,
            preflight=Availability.of(check.preflight, now),
        )

    @strawberry.field(description="The parsed steps. Empty if they cannot be parsed.")
    async def steps(self, info: Info) -> list[Step]:
        return [] if self.document is None else await steps_of_document(info, canonical_json(self.document))


@strawberry.input(one_of=True, description="A pipeline definition, in one of two formats.")
class PipelineDefinitionInput:
    yaml: str | None = strawberry.field(default=strawberry.UNSET, description="The definition as YAML text.")
    document: JSON | None = strawberry.field(
        default=strawberry.UNSET, description="The definition as a JSON document with the same structure."
    )

    def text(self) -> DefinitionText:
        if isinstance(self.yaml, str):
            return DefinitionText(yaml=self.yaml)
        return DefinitionText(document=self.document)  # type: ignore[arg-type] # the use case checks it


@strawberry.input(one_of=True, description="A change to a pipeline definition, in one of three formats.")
class PipelineChangeInput:
    yaml: str | None = strawberry.field(default=strawberry.UNSET, description="The complete definition as YAML text.")
    document: JSON | None = strawberry.field(
        default=strawberry.UNSET, description="The complete definition as a JSON document."
    )
    fields: JSON | None = strawberry.field(
        default=strawberry.UNSET,
        description=(
            "Top-level keys to replace, such as `name` or `steps`. Null removes a key; absent keys are unchanged."
        ),
    )
