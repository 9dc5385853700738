"""The pipelines that ship: files `pipelines/*.yaml`, brought into the store at every start.

A starter is stored even when a pack of it is missing here: it stays visible, and what it lacks is reported where its
availability is asked. What cannot be read at all is reported; start-up goes on. `aliases.yaml` beside the starters
maps earlier names to them (see `runner.definitions.aliases`).

Reading and checking takes tens of milliseconds a file and imports the YAML and JSON Schema libraries, so a start looks
first whether anything differs from what was stored: each stored starter keeps a digest of what it was made of.
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

#: Name of the file of aliases, without its ending.
ALIASES = "aliases"
#: Raise it when something else is stored for the same file than before.
_FORM = 2


@dataclass(frozen=True, slots=True)
class StarterProblem:
    """Something wrong with a starter's file; `file` is its name."""

    file: str
    message: str


@dataclass(frozen=True, slots=True)
class Starters:
    """What a folder holds.

    Attributes:
        starters: Everything that could be read, by file name.
        problems: What could not, and what is wrong with what could.
    """

    starters: tuple[Starter, ...]
    problems: tuple[StarterProblem, ...]


def load_starters(folder: Path, registry: Registry) -> Starters:
    """Read and check all starters of a folder; a bad file never keeps the others away."""
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
    """Make the stored starters those of a folder; when nothing differs, nothing is checked and nothing written."""
    if await _is_seeded(store, registry, folder):
        return StarterChanges()
    loaded = load_starters(folder, registry)
    for problem in loaded.problems:
        log.warning("a starter has a problem", file=problem.file, problem=problem.message)
    return await store.write(upsert_starters, loaded.starters)


async def _is_seeded(store: Store, registry: Registry, folder: Path) -> bool:
    texts, aliases, problems = _texts(folder)
    if problems:
        return False
    wanted = {f"builtin.{key}": _source_digest(text, aliases, registry) for key, text in texts.items()}
    stored = await starter_metadata(store)
    return wanted == {
        pipeline_id: orjson.loads(metadata).get("source_digest") for pipeline_id, metadata in stored.items()
    }


def _source_digest(text: str, aliases: str, registry: Registry) -> str:
    """Of everything a stored starter is made of: its file, the aliases, the versions of the packs it names."""
    packs = [f"{name} {registry.versions(name)}" for name in registry.names() if name in text]
    return digest("\n\n".join((str(_FORM), text, aliases, *packs)))


def _texts(folder: Path) -> tuple[dict[str, str], str, list[StarterProblem]]:
    """The starters' files by key, the file of aliases, and what cannot be read."""
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
    # A pack that is missing here does not make a starter unreadable; only the words of its file do.
    definition, issues = parse_definition(document)
    check = check_definition(document, registry)
    for issue in issues if definition is None else check.issues:
        if issue.severity == "error":
            report(f"{'.'.join(issue.path)}: {issue.message}")
    if definition is None:
        return None
    if definition.key != key:
        report(f"Its key is `{definition.key}`; it must be `{key}`, as the file is called.")
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
