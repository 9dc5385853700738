"""The keys of a definition, each with its JSON Schema: the parser accepts these keys, editors get the schemas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.agents.definition import AGENT
from runner.agents.keys import AGENT_KEYS, closed, matching
from runner.definitions.models import RetryPolicy

if TYPE_CHECKING:
    from runner.failures import JSONValue

KEY = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
#: An exact or major version.
PACK_VERSION_WANTED = re.compile(r"(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8}))?\Z")
PACK_NAME_CHARACTERS = 200
#: Lowest and highest value of each retry setting.
RETRY_BOUNDS: dict[str, tuple[float, float]] = {
    "max_attempts": (1, 10),
    "initial_seconds": (0, 3600),
    "factor": (1, 10),
    "max_seconds": (0, 3600),
    "jitter": (0, 1),
}


@dataclass(frozen=True, slots=True)
class DefinitionLimits:
    """Limits of a definition; each has this default."""

    max_steps: int = 64
    max_deadline_seconds: float = 86_400
    max_timeout_seconds: float = 86_400
    max_name_characters: int = 200
    max_description_characters: int = 20_000


_LIMITS = DefinitionLimits()
#: Highest limit of `concurrency`, and longest key.
CONCURRENCY_LIMIT = 1_000
CONCURRENCY_KEY_CHARACTERS = 1_000
CONCURRENCY_KEYS: dict[str, JSONValue] = {
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": CONCURRENCY_LIMIT,
        "description": "How many runs with the same key are admitted at a time.",
    },
    "key": {
        "type": "string",
        "minLength": 1,
        "maxLength": CONCURRENCY_KEY_CHARACTERS,
        "description": "Which runs count together, such as `${{ inputs.repo }}`; all of the pipeline if absent.",
    },
}
_RETRY_MEANS = {
    "max_attempts": "Attempts in all, including the first.",
    "initial_seconds": "Wait before the second attempt.",
    "factor": "Factor of each further wait.",
    "max_seconds": "Longest wait.",
    "jitter": "Random share of the wait.",
}
#: Schemas that several keys share.
SHARED: dict[str, JSONValue] = {
    "retry": closed(
        {
            name: {
                "type": "integer" if name == "max_attempts" else "number",
                "minimum": low,
                "maximum": high,
                "default": getattr(RetryPolicy(), name),
                "description": _RETRY_MEANS[name],
            }
            for name, (low, high) in RETRY_BOUNDS.items()
        },
        description="When Packline retries the step.",
    ),
    "timeout_seconds": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": _LIMITS.max_timeout_seconds,
        "description": "Time-out of one attempt, in seconds; the pack's or the server's if absent.",
    },
}
_STEP_ID: JSONValue = {**matching(KEY), "description": "Name of the step in references, `steps.<id>.output`."}
_RETRY: JSONValue = {"$ref": "#/definitions/retry"}
_TIMEOUT: JSONValue = {"$ref": "#/definitions/timeout_seconds"}

PACK_STEP_KEYS: dict[str, JSONValue] = {
    "id": _STEP_ID,
    "pack": {
        "type": "string",
        "minLength": 1,
        "maxLength": PACK_NAME_CHARACTERS,
        "not": {"const": AGENT},
        "description": "Name of the pack, such as `slides.render`; `packline packs` lists them.",
    },
    "version": {
        "anyOf": [matching(PACK_VERSION_WANTED), {"type": "integer", "minimum": 0, "maximum": 999_999_999}],
        "description": 'An exact version, `"1.2.3"`, or a major, `"1"`; the newest if absent.',
    },
    "input": {
        "type": ["object", "string", "null"],
        "description": "Input of the pack; its texts may have references.",
    },
    "retry": _RETRY,
    "timeout_seconds": _TIMEOUT,
}
AGENT_STEP_KEYS: dict[str, JSONValue] = {
    "id": _STEP_ID,
    AGENT: closed(AGENT_KEYS, "use", "prompt", description="The agent that does the step."),
    "retry": _RETRY,
    "timeout_seconds": _TIMEOUT,
}
DEFINITION_KEYS: dict[str, JSONValue] = {
    "key": {**matching(KEY), "description": "Name in URLs and commands; made from `name` if absent."},
    "name": {
        "type": "string",
        "minLength": 1,
        "maxLength": _LIMITS.max_name_characters,
        "description": "Name for people.",
    },
    "description": {
        "type": "string",
        "maxLength": _LIMITS.max_description_characters,
        "description": "What the pipeline does, in Markdown.",
    },
    "inputs": {
        "type": "object",
        "properties": {
            "type": {"const": "object"},
            "properties": {"type": "object"},
            "required": {"type": "array", "items": {"type": "string"}},
        },
        "description": "JSON Schema of the run inputs, an object with `properties`; made from the packs if absent.",
    },
    "deadline_seconds": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": _LIMITS.max_deadline_seconds,
        "description": "Deadline of a run, from its start or resume; the server's if absent.",
    },
    "concurrency": closed(
        CONCURRENCY_KEYS, "limit", description="How many runs of the pipeline are admitted at a time; others wait."
    ),
    "steps": {
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [{"$ref": "#/definitions/pack_step"}, {"$ref": "#/definitions/agent_step"}]},
        "description": "Steps, in the order they run.",
    },
    "metadata": {"$ref": "#/definitions/metadata"},
}
