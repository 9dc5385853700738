"""Starters: the pipelines that ship with Packline as `pipelines/*.yaml`, copied to the store at every start.

A starter is stored even if a pack of it is missing on this server: it stays visible, and its availability says what is
missing. A file that cannot be read is reported, and the start-up continues. `aliases.yaml` in the same folder maps
earlier names to starters (see `runner.definitions.aliases`).

Reading and checking takes tens of milliseconds per file and imports the YAML and JSON Schema libraries. So each stored
starter has a digest of its sources, and a start first compares the digests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
import structlog

from runner.definitions.aliases import AliasEntry, read_aliases
from runner.definitions.check import check_definition
from runner.definitions.parsing import parse_definition
from runner.definitions.stored import stored_form
from runner.issues import place
from runner.json_values import DocumentError, digest
from runner.yaml_documents import load_document
from store.pipelines.reads import starter_metadata
from store.pipelines.starters import Starter, StarterChanges, upsert_starters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runner.packs.registry import Registry
    from store.database.engine import Store
    from store.pipelines.aliases import Alias

log = structlog.get_logger(__name__)

#: Name of the file of aliases, without its suffix.
ALIASES = "aliases"
#: Increase it when the stored form of the same file changes.
_FORM = 2


@dataclass(frozen=True, slots=True)
class StarterProblem:
    """Something wrong with a starter's file; `file` is its name."""

    file: str
    message: str


@dataclass(frozen=True, slots=True)
class Starters:
    """The starters of a folder.

    Attributes:
        starters: The starters that could be read, by file name.
        problems: Problems of all files.
    """

    starters: tuple[Starter, ...]
    problems: tuple[StarterProblem, ...]


def load_starters(folder: Path, registry: Registry) -> Starters:
    """Read and check all starters of a folder; a bad file does not affect the others."""
    texts, aliases_text, problems = _texts(folder)
    aliases, wrong = read_aliases(aliases_text, set(texts))
    problems.extend(StarterProblem(f"{ALIASES}.yaml", message) for message in wrong)
    found = [
        _starter(
            key,
            text,
            [alias for alias in aliases if alias.key == key],
            _source_digest(text, aliases_text, registry),
            registry,
            problems,
        )
        for key, text in texts.items()
    ]
    return Starters(tuple(starter for starter in found if starter is not None), tuple(problems))


async def seed_starters(store: Store, registry: Registry, folder: Path) -> StarterChanges:
    """Update the stored starters to those of a folder; checks and writes nothing if nothing differs."""
    if await _is_seeded(store, registry, folder):
        return StarterChanges()
    loaded = load_starters(folder, registry)
    for problem in loaded.problems:
        log.warning("a starter has a problem", file=problem.file, problem=problem.message)
    return await store.write(upsert_starters, loaded.starters)


async def _is_seeded(store: Store, registry: Registry, folder: Path) -> bool:
    wanted = source_digests(registry, folder)
    if wanted is None:
        return False
    stored = await starter_metadata(store)
    return wanted == {
        pipeline_id: orjson.loads(metadata).get("source_digest") for pipeline_id, metadata in stored.items()
    }


def source_digests(registry: Registry, folder: Path) -> dict[str, str] | None:
    """Digest the sources of all starters of a folder, by pipeline id; None if a file cannot be read."""
    texts, aliases, problems = _texts(folder)
    if problems:
        return None
    return {f"builtin.{key}": _source_digest(text, aliases, registry) for key, text in texts.items()}


def _source_digest(text: str, aliases: str, registry: Registry) -> str:
    """Digest all sources of a stored starter: its file, the aliases, the versions of the packs it names."""
    packs = [f"{name} {registry.versions(name)}" for name in registry.names() if name in text]
    return digest("\n\n".join((str(_FORM), text, aliases, *packs)))


def _texts(folder: Path) -> tuple[dict[str, str], str, list[StarterProblem]]:
    """Read the starters' files by key, the file of aliases, and the problems of unreadable files."""
    texts: dict[str, str] = {}
    problems: list[StarterProblem] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            texts[path.stem] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problems.append(StarterProblem(path.name, f"It cannot be read: {error}."))
    return texts, texts.pop(ALIASES, ""), problems


def _starter(
    key: str,
    text: str,
    aliases: Sequence[AliasEntry],
    source_digest: str,
    registry: Registry,
    problems: list[StarterProblem],
) -> Starter | None:
    def report(message: str) -> None:
        problems.append(StarterProblem(f"{key}.yaml", message))

    try:
        document = load_document(text)
    except DocumentError as refused:
        report(f"It cannot be read: {refused}")
        return None
    # A missing pack does not make a starter unreadable.
    definition, issues = parse_definition(document)
    check = check_definition(document, registry)
    for issue in issues if definition is None else check.issues:
        if issue.severity == "error":
            report(f"{place(issue.path, document)}: {issue.message}")
    if definition is None:
        return None
    if definition.key != key:
        report(f"Its key is `{definition.key}`; it must be `{key}` like the file name.")
        return None
    named: list[Alias] = []
    for entry in aliases:
        alias, wrong = entry.of(check.input_schema)
        problems.extend(StarterProblem(f"{ALIASES}.yaml", message) for message in wrong)
        named.append(alias)
    heading, stored = stored_form(
        definition, check.input_schema, registry, text=text, aliases=tuple(named), source_digest=source_digest
    )
    return Starter(f"builtin.{key}", heading, stored)
