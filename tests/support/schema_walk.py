"""Walks all that a caller can get at over GraphQL: every list, every object found in an answer, every field of each.

walk = Walk(client, scopes={"READ", "RUN"})
await walk.follow({"runs": [{}]}, ids)
assert walk.found == {}          # marks that were planted where the caller must not see them, and where they stood
assert walk.errors == []

An object is asked for itself by its id and for all that stands one step beyond it. That is far enough: every object
that an answer tells of must be there by its id, too, and is asked for all beyond it when the walk comes to it. So a
field of the root that answers with such an object is asked for the object alone: the walk comes to it again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from graphql import GraphQLObjectType, get_named_type

from tests.support.whole_schema import PAGE_BELOW, packed, parameters, root_fields, sdl

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tests.support.graphql_client import GraphQLClient

#: What every planted mark begins with.
MARK: Final = re.compile(r"hush[a-z]+")
#: The types of objects by what their ids begin with; packs go by name.
TYPES: Final = {
    "pipe": "Pipeline",
    "pver": "PipelineVersion",
    "run": "Run",
    "step": "RunStep",
    "att": "Attempt",
    "art": "Artifact",
    "call": "Caller",
    "tok": "ApiToken",
    "cred": "Credential",
    "aud": "AuditEntry",
    "gap": "GapProposal",
    "mem": "MemoryEntry",
    "trig": "Trigger",
}
#: Objects asked for in one request; its cost needs a setting `request_cost` of 1,000,000.
_AT_ONCE: Final = 25
_TYPED: Final = frozenset(TYPES.values())
_ID: Final = re.compile(rf"\b(?:{'|'.join(TYPES)}|sess)_[0-9A-HJKMNP-TV-Z]{{26}}\b")


def object_types() -> set[str]:
    """The types that the SDL says can be fetched by id."""
    node = sdl().type_map["Node"]
    return {
        kind.name for kind in sdl().type_map.values() if isinstance(kind, GraphQLObjectType) and node in kind.interfaces
    }


def marks_in(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Marks in JSON, each with the fields that lead there."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from marks_in(part, (*place, name))
            yield from ((found, ".".join((*place, "(a name)"))) for found in MARK.findall(str(name)))
    elif isinstance(value, list):
        for part in value:
            yield from marks_in(part, place)
    elif isinstance(value, str):
        yield from ((found, ".".join(place)) for found in MARK.findall(value))


@dataclass
class Walk:
    """One caller's walk.

    Attributes:
        scopes: What the token of the client allows; what needs more is not asked.
        ids: Of the objects that could be had by their ids.
        told: Ids of the objects that answers told of.
        said: Ids of objects and sessions, each with the fields in whose texts it stood; not what had just been sent.
        found: The marks met, each with the fields they stood in.
        errors: What was answered with errors.
        addresses: Of downloads, as they were told.
    """

    client: GraphQLClient
    scopes: Collection[str]
    ids: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    said: dict[str, set[str]] = field(default_factory=dict)
    found: dict[str, set[str]] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)
    addresses: set[str] = field(default_factory=set)
    _met: dict[str, None] = field(default_factory=dict)

    async def follow(self, roots: Mapping[str, Sequence[Mapping[str, Any]]], ids: Iterable[str] = ()) -> None:
        """Asks fields of the root with each of some arguments, then for every object met, and for those of `ids`."""
        self._met |= dict.fromkeys(ids)
        for name, askings in roots.items():
            asked = root_fields("Query")[name]
            for variables in askings:
                declared, passed = parameters(asked, variables)
                answered = get_named_type(asked.type).name
                depth = 0 if answered in (*TYPES.values(), "Node") else 1
                for selection in packed(answered, depth, self.scopes, PAGE_BELOW):
                    await self.ask(f"query {declared} {{ {name}{passed} {{ {selection} }} }}", variables)
        done = 0
        while done < len(self._met):
            wave = [*self._met][done:]
            done += len(wave)
            for prefix, kind in TYPES.items():
                await self._ask_objects(kind, [known for known in wave if known.partition("_")[0] == prefix])

    async def _ask_objects(self, kind: str, wave: Sequence[str]) -> None:
        """Asks for each object by itself, and for the rest of those that are there some at a time."""
        first, *others = packed(kind, 1, self.scopes)
        found = []
        for known in wave:
            data = await self.ask(
                f"query ($id: ID!) {{ node(id: $id) {{ ... on {kind} {{ {first} }} }} }}", {"id": known}
            )
            if data is not None and data["node"] is not None:
                found.append(known)
        self.ids |= {*found}
        for selection in others:
            document = f"query ($ids: [ID!]!) {{ objects: nodes(ids: $ids) {{ ... on {kind} {{ {selection} }} }} }}"
            for start in range(0, len(found), _AT_ONCE):
                data = await self.ask(document, {"ids": found[start : start + _AT_ONCE]})
                assert data is None or None not in data["objects"]

    async def ask(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any] | None:
        """The data of a document; what is in it is looked at, and errors are kept."""
        answer = await self.client.execute(document, variables)
        self.errors += [{**error, "document": document} for error in answer.errors]
        data: dict[str, Any] | None = answer.body.get("data")
        self.look(data, variables)
        return data

    def look(self, value: object, sent: object = None) -> None:
        """Takes note of what an answer holds, however it was had.

        Args:
            value: The answer.
            sent: What it answers: ids in it may be repeated.
        """
        for mark, place in marks_in(value):
            self.found.setdefault(mark, set()).add(place)
        self.told |= {str(each["id"]) for each in _objects(value) if each.get("__typename") in _TYPED and "id" in each}
        known = {found for text, _ in _texts(sent) for found in _ID.findall(text)}
        for text, place in _texts(value):
            for found in _ID.findall(text):
                if not found.startswith("sess_"):
                    self._met[found] = None
                if found not in known:
                    self.said.setdefault(found, set()).add(place)
            if "signature=" in text:
                self.addresses.add(text)


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    if isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _objects(part)


def _texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield value, place
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, place)
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _texts(part, f"{place}.{name}")
