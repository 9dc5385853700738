"""Converts a definition to its stored form: its heading, and the texts of a version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from runner.definitions.editor_schema import without_schema_line
from runner.definitions.models import definition_document
from runner.definitions.step_packs import pack_of_step
from runner.json_values import canonical_json, digest
from runner.yaml_documents import BYTE_ORDER_MARK, dump_yaml
from store.pipelines.rows import Definition as StoredDefinition
from store.pipelines.rows import Heading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.definitions.models import Definition
    from runner.definitions.step_packs import PackLookup
    from runner.failures import JSONValue
    from runner.packs.metadata import Metadata
    from store.pipelines.aliases import Alias


@dataclass(frozen=True, slots=True)
class CompletedMetadata:
    """Metadata completed with derived fields.

    Attributes:
        derived: Names of the derived fields.
    """

    metadata: Metadata
    derived: tuple[str, ...]


def completed_metadata(definition: Definition, packs: PackLookup) -> CompletedMetadata:
    """Complete a pipeline's metadata with fields derived from its packs.

    `accepts` comes from the steps that read run inputs, `produces` from the last step. A practice pack makes it a
    practice pipeline. Fields that the author wrote as an empty list or false stay.
    """
    written = definition.metadata
    changes: dict[str, list[str] | bool] = {}
    if "accepts" not in written.model_fields_set:
        accepts = [
            kind
            for step in definition.steps
            if "inputs." in str(step.input) and (pack := pack_of_step(packs, step)) is not None
            for kind in pack.metadata.accepts
        ]
        changes["accepts"] = list(dict.fromkeys(accepts))
    if "produces" not in written.model_fields_set and definition.steps:
        last = definition.steps[-1]
        pack = pack_of_step(packs, last)
        changes["produces"] = list(pack.metadata.produces) if pack is not None else []
    if "supersedes" not in written.model_fields_set:
        changes["supersedes"] = list(dict.fromkeys(step.pack for step in definition.steps if step.agent is None))
    if "practice" not in written.model_fields_set:
        called = [pack_of_step(packs, step) for step in definition.steps]
        changes["practice"] = any(pack is not None and pack.metadata.practice for pack in called)
    found = {name: value for name, value in changes.items() if value}
    return CompletedMetadata(written.model_copy(update=found), tuple(found))


def search_words(key: str, name: str, description: str, metadata: Mapping[str, object]) -> str:
    """Return a pipeline's search text: lower-case words of key, name, description and metadata."""
    parts = [key, name, description]
    for value in metadata.values():
        parts.extend(str(item) for item in value) if isinstance(value, list) else parts.append(_text(value))
    return "\n".join(parts).lower()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def stored_form(
    definition: Definition,
    input_schema: Mapping[str, JSONValue] | None,
    packs: PackLookup,
    *,
    text: str | None = None,
    aliases: tuple[Alias, ...] = (),
    source_digest: str | None = None,
) -> tuple[Heading, StoredDefinition]:
    """What `store` keeps of a definition that was checked.

    Args:
        definition: The definition.
        input_schema: Schema of its run inputs, declared or derived; None if unknown.
        packs: The installed packs, for derived metadata.
        text: The author's YAML; generated from the definition if None.
        aliases: Earlier names.
        source_digest: Digest of a starter's sources, stored with the metadata.
    """
    normal = definition_document(definition)
    # The digest is of the canonical text; the stored document keeps the author's order, which forms follow.
    canonical = canonical_json(normal)
    completed = completed_metadata(definition, packs)
    metadata = completed.metadata.model_dump(mode="json")
    found_by = search_words(definition.key, definition.name, definition.description, metadata)
    metadata["derived"] = list(completed.derived)
    if source_digest is not None:
        metadata["source_digest"] = source_digest
    heading = Heading(
        key=definition.key,
        name=definition.name,
        description=definition.description,
        metadata_json=orjson.dumps(metadata).decode(),
        search_text="\n".join((found_by, *(alias.name for alias in aliases))),
        aliases=aliases,
    )
    stored = StoredDefinition(
        digest=digest(canonical),
        document=orjson.dumps(normal).decode(),
        yaml=dump_yaml(normal) if text is None else without_schema_line(text.removeprefix(BYTE_ORDER_MARK)),
        input_schema=orjson.dumps(
            dict(input_schema) if input_schema else {"type": "object", "properties": {}}
        ).decode(),
    )
    return heading, stored
