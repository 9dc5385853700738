"""Pipeline definitions as values, and their normal form as documents."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from runner.agents.definition import AGENT, AgentStep
from runner.json_values import canonical_json, digest

if TYPE_CHECKING:
    from runner.failures import JSONValue
    from runner.packs.metadata import Metadata


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a step is tried again by itself.

    Attributes:
        max_attempts: Attempts in all, the first included; 1 to 10.
        initial_seconds: Wait before the second attempt.
        factor: What the wait is multiplied by each time; 1 to 10.
        max_seconds: Longest wait.
        jitter: Share of the wait left to chance, 0 to 1.
    """

    max_attempts: int = 3
    initial_seconds: float = 1
    factor: float = 2
    max_seconds: float = 60
    jitter: float = 0.2


@dataclass(frozen=True, slots=True)
class StepDefinition:
    """A step that calls a pack, or lets an agent work.

    Attributes:
        id: Its key in the definition, as in `steps.<id>.output`.
        pack: Name of the pack; `agent` for an agent step.
        version: An exact version `1.2.3` or a major `1`; None for the newest.
        input: The input template: an object, or one text that is a whole reference to an object.
        retry: When it is tried again.
        timeout_seconds: Longest one attempt may take; None for the pack's or the server's own.
        agent: What is fixed of an agent step; None for a pack step.
    """

    id: str
    pack: str
    version: str | None = None
    input: JSONValue = field(default_factory=dict)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    timeout_seconds: float | None = None
    agent: AgentStep | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """A pipeline as its author wrote it, in normal form.

    Attributes:
        key: Human handle.
        name: For people.
        description: Markdown.
        inputs: JSON Schema of the run inputs; None when it is to be derived from the packs.
        deadline_seconds: Longest one stretch of a run may take; None for the server's default.
        steps: In the order they run.
        metadata: What it is for.
    """

    key: str
    name: str
    description: str
    inputs: dict[str, JSONValue] | None
    deadline_seconds: float | None
    steps: tuple[StepDefinition, ...]
    metadata: Metadata


def definition_document(definition: Definition) -> dict[str, JSONValue]:
    """The normal form: what is absent is left out; `parse_definition` reads it back to an equal value.

    Metadata that is written empty or false stays written, since what is left out is derived.
    """
    document: dict[str, JSONValue] = {"key": definition.key, "name": definition.name}
    if definition.description:
        document["description"] = definition.description
    if definition.inputs is not None:
        document["inputs"] = definition.inputs
    if definition.deadline_seconds is not None:
        document["deadline_seconds"] = definition.deadline_seconds
    document["steps"] = [step_document(step) for step in definition.steps]
    if metadata := definition.metadata.model_dump(mode="json", exclude_unset=True):
        document["metadata"] = metadata
    return document


def step_document(step: StepDefinition) -> dict[str, JSONValue]:
    """The normal form of one step; two steps are identical when these are."""
    if step.agent is not None:
        templated = step.input if isinstance(step.input, dict) else {}
        document: dict[str, JSONValue] = {"id": step.id, AGENT: {**step.agent.document(), **templated}}
    else:
        document = {"id": step.id, "pack": step.pack}
        if step.version is not None:
            document["version"] = step.version
        if step.input != {}:
            document["input"] = step.input
    default = RetryPolicy()
    retry: dict[str, JSONValue] = {
        setting.name: getattr(step.retry, setting.name)
        for setting in fields(RetryPolicy)
        if getattr(step.retry, setting.name) != getattr(default, setting.name)
    }
    if retry:
        document["retry"] = retry
    if step.timeout_seconds is not None:
        document["timeout_seconds"] = step.timeout_seconds
    return document


def definition_digest(definition: Definition) -> str:
    """SHA-256 of the canonical normal form, hexadecimal: equal exactly when two definitions say the same."""
    return digest(canonical_json(definition_document(definition)))


def step_digest(step: StepDefinition) -> str:
    """SHA-256 of one step's canonical normal form, hexadecimal."""
    return digest(canonical_json(step_document(step)))
