"""The keys of an `agent:` block, each with its JSON Schema: the parser accepts these keys, editors get the schemas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from runner.agents.definition import ISOLATION_NAMES
from runner.packs.pack import Effects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue

#: Longest prompt as written.
PROMPT_CHARACTERS = 200_000
MAX_OUTPUTS = 50
MAX_RULES = 200
#: Longest path inside a workspace.
PATH_CHARACTERS = 500
HANDLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}\Z")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")
TOOL = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
CREDENTIAL = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}\Z")


def matching(pattern: re.Pattern[str]) -> dict[str, JSONValue]:
    """Return the schema of texts that match one of our patterns from beginning to end."""
    return {"type": "string", "pattern": f"^(?:{pattern.pattern.removesuffix(chr(92) + 'Z')})$"}


def closed(keys: Mapping[str, JSONValue], *required: str, description: str | None = None) -> dict[str, JSONValue]:
    """Return the schema of an object that has these keys and no others."""
    schema: dict[str, JSONValue] = {"type": "object", "additionalProperties": False, "properties": dict(keys)}
    if required:
        schema["required"] = list(required)
    if description is not None:
        schema["description"] = description
    return schema


_HANDLE = matching(HANDLE)
_PATH: dict[str, JSONValue] = {"type": "string", "minLength": 1, "maxLength": PATH_CHARACTERS}

#: Keys of a choice by an environment variable of the server.
CHOICE_KEYS: dict[str, JSONValue] = {
    "env": {**matching(VARIABLE), "description": "Environment variable of the server that chooses."},
    "default": {**_HANDLE, "description": "The name if the variable is not set."},
    "map": {
        "type": "object",
        "additionalProperties": _HANDLE,
        "description": "A name for each value of the variable; without it, the value is the name.",
    },
}
RULE_KEYS: dict[str, JSONValue] = {
    "program": {"type": "string", "minLength": 1, "maxLength": 500, "description": "Its name or absolute path."},
    "args_prefix": {
        "type": "array",
        "items": {"type": "string"},
        "description": "The rule applies only to calls that begin with these arguments.",
    },
    "allow": {"type": "boolean", "description": "Whether such a call is allowed."},
}
COMMANDS_KEYS: dict[str, JSONValue] = {
    "fallback": {"enum": ["deny", "allow"], "default": "deny", "description": "Decides if no rule applies."},
    "rules": {
        "type": "array",
        "maxItems": MAX_RULES,
        "items": closed(RULE_KEYS, "program", "allow"),
        "description": "Rules for spawning programs; the first that applies decides.",
    },
}
AGENT_KEYS: dict[str, JSONValue] = {
    "use": {
        "anyOf": [_HANDLE, closed(CHOICE_KEYS, "env")],
        "description": "The agent profile, or a choice by an environment variable.",
    },
    "prompt": {
        "type": "string",
        "minLength": 1,
        "maxLength": PROMPT_CHARACTERS,
        "description": "Instructions for the agent; may have references.",
    },
    "model": {
        "anyOf": [_HANDLE, closed(CHOICE_KEYS, "env")],
        "description": "The model; the profile's default if absent.",
    },
    "inputs": {"type": ["array", "string"], "description": "Files for its workspace; may have references."},
    "workspace": {
        "enum": ["fresh", "session"],
        "default": "fresh",
        "description": "A new folder, or the session of an earlier step.",
    },
    "stdout_to": {**_PATH, "description": "Workspace path under which its standard output is proposed."},
    "outputs": {
        "type": "array",
        "maxItems": MAX_OUTPUTS,
        "items": _PATH,
        "description": "Workspace paths of the files that it must create.",
    },
    "commands": closed(COMMANDS_KEYS, description="What it may spawn; without it, only the profile's own command."),
    "tools": {
        "type": "array",
        "items": matching(TOOL),
        "description": "Packline's own MCP tools that it may call.",
    },
    "isolation": {
        "enum": list(ISOLATION_NAMES),
        "description": "Weakest level that it accepts; the best available if absent.",
    },
    "credentials": {
        "type": "object",
        "propertyNames": matching(VARIABLE),
        "additionalProperties": matching(CREDENTIAL),
        "description": "Environment variables, each with `credential` or `credential.field`.",
    },
    "effects": {"enum": list(get_args(Effects)), "default": "external", "description": "Its external changes."},
    "timeout_seconds": {"$ref": "#/definitions/timeout_seconds"},
    "retry": {"$ref": "#/definitions/retry"},
    "cache": {"type": "boolean", "default": False, "description": "Whether a cached result may be replayed."},
    "output_schema": {"type": "object", "description": "JSON Schema of its answer."},
}
#: Keys of the block that are templates; the others are fixed when the definition is saved.
TEMPLATED = ("prompt", "inputs")
