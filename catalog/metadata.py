"""The vocabulary of kinds, and the check that an entry's metadata is complete enough to be found.

A test requires that `metadata_issues` finds none in any shipped pack and starter. Users' entries with issues load
anyway, are marked incomplete, and can be found by name.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

from runner.issues import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from runner.packs.metadata import Metadata
    from runner.packs.pack import Pack
    from runner.packs.registry import Registry

MIN_EXAMPLE_INTENTS = 8
MIN_INTENT_KEYWORDS = 5
MAX_TYPICAL_USE_LENGTH = 240
#: Two examples whose words overlap by this share (Jaccard index) count as duplicates.
_SAME_EXAMPLE = 0.75
_KINDS_FILE = Path(__file__).with_name("kinds.yaml")
_KIND_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z])")
_WORD = re.compile(r"\w+")


@functools.cache
def kinds() -> dict[str, str]:
    """Return the kinds of things packs take and make, with their descriptions, in the order of the vocabulary file.

    Raises:
        ValueError: the file is not a flat mapping of kinds to descriptions.
    """
    from ruamel.yaml import YAML

    found = YAML(typ="safe", pure=True).load(_KINDS_FILE)
    if not isinstance(found, dict):
        raise TypeError(f"{_KINDS_FILE.name} is not a mapping of kinds to descriptions.")
    for name, description in found.items():
        if not isinstance(name, str) or not _KIND_NAME.match(name) or not isinstance(description, str):
            raise ValueError(f"{_KINDS_FILE.name}: `{name}` is not a kind with a description.")
    return found


def metadata_issues(
    metadata: Metadata, *, is_pipeline: bool, known_packs: Collection[str], needs_input: bool = True
) -> list[str]:
    """List what an entry's metadata lacks, one sentence each; empty when it is complete.

    Args:
        metadata: The metadata.
        is_pipeline: Pipelines must name the packs they replace; packs replace nothing.
        known_packs: Names that `supersedes` may hold.
        needs_input: Whether it has a required input; without one, `accepts` may be empty.
    """
    issues: list[str] = []
    for field, entries in (("accepts", metadata.accepts), ("produces", metadata.produces)):
        if not entries and (needs_input or field == "produces"):
            issues.append(f"{field} is empty: name at least one kind.")
        issues += unknown_kinds(field, entries)
        issues += [f"{field} contains `{kind}` twice." for kind in _repeated(entries)]
    issues += _intents(metadata)
    issues += _typical_use(metadata.typical_use)
    if not any(limitation.strip() for limitation in metadata.limitations):
        issues.append("limitations is empty: name at least one thing it cannot do.")
    return issues + _supersedes(metadata, is_pipeline, known_packs)


def unknown_kinds(field: str, names: Iterable[str]) -> list[str]:
    """Return a sentence for each name that is not in the vocabulary, beginning with the field."""
    return [_unknown(field, name, kinds()) for name in names if name not in kinds()]


def pack_issues(pack: Pack, known_packs: Collection[str]) -> list[str]:
    """List what a pack's metadata lacks; see `metadata_issues`."""
    needs_input = any(field.is_required() for field in pack.input_model.model_fields.values())
    return metadata_issues(pack.metadata, is_pipeline=False, known_packs=known_packs, needs_input=needs_input)


def incomplete_packs(registry: Registry) -> dict[tuple[str, str], list[str]]:
    """Return the packs with incomplete metadata, by name and version, with their issues; they load and run."""
    names = registry.names()
    found = {(pack.name, pack.version): pack_issues(pack, names) for pack in registry.packs()}
    return {key: issues for key, issues in found.items() if issues}


def _intents(metadata: Metadata) -> list[str]:
    issues: list[str] = []
    keywords = {keyword.strip().casefold() for keyword in metadata.intent_keywords} - {""}
    if len(keywords) < MIN_INTENT_KEYWORDS:
        issues.append(f"intent_keywords has {len(keywords)} different phrases: give at least {MIN_INTENT_KEYWORDS}.")
    examples = [frozenset(_WORD.findall(example.casefold())) for example in metadata.example_intents]
    if len(examples) < MIN_EXAMPLE_INTENTS:
        issues.append(f"example_intents has {len(examples)} requests: give at least {MIN_EXAMPLE_INTENTS}.")
    for index, words in enumerate(examples):
        text = metadata.example_intents[index]
        if len(words) < 2:
            issues.append(f"example_intents: `{text}` is not a request.")
        for earlier in range(index):
            both = words | examples[earlier]
            if both and len(words & examples[earlier]) / len(both) > _SAME_EXAMPLE:
                issues.append(f"example_intents: `{text}` says the same as `{metadata.example_intents[earlier]}`.")
    return issues


def _typical_use(text: str | None) -> list[str]:
    if text is None or not text.strip():
        return ["typical_use is missing: say in one sentence when to use it."]
    sentence = text.strip()
    if _SENTENCE_END.search(sentence) or "\n" in sentence or len(sentence) > MAX_TYPICAL_USE_LENGTH:
        return [f"typical_use is not one sentence of at most {MAX_TYPICAL_USE_LENGTH} characters."]
    return []


def _supersedes(metadata: Metadata, is_pipeline: bool, known_packs: Collection[str]) -> list[str]:
    if not is_pipeline:
        return ["supersedes is only for pipelines: leave it empty for a pack."] if metadata.supersedes else []
    if not metadata.supersedes:
        return ["supersedes is empty: name the packs that users would otherwise have to chain."]
    return [_unknown("supersedes", name, known_packs) for name in metadata.supersedes if name not in known_packs]


def _unknown(field: str, name: str, known: Collection[str]) -> str:
    near = nearest(name, known)
    return f"{field} names `{name}`, which does not exist" + (f"; did you mean `{near}`?" if near else ".")


def _repeated(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
