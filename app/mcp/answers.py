"""The answer to a call: one compact JSON object, or one error an agent can act on.

Hosts differ in which part of a result their model sees: the structured content, the text, or both (tried with five
agents). So both hold the same object. Errors are only text, because clients validate structured content against the
output schema even for errors.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson
from ulid import ULID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from runner.issues import Issue

#: Longest answer, in bytes of JSON; a longer one is cut and says how to get the rest.
ANSWER_BYTES: Final = 25_000
#: Most links in one answer.
LINKS_MAX: Final = 20
#: Most field errors in one answer.
FIELD_ERRORS_MAX: Final = 20
#: Limits of texts and lists, tried in order until an answer is short enough.
_CUTS: Final = ((8_000, 100), (3_000, 50), (1_000, 25), (300, 10), (100, 5), (40, 2))
#: An object with more members than any of ours is a caller's data, and is cut as a whole.
_OWN_MEMBERS: Final = 40


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call.

    Attributes:
        text: The object as compact JSON.
        data: The object; None for an error.
        artifacts: Its artifacts, for links: id, name, media_type, size_bytes, uri.
        pictures: Its pictures, as the protocol's image content.
    """

    text: str
    data: dict[str, Any] | None
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    pictures: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence of an error's hint.

    Attributes:
        text: The sentence; `{tools}` in it is replaced by those of `tools` that the caller has.
        tools: Tools it recommends; a caller who has none of them does not get it.
    """

    text: str
    tools: tuple[str, ...] = ()

    def text_for(self, shown: Set[str]) -> str:
        """The sentence for a caller who has these tools; empty if it does not help them."""
        available = [tool for tool in self.tools if tool in shown]
        return self.text.replace("{tools}", ", ".join(available)) if available or not self.tools else ""


class CallError(Exception):
    """The refusal of a call, which an agent can act on.

    Attributes:
        body: `code`, `message`, `retryable`, `request_id` and, if there are any, `field_errors` and others.
        advice: The sentences of its hint.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        field_errors: Iterable[Mapping[str, Any]] = (),
        advice: Iterable[Advice] = (),
        request_id: str | None = None,
        **more: Any,  # noqa: ANN401 - JSON
    ) -> None:
        super().__init__(message)
        self.body: dict[str, Any] = {"code": code, "message": message, "retryable": retryable}
        if errors := list(field_errors)[:FIELD_ERRORS_MAX]:
            self.body["field_errors"] = errors
        self.body |= {name: value for name, value in more.items() if value is not None}
        self.body["request_id"] = request_id or f"req_{ULID()}"
        self.advice = tuple(advice)

    def answer(self, shown: Set[str]) -> Answer:
        """The error as an answer to a caller who has these tools."""
        hint = " ".join(text for one in self.advice if (text := one.text_for(shown)))
        error = {**self.body, "hint": hint} if hint else self.body
        encoded = orjson.dumps({"error": error})
        if len(encoded) > ANSWER_BYTES:
            encoded = orjson.dumps({"error": _cut(error, *_CUTS[2])})
        return Answer(encoded.decode(), None)


def answer_of(data: dict[str, Any], artifacts: list[dict[str, Any]], rest: str) -> Answer:
    """An answer, cut if it is too long.

    Args:
        data: The object.
        artifacts: Its artifacts.
        rest: How to get the rest if it is cut.
    """
    text = orjson.dumps(data)
    if len(text) > ANSWER_BYTES:
        for texts, items in _CUTS:
            cut = {**_cut(data, texts, items), "truncated": True, "rest": rest}
            text = orjson.dumps(cut)
            if len(text) <= ANSWER_BYTES:
                break
        data = cut
    return Answer(text.decode(), data, artifacts[:LINKS_MAX])


def wire_answer(answer: Answer) -> dict[str, Any]:
    """An answer as the JSON of the protocol's `CallToolResult`.

    The SDK's models would validate and copy it needlessly.
    """
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
    if answer.data is None:
        return {"content": content, "isError": True, "resultType": "complete"}
    content += answer.pictures
    content += map(_link, answer.artifacts)
    return {"content": content, "structuredContent": answer.data, "isError": False, "resultType": "complete"}


def _link(artifact: Mapping[str, Any]) -> dict[str, Any]:
    link = {"type": "resource_link", "uri": artifact["uri"], "name": artifact.get("name", artifact["id"])}
    for name, key in (("mimeType", "media_type"), ("size", "size_bytes")):
        if artifact.get(key) is not None:
            link[name] = artifact[key]
    return link


def field_error(issue: Issue, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An issue as agents see it: where, what, and what is allowed.

    Args:
        issue: The issue.
        schema: Schema of the arguments, which has the values that a parameter allows.
    """
    found: dict[str, Any] = {"path": ".".join(issue.path), "rule": issue.rule, "problem": issue.message}
    place = (schema or {}).get("properties", {}).get(issue.path[0] if issue.path else "", {})
    allowed = place.get("enum") or place.get("items", {}).get("enum")
    if allowed:
        found["allowed"] = allowed
    return found | (hinted(asdict(issue.hint)) if issue.hint else {})


def hinted(parts: Mapping[str, Any] | None) -> dict[str, Any]:
    """The hint of an issue: the nearest name as `closest`, other text as `hint`.

    Args:
        parts: The parts of its hint, as `runner.issues.Hint` names them.
    """
    found = {"closest": parts.get("closest"), "hint": parts.get("text")} if parts else {}
    return {name: value for name, value in found.items() if value}


def _cut(value: Any, texts: int, items: int) -> Any:  # noqa: ANN401
    match value:
        case str() if len(value) > texts:
            return f"{value[:texts]}…"
        case list():
            return [_cut(item, texts, items) for item in value[:items]]
        case dict() if len(value) > _OWN_MEMBERS:
            return {"truncated": True, "excerpt": orjson.dumps(value).decode()[:texts]}
        case dict():
            return {name: _cut(item, texts, items) for name, item in value.items()}
        case _:
            return value
