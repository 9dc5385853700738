"""Suggests inputs for a request, from its words, its context and the caller's defaults, each with its source. Pure.

Only inputs that the target declares are filled in, and only with values that its schema accepts. Values are never made
up: an input without a source is reported as missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from catalog.routing.index import kind_names
from catalog.routing.signals import audience_of
from catalog.words import fold
from runner.excerpts import excerpt
from runner.schemas.shapes import inlined
from runner.schemas.validation import compile_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog.routing.facts import Fact, Facts
    from runner.failures import JSONValue

Source = Literal["request", "context", "defaults", "model"]

#: Longest value taken from a request, in characters.
_MAX_TOPIC = 300
#: Names of inputs by the kind they take, the most specific first: schemas seldom say it.
_NAMES: dict[str, tuple[str, ...]] = {
    "issue_number": ("number", "issue", "issue_number"),
    "repo_name": ("repo", "repository"),
    "repo_url": ("repo_url", "repo", "repository", "repository_url"),
    "email": ("to", "recipient", "recipients", "email"),
    "source_url": ("source_url",),
    "url": ("url", "page_url", "link", "address"),
}
_TOPICS = ("query", "question", "topic")
_TOPIC = re.compile(
    r"\b(?:about|on the topic of|on|into|regarding|concerning|topic:?|[uü]ber|sobre|sur)\s+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_ASKED = re.compile(r"\b((?:why|how|who|what|when|where|which|does|is|are)\b[^?]{5,}\?)", re.IGNORECASE)
_RESEARCHED = re.compile(
    r"^\s*(?:please\s+)?(?:research|investigate|recherchiere|find out|look up)\s+(.+)", re.I | re.S
)
_TOPIC_END = re.compile(
    r"\s*(?:[.;!?\n]|,?\s+(?:and|then|und|et|y)\s+(?:then\s+)?(?:make|turn|build|create|give|put|write|produce|prepare|"
    r"publish|show|mail|send|mach|blog|narrate|let|a\s+podcast)\b|,?\s*(?:please|pls|thanks|bitte)\b|"
    r",\s*(?:for|with|as|aimed)\b|\s+(?:for|aimed at)\s+[a-z -]{3,40}$)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\b(\d{1,4})[ -]?(slides?|min(?:ute)?s?|sec(?:ond)?s?|sources?|results?|words?)\b", re.IGNORECASE
)
_COUNTS: dict[str, tuple[str, ...]] = {
    "slide": ("max_slides",),
    "min": ("duration_target_min", "duration_minutes", "minutes"),
    "sec": ("duration_seconds", "seconds"),
    "source": ("max_sources",),
    "result": ("limit",),
    "word": ("max_words",),
}


@dataclass(frozen=True, slots=True)
class SuggestedInput:
    """An input with a suggested value.

    Attributes:
        source: Where the value was found.
    """

    name: str
    value: JSONValue
    source: Source


@dataclass(frozen=True, slots=True)
class SuggestedInputs:
    """Suggested inputs of a run.

    Attributes:
        inputs: Each input once.
        missing: Required inputs without a value, in the schema's order; of a choice between inputs, the first.
    """

    inputs: tuple[SuggestedInput, ...]
    missing: tuple[str, ...]

    def values(self) -> dict[str, JSONValue]:
        """Return the inputs as a run takes them."""
        return {found.name: found.value for found in self.inputs}


def suggest_inputs(
    schema: Mapping[str, JSONValue],
    request: str,
    facts: Facts,
    defaults: Mapping[str, str],
    proposed: Mapping[str, JSONValue] | None = None,
) -> SuggestedInputs:
    """Suggest values for a target's inputs.

    Args:
        schema: JSON Schema of the target's inputs.
        request: The user's words.
        facts: The facts of the request and its context.
        defaults: The caller's defaults for this target.
        proposed: A model's proposals; used if the schema accepts them and there is no surer source.
    """
    whole = inlined(dict(schema))
    properties = whole.get("properties") if isinstance(whole, dict) else None
    declared = properties if isinstance(properties, dict) else {}
    found: dict[str, SuggestedInput] = {}

    def offer(name: str, value: JSONValue, source: Source) -> None:
        if name in declared and name not in found and _accepts(declared[name], value):
            found[name] = SuggestedInput(name, value, source)

    for name, value in facts.inputs.items():
        offer(name, value, "context")
    for fact in facts.facts:
        for name, value in _places(fact, declared):
            if name in declared and name not in found and _accepts(declared[name], value):
                found[name] = SuggestedInput(name, value, fact.source)
                break
    for name, value in _said(_without(request, facts), declared):
        offer(name, value, "request")
    for name, value in (proposed or {}).items():
        offer(name, value, "model")
    for name, text in defaults.items():
        offer(name, text, "defaults")
    kept = _consistent(dict(schema), found)
    return SuggestedInputs(tuple(kept.values()), _missing(dict(schema), kept))


def accepts_input(schema: Mapping[str, JSONValue], name: str, value: JSONValue) -> bool:
    """Return whether a target declares an input and accepts this value for it."""
    whole = inlined(dict(schema))
    properties = whole.get("properties") if isinstance(whole, dict) else None
    return isinstance(properties, dict) and name in properties and _accepts(properties[name], value)


def _accepts(schema: JSONValue, value: JSONValue) -> bool:
    return not compile_schema(schema).issues(value)


def _places(fact: Fact, declared: Mapping[str, JSONValue]) -> Iterator[tuple[str, JSONValue]]:
    """Yield the inputs that a fact could be for, the most specific first."""
    if fact.artifact is not None:
        for name in declared:
            if name in ("artifact", "artifact_id") or name.endswith(("_artifact_key", "_artifact")):
                yield name, fact.artifact
    is_address = fact.value.startswith(("http://", "https://"))
    for kind in fact.kinds:
        for name in _NAMES.get(kind, ()):
            if kind == "issue_number":
                number = re.search(r"(\d+)\D*$", fact.value)
                if number:
                    yield name, int(number.group(1))
            elif kind in ("email", "repo_name") or is_address:
                yield name, fact.value
                yield name, [fact.value]


def _without(request: str, facts: Facts) -> str:
    """Return the beginning of a request without its addresses and file names."""
    text = excerpt(request, 4000, ending="")
    for fact in facts.facts:
        if fact.source == "request":
            text = text.replace(fact.value, " ")
    return text


def _said(text: str, declared: Mapping[str, JSONValue]) -> Iterator[tuple[str, JSONValue]]:
    """Yield inputs from the request's words: choices, counts, audience, topic."""
    folded = fold(text)
    for name, schema in declared.items():
        choices = schema.get("enum") if isinstance(schema, dict) else None
        mentioned = [
            choice
            for choice in (choices if isinstance(choices, list) else ())
            if isinstance(choice, str) and len(choice) > 2 and _says(folded, choice)
        ]
        if len(mentioned) == 1 and isinstance(schema, dict) and mentioned[0] != schema.get("default"):
            yield name, mentioned[0]
    for count, unit in _COUNTED.findall(text):
        for word, names in _COUNTS.items():
            if unit.lower().startswith(word):
                for name in names:
                    yield name, int(count)
    audience = audience_of(text)
    if audience is not None:
        yield "audience", audience
    topic = topic_of(text)
    if topic is not None:
        for name in _TOPICS:
            yield name, topic


