"""Presents an agent step to the rest of the runner as a pack."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

from runner.agents.definition import AGENT, AgentStep
from runner.agents.input_output import AgentInput, AgentOutput
from runner.json_values import canonical_json
from runner.packs.metadata import Metadata
from runner.packs.needs import CredentialNeed
from runner.packs.pack import Pack

if TYPE_CHECKING:
    from runner.agents.profiles import Selection
    from runner.failures import JSONValue
    from runner.packs.context import PackContext
    from runner.running.attempt_context import AttemptContext


@dataclass(frozen=True, eq=False)
class AgentPack(Pack):
    """The pack of an agent step.

    Attributes:
        agent: The step's fixed settings.
        selection: The profile and model, once resolved.
    """

    agent: AgentStep
    selection: Selection | None

    def __post_init__(self) -> None:
        """Check nothing: `definitions` has checked the step, and nobody lists this pack."""

    @cached_property
    def output_schema(self) -> dict[str, JSONValue]:
        """The output schema with the step's schema of `data`."""
        schema = self.output_model.model_json_schema(mode="serialization")
        declared = self.agent.output_schema
        if declared is not None:
            schema["properties"]["data"] = declared
        else:
            schema["properties"]["data"] = {"type": "null"}
        return schema


def agent_pack(step: AgentStep, selection: Selection | None = None, timeout_seconds: float | None = None) -> AgentPack:
    """Return the pack of an agent step; the same object for equal steps, since it caches schemas.

    Args:
        step: The step's fixed settings.
        selection: The profile and model; None where they do not matter, as in a check.
        timeout_seconds: The profile's time-out of an attempt.
    """
    return _make(_Key(canonical_json(step.document()), step), selection, timeout_seconds)


class _Key:
    """Cache key of a step: its normal form, since output schemas are not hashable."""

    __slots__ = ("step", "text")

    def __init__(self, text: str, step: AgentStep) -> None:
        self.text = text
        self.step = step

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.text == self.text


@lru_cache(maxsize=512)
def _make(key: _Key, selection: Selection | None, timeout_seconds: float | None) -> AgentPack:
    step = key.step

    async def handler(ctx: PackContext, input: AgentInput) -> AgentOutput:
        from runner.agents.step import work

        return await work(cast("AttemptContext", ctx), step, selection, input)

    return AgentPack(
        name=AGENT,
        version="" if selection is None else str(selection),
        description="",
        input_model=AgentInput,
        output_model=AgentOutput,
        effects=step.effects,
        repeatable=step.effects != "external",
        preserves_session=False,
        uses_session=step.workspace == "session",
        uses_agent=True,
        at_most_once=False,
        takes_idempotency_key=False,
        timeout_seconds=timeout_seconds,
        services=(),
        credentials=tuple(
            CredentialNeed(name, "") for name in dict.fromkeys(ref.partition(".")[0] for _, ref in step.credentials)
        ),
        models=(),
        cost="",
        post_conditions=(),
        metadata=Metadata(),
        handler=handler,
        agent=step,
        selection=selection,
    )
