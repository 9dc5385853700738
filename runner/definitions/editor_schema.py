"""The JSON Schema of definitions for editors, and the line that names it at the top of an exported file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.agents.definition import AGENT
from runner.agents.keys import closed
from runner.definitions.keys import AGENT_STEP_KEYS, DEFINITION_KEYS, PACK_STEP_KEYS, SHARED
from runner.packs.metadata import Metadata

if TYPE_CHECKING:
    from runner.failures import JSONValue

#: Path below the server's URL where it serves the schema.
SCHEMA_PATH = "/schema/pipeline.json"
_LINE = re.compile(r"# yaml-language-server: \$schema=\S*" + re.escape(SCHEMA_PATH) + r"[ \t]*\r?\n")
_ANY_LINE = re.compile(r"\s*# yaml-language-server: \$schema=")


def with_schema_line(text: str, server_url: str) -> str:
    """Return a definition with a first line that tells editors its schema, unless it has one."""
    if _ANY_LINE.match(text):
        return text
    return f"# yaml-language-server: $schema={server_url}{SCHEMA_PATH}\n{text}"


def without_schema_line(text: str) -> str:
    """Return a definition without the line that an export added, which names the server it came from."""
    found = _LINE.match(text)
    return text if found is None else text[found.end() :]


def definition_schema(max_steps: int) -> dict[str, JSONValue]:
    """Return the JSON Schema of a definition, for editors.

    It accepts every valid definition without nulls; the parser treats a null as absent. It cannot say what only the
    check can prove, such as whether a pack exists.

    Args:
        max_steps: Most steps of a pipeline.
    """
    steps = DEFINITION_KEYS["steps"]
    keys = {**DEFINITION_KEYS, "steps": {**(steps if isinstance(steps, dict) else {}), "maxItems": max_steps}}
    return {
        # The draft that editors know best.
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Packline pipeline",
        **closed(keys, "name", "steps"),
        "definitions": {
            **SHARED,
            "pack_step": closed(PACK_STEP_KEYS, "id", "pack"),
            "agent_step": closed(AGENT_STEP_KEYS, "id", AGENT),
            "metadata": Metadata.model_json_schema(),
        },
    }
