"""Earlier names of starters: reads the file that lists them, and renames the inputs of a start under such a name.

grounded-blog:
  key: brief-rewrite-blog
  inputs: {markdown: brief}     # each old input: its new name
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.issues import Issue, error, warning
from runner.json_values import DocumentError
from runner.yaml_documents import load_document
from store.pipelines.aliases import Alias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue


@dataclass(frozen=True, slots=True)
class AliasEntry:
    """An alias in the file: its starter's key, and pairs of old and new input names."""

    name: str
    key: str
    inputs: tuple[tuple[str, str], ...]

    def of(self, input_schema: Mapping[str, JSONValue] | None) -> tuple[Alias, list[str]]:
        """Make the alias of a starter with this input schema; also returns problems of its map, as sentences."""
        schema = input_schema or {}
        properties = schema.get("properties")
        required = schema.get("required")
        known = set(properties) if isinstance(properties, dict) else set()
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        supplied = {now for _, now in self.inputs}
        wrong = [
            f"`{self.name}` maps `{then}` to `{now}`, which is not an input of `{self.key}`."
            for then, now in self.inputs
            if now not in known
        ]
        return Alias(self.name, self.inputs, tuple(name for name in names if name not in supplied)), wrong


def read_aliases(text: str, keys: set[str]) -> tuple[list[AliasEntry], list[str]]:
    """Read the aliases of a file; also returns its problems, as sentences, and leaves out aliases that have one.

    Args:
        text: YAML, or an empty text.
        keys: Keys of the starters.
    """
    if not text:
        return [], []
    try:
        document = load_document(text)
    except DocumentError as refused:
        return [], [f"It cannot be read: {refused}"]
    found: list[AliasEntry] = []
    problems: list[str] = []
    for name, value in document.items():
        entry = _entry(name, value)
        if entry is None:
            problems.append(f"`{name}` needs `key: <starter>` and may have `inputs: {{<then>: <now>}}`, nothing else.")
        elif entry.key not in keys:
            problems.append(f"`{name}` names `{entry.key}`, which is not a starter.")
        elif name in keys:
            problems.append(f"`{name}` is the key of a starter.")
        else:
            found.append(entry)
    return found, problems


def _entry(name: str, value: JSONValue) -> AliasEntry | None:
    if not isinstance(value, dict) or not set(value) <= {"key", "inputs"}:
        return None
    key, inputs = value.get("key"), value.get("inputs", {})
    if not isinstance(key, str) or not isinstance(inputs, dict):
        return None
    pairs = tuple((then, now) for then, now in inputs.items() if isinstance(now, str))
    return AliasEntry(name, key, pairs) if len(pairs) == len(inputs) else None


def translated(alias: Alias, key: str, inputs: JSONValue) -> tuple[JSONValue, list[Issue]]:
    """Rename the inputs of a start under an alias to their current names, and return the issues.

    Current names are accepted, too. A warning names the pipeline; an input given under both names and a missing input
    that is newly required are errors.

    Args:
        alias: The earlier name.
        key: The pipeline's key.
        inputs: The caller's inputs.
    """
    if not isinstance(inputs, dict):
        return inputs, []
    renamed = {then: now for then, now in alias.inputs if then != now}
    issues: list[Issue] = []
    values: dict[str, JSONValue] = {}
    for name, value in inputs.items():
        now = renamed.get(name, name)
        if now != name and now in inputs:
            issues.append(error((name,), "given_twice", f"`{name}` is now called `{now}`, and both are given."))
        values[now] = value
    changes = ", ".join(f"`{then}` is `{now}`" for then, now in renamed.items())
    issues.append(
        warning((), "earlier_name", f"`{alias.name}` is an earlier name of `{key}`{f'; {changes}' if changes else ''}.")
    )
    issues.extend(
        error(
            (name,),
            "newly_required",
            f"`{alias.name}` is now `{key}`, which also requires `{name}`.",
            f"Give `{name}` too.",
        )
        for name in alias.newly_required
        if name not in values
    )
    return values, issues
