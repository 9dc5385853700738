"""Values of pipeline definitions, and their normal form as documents."""

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
    """When Packline retries a step.

    Attributes:
        max_attempts: Attempts in all, including the first; 1 to 10.
        initial_seconds: Wait before the second attempt.
        factor: Factor of each further wait; 1 to 10.
        max_seconds: Longest wait.
        jitter: Random share of the wait, 0 to 1.
    """

    max_attempts: int = 3
    initial_seconds: float = 1
    factor: float = 2
    max_seconds: float = 60
    jitter: float = 0.2


@dataclass(frozen=True, slots=True)
class StepDefinition:
    """A step that calls a pack or an agent.

    Attributes:
        id: Its key in the definition, as in `steps.<id>.output`.
        pack: Name of the pack; `agent` for an agent step.
        version: An exact version `1.2.3` or a major `1`; None for the newest.
        input: The input template: an object, or a text that is a whole reference to an object.
        retry: When it is retried.
        timeout_seconds: Time-out of one attempt; None for the pack's or the server's.
        agent: The fixed settings of an agent step; None for a pack step.
    """

    id: str
    pack: str
    version: str | None = None
    input: JSONValue = field(default_factory=dict)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    timeout_seconds: float | None = None
    agent: AgentStep | None = None


@dataclass(frozen=True, slots=True)
class Concurrency:
    """How many runs of a pipeline Packline admits at a time.

    Attributes:
        limit: That many with the same key.
        key: A template over the run inputs; None if all runs of the pipeline count together.
    """

    limit: int
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """A pipeline as its author wrote it, in normal form.

    Attributes:
        key: Unique name in URLs and commands.
        name: For people.
        description: Markdown.
        inputs: JSON Schema of the run inputs; None to derive it from the packs.
        deadline_seconds: Deadline of a run, from its start or resume; None for the server's default.
        steps: In the order they run.
        metadata: What it is for.
        concurrency: How many of its runs are admitted at a time; None for no limit.
    """

    key: str
    name: str
    description: str
    inputs: dict[str, JSONValue] | None
    deadline_seconds: float | None
    steps: tuple[StepDefinition, ...]
    metadata: Metadata
    concurrency: Concurrency | None = None


def definition_document(definition: Definition) -> dict[str, JSONValue]:
    """Return the normal form, without absent values; `parse_definition` reads it back to an equal value.

    Keeps metadata that the author wrote as empty or false, since absent metadata is derived.
    """
    document: dict[str, JSONValue] = {"key": definition.key, "name": definition.name}
    if definition.description:
        document["description"] = definition.description
    if definition.inputs is not None:
        document["inputs"] = definition.inputs
    if definition.deadline_seconds is not None:
        document["deadline_seconds"] = definition.deadline_seconds
    if (concurrency := definition.concurrency) is not None:
        key: dict[str, JSONValue] = {} if concurrency.key is None else {"key": concurrency.key}
        document["concurrency"] = {"limit": concurrency.limit, **key}
    document["steps"] = [step_document(step) for step in definition.steps]
    if metadata := definition.metadata.model_dump(mode="json", exclude_unset=True):
        document["metadata"] = metadata
    return document


def step_document(step: StepDefinition) -> dict[str, JSONValue]:
    """Return the normal form of one step; two steps are equal if these are."""
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
    """Return the SHA-256 of the canonical normal form, hexadecimal."""
    return digest(canonical_json(definition_document(definition)))


def step_digest(step: StepDefinition) -> str:
    """Return the SHA-256 of one step's canonical normal form, hexadecimal."""
    return digest(canonical_json(step_document(step)))
