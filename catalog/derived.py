"""What a user's pipeline takes and makes, told from its packs where its author left it out (CONTRACT 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.definition_models import Definition
    from runner.inputs import PackLookup
    from runner.metadata import Metadata


@dataclass(frozen=True, slots=True)
class CompletedMetadata:
    """Metadata with what was left out filled in.

    Attributes:
        derived: Names of the fields that were derived rather than written.
    """

    metadata: Metadata
    derived: tuple[str, ...]


def completed_metadata(definition: Definition, packs: PackLookup) -> CompletedMetadata:
    """A definition's metadata; `accepts` comes from the steps that read run inputs, `produces` from the last step."""
    written = definition.metadata
    changes: dict[str, list[str]] = {}
    if not written.accepts:
        accepts = [
            kind
            for step in definition.steps
            if "inputs." in str(step.input) and (pack := packs.find(step.pack, step.version)) is not None
            for kind in pack.metadata.accepts
        ]
        changes["accepts"] = list(dict.fromkeys(accepts))
    if not written.produces and definition.steps:
        last = definition.steps[-1]
        pack = packs.find(last.pack, last.version)
        changes["produces"] = list(pack.metadata.produces) if pack is not None else []
    if not written.supersedes:
        changes["supersedes"] = list(dict.fromkeys(step.pack for step in definition.steps))
    found = {name: value for name, value in changes.items() if value}
    return CompletedMetadata(written.model_copy(update=found), tuple(found))