def _says(text: str, choice: str) -> bool:
    # Only the first two other names of a kind are specific enough to mean this choice.
    names = (choice, *(kind_names().get(choice, ())[:2] if choice in ("pptx", "docx", "xlsx") else ()))
    return any(re.search(rf"\b{re.escape(fold(name))}\b", text) for name in names)


def topic_of(request: str) -> str | None:
    """Return the topic of a request, in its words; None when it does not name one."""
    for pattern in (_ASKED, _RESEARCHED, _TOPIC):
        match = pattern.search(request)
        if match is None:
            continue
        topic = match.group(1).strip()
        if pattern is not _ASKED:
            topic = _TOPIC_END.split(topic, maxsplit=1)[0]
        topic = excerpt(" ".join(topic.split()), _MAX_TOPIC, ending="").strip(" ,.;:!\"'")
        if len(topic) >= 3 and not topic.startswith(("http://", "https://")):
            return topic
    return None


def _consistent(schema: dict[str, JSONValue], found: dict[str, SuggestedInput]) -> dict[str, SuggestedInput]:
    """Leave out inputs that the schema refuses together, such as two of a choice, the least sure first."""
    kept = dict(found)
    whole = compile_schema(schema)
    while kept:
        values = {name: suggested.value for name, suggested in kept.items()}
        wrong = [issue for issue in whole.issues(values) if issue.rule != "required"]
        if not wrong or _is_only_incomplete(schema, values):
            return kept
        named = [issue.path[0] for issue in wrong if issue.path and issue.path[0] in kept]
        kept.pop(named[-1] if named else next(reversed(kept)))
    return kept


def _is_only_incomplete(schema: Mapping[str, JSONValue], values: Mapping[str, JSONValue]) -> bool:
    """Return whether the only problem is that no branch of a choice has all its required inputs yet."""
    if any(all(name in values for name in group) for group in _choices(schema)):
        return False
    properties = schema.get("properties")
    declared = properties if isinstance(properties, dict) else {}
    return all(name in declared and _accepts(declared[name], value) for name, value in values.items())


def _missing(schema: Mapping[str, JSONValue], found: Mapping[str, SuggestedInput]) -> tuple[str, ...]:
    names = _texts(schema.get("required"))
    groups = _choices(schema)
    if groups and not any(all(name in found for name in group) for group in groups):
        names += groups[0]
    return tuple(name for name in dict.fromkeys(names) if name not in found)


def _choices(schema: Mapping[str, JSONValue]) -> list[list[str]]:
    """Return the sets of inputs of which one must be given."""
    groups: list[list[str]] = []
    for keyword in ("oneOf", "anyOf"):
        branches = schema.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            if isinstance(branch, dict) and (names := _texts(branch.get("required"))):
                groups.append(names)
    return groups


def _texts(value: JSONValue) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
