"""Analyses schemas without values: the schema of a field, and whether one schema fits another.

Only a proved contradiction is an error to the caller; everything open or undecidable is a warning. Constraints of
values (lengths, ranges, patterns) are checked by the run.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.failures import JSONValue

Schema: TypeAlias = "Mapping[str, Any] | bool"
Fit = Literal["yes", "no", "unknown"]


class Absence(Enum):
    """What `field_schema` returns when there is no schema."""

    ABSENT = "absent"
    OPEN = "open"


#: The schema excludes the field.
ABSENT: Final = Absence.ABSENT
#: The schema does not mention the field: it may be present and have any value.
OPEN: Final = Absence.OPEN

_MAX_DEPTH = 64


def resolve_pointer(root: object, reference: str) -> Schema | None:
    """Resolve a local `$ref` (`#`, `#/$defs/Page`); None when it leads nowhere."""
    node = root
    for part in reference.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~").replace("%24", "$").replace("%25", "%")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    if reference != "#" and not reference.startswith("#/"):
        return None
    return node if isinstance(node, dict | bool) else None


def inlined(schema: Schema, root: Schema | None = None) -> Schema:
    """Replace every local `$ref` in a schema by its definition, so that the schema is self-contained.

    Recursive parts become the schema that allows everything, and so does everything beyond 20,000 copied nodes, since
    references to references can grow without bound.
    """
    budget = [20_000]

    def copy(node: Any, open_references: frozenset[str], *, is_schema: bool = True) -> Any:  # noqa: ANN401
        budget[0] -= 1
        if isinstance(node, list):
            return [copy(item, open_references) for item in node]
        if not isinstance(node, dict):
            return node
        if budget[0] < 0:
            return {}
        if not is_schema:
            return {key: copy(item, open_references) for key, item in node.items()}
        reference = node.get("$ref")
        if isinstance(reference, str):
            target = resolve_pointer(root if root is not None else schema, reference)
            if target is None or reference in open_references:
                return {}
            named = copy(target, open_references | {reference})
            siblings = rest(node, open_references)
            if not siblings or named is False:
                return named
            if named is True:
                return siblings
            # Annotations next to the `$ref` win over those of the definition; constraints of both are kept.
            if all(key in _ANNOTATIONS or key not in named for key in siblings):
                return {**named, **siblings}
            return {"allOf": [named, siblings]}
        return rest(node, open_references)

    def rest(node: dict[str, Any], open_references: frozenset[str]) -> dict[str, Any]:
        return {
            key: item if key in _LITERALS else copy(item, open_references, is_schema=key not in _NAMED_SCHEMAS)
            for key, item in node.items()
            if key not in ("$ref", "$defs", "definitions")
        }

    return copy(schema, frozenset())  # type: ignore[no-any-return]


_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
_LITERALS = frozenset({"const", "default", "enum", "examples", "required", "discriminator"})


def field_schema(
    schema: Schema, path: Iterable[str | int], *, stands_alone: bool = False
) -> Schema | Literal[Absence.ABSENT, Absence.OPEN]:
    """Return the self-contained schema of the value at a path inside the values that a schema describes.

    Args:
        schema: Any schema; local references are followed.
        path: Names and list positions, outermost first; empty for the whole.
        stands_alone: Whether the schema has no references, like a result of `inlined`. Then it is not copied: a
            definition may have thousands of references, and a schema thousands of fields.

    Returns:
        The field's schema, ABSENT when the schema excludes the field, OPEN when it does not mention it.
    """
    current: Schema | Literal[Absence.ABSENT, Absence.OPEN] = schema if stands_alone else inlined(schema)
    for part in path:
        if not isinstance(current, dict | bool):
            return current
        current = _step_into(current, part, 0)
    return current


def _step_into(schema: Schema, part: str | int, depth: int) -> Schema | Literal[Absence.ABSENT, Absence.OPEN]:
    if isinstance(schema, bool) or depth > _MAX_DEPTH:
        return ABSENT if schema is False else OPEN
    types = _types(schema)
    if types is not None and ("object" if isinstance(part, str) else "array") not in types:
        return ABSENT
    own = _own_field(schema, part)
    if own is not OPEN:
        return own
    for branch in schema.get("allOf", ()):
        found = _step_into(branch, part, depth + 1)
        if found is not OPEN:
            return found
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            answers = [_step_into(branch, part, depth + 1) for branch in schema[keyword]]
            schemas = [answer for answer in answers if isinstance(answer, dict | bool)]
            if OPEN in answers:
                return OPEN
            if not schemas:
                return ABSENT
            return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return own


def _own_field(schema: Mapping[str, Any], part: str | int) -> Schema | Literal[Absence.ABSENT, Absence.OPEN]:
    """Return the field's schema by the schema's own keywords, without its alternatives."""
    if isinstance(part, int):
        prefix = schema.get("prefixItems", ())
        if part < len(prefix):
            return prefix[part]  # type: ignore[no-any-return]
        rest = schema.get("items", OPEN)
        if isinstance(schema.get("maxItems"), int) and part >= schema["maxItems"]:
            return ABSENT
    else:
        properties = schema.get("properties", {})
        if part in properties:
            return properties[part]  # type: ignore[no-any-return]
        if schema.get("patternProperties"):
            return OPEN
        rest = schema.get("additionalProperties", OPEN)
    if rest is False:
        return ABSENT
    return OPEN if rest is True else rest


def _types(schema: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the types that values can have, or None when the schema does not say; `number` includes `integer`."""
    if "const" in schema:
        return frozenset({_type_of(schema["const"])})
    if isinstance(schema.get("enum"), list):
        return frozenset(_type_of(value) for value in schema["enum"])
    declared = schema.get("type")
    if declared is None:
        return None
    types = frozenset([declared] if isinstance(declared, str) else declared)
    return types | {"integer"} if "number" in types else types


def admits_type(schema: Mapping[str, Any], value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a schema's own keywords allow values of this value's type; references are not followed."""
    types = _types(schema)
    return types is None or _type_of(value) in types


def _type_of(value: JSONValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def fits(producer: Schema, consumer: Schema, *, stand_alone: bool = False) -> Fit:
    """Return whether the values of one schema have types that another accepts.

    Args:
        producer: Schema of the values.
        consumer: Schema of the accepted values.
        stand_alone: Whether neither has references, like results of `field_schema`; then they are not copied.

    Returns:
        `yes` when every value fits, `no` when none can (also when parts of a list or object contradict), `unknown` when
        some may fit or the schemas do not say. Lengths, ranges and patterns are ignored.
    """
    if not stand_alone:
        producer, consumer = inlined(producer), inlined(consumer)
    return _Comparison().fits(producer, consumer)


class _Comparison:
    """One comparison; gives up as `unknown` after 20,000 pairs of schemas, since alternatives multiply."""

    def __init__(self) -> None:
        self._left = 20_000

    def fits(self, producer: Schema, consumer: Schema) -> Fit:
        self._left -= 1
        if consumer is True or consumer == {} or producer is False:
            return "yes"
        if consumer is False:
            return "no"
        if self._left < 0:
            return "unknown"
        if not _constrains(consumer):
            return "yes"
        if isinstance(producer, bool):
            return "unknown"
        for keyword in ("anyOf", "oneOf"):
            if branches := producer.get(keyword):
                answers = {self.fits(_merged(producer, keyword, branch), consumer) for branch in branches}
                return answers.pop() if len(answers) == 1 else "unknown"
        for keyword in ("anyOf", "oneOf"):
            if branches := consumer.get(keyword):
                answers = {self.fits(producer, _merged(consumer, keyword, branch)) for branch in branches}
                return "yes" if "yes" in answers else "unknown" if "unknown" in answers else "no"
        if parts := consumer.get("allOf"):
            return _all(self.fits(producer, part) for part in (_without_all_of(consumer), *parts))
        if parts := producer.get("allOf"):
            answers = {self.fits(part, consumer) for part in (_without_all_of(producer), *parts)}
            return "no" if "no" in answers else "yes" if "yes" in answers else "unknown"
        return self._plain(producer, consumer)

    def _plain(self, producer: Mapping[str, Any], consumer: Mapping[str, Any]) -> Fit:
        given, taken = _types(producer), _types(consumer)
        if given is None:
            return "unknown"
        if taken is not None:
            if not given & taken:
                return "no"
            if not given <= taken:
                return "unknown"
        if "not" in consumer or "if" in consumer:
            return "unknown"
        return _all(
            (
                _fits_choices(producer, consumer),
                _fits_format(producer, consumer),
                self._object(producer, consumer) if given == {"object"} else "yes",
                self._list(producer, consumer) if given == {"array"} else "yes",
            )
        )

    def _object(self, producer: Mapping[str, Any], consumer: Mapping[str, Any]) -> Fit:
        always = set(producer.get("required", ()))
        answers: list[Fit] = []
        for name in consumer.get("required", ()):
            if _step_into(producer, name, 0) is ABSENT:
                answers.append("no")
            elif name not in always:
                answers.append("unknown")
        for name, wanted in consumer.get("properties", {}).items():
            found = _step_into(producer, name, 0)
            if isinstance(found, dict | bool):
                answer = self.fits(found, wanted)
                answers.append("unknown" if answer == "no" and name not in always else answer)
        if consumer.get("additionalProperties") is False and "patternProperties" not in consumer:
            known = set(consumer.get("properties", ()))
            if always - known:
                answers.append("no")
            elif set(producer.get("properties", ())) - known or producer.get("additionalProperties") is not False:
                answers.append("unknown")
        return _all(answers)

    def _list(self, producer: Mapping[str, Any], consumer: Mapping[str, Any]) -> Fit:
        taken = consumer.get("items", True)
        if "prefixItems" in consumer or "prefixItems" in producer:
            return "unknown"
        return self.fits(producer.get("items", True), taken)


def _merged(schema: Mapping[str, Any], keyword: str, branch: Schema) -> Schema:
    """Combine one alternative with the keywords next to the alternatives."""
    siblings = {key: value for key, value in schema.items() if key != keyword and key not in _ANNOTATIONS}
    if not siblings or branch is False:
        return branch
    return siblings if branch is True else {**siblings, **branch}


def _without_all_of(schema: Mapping[str, Any]) -> Schema:
    return {key: value for key, value in schema.items() if key != "allOf"}


def _constrains(schema: Mapping[str, Any]) -> bool:
    return any(key in schema for key in ("type", "const", "enum", "anyOf", "oneOf", "allOf", "not", "if", "properties"))


def _all(answers: Iterable[Fit]) -> Fit:
    found = set(answers)
    return "no" if "no" in found else "unknown" if "unknown" in found else "yes"


def _choices(schema: Mapping[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    return schema.get("enum")


def _fits_choices(producer: Mapping[str, Any], consumer: Mapping[str, Any]) -> Fit:
    taken = _choices(consumer)
    if taken is None:
        return "yes"
    given = _choices(producer)
    if given is None:
        return "unknown"
    fitting = sum(1 for value in given if any(value == choice and type(value) is type(choice) for choice in taken))
    return "yes" if fitting == len(given) else "unknown" if fitting else "no"


def _fits_format(producer: Mapping[str, Any], consumer: Mapping[str, Any]) -> Fit:
    given, taken = producer.get("format"), consumer.get("format")
    return "yes" if taken is None or given is None or given == taken else "unknown"


def closed(schema: Schema) -> Schema:
    """Add `additionalProperties: false` to every object that lists its `properties` and does not mention others.

    That is what pydantic models mean although their schemas do not say it. Parts under `allOf` are left unchanged,
    since each lists only some of the properties.
    """

    def close(node: Any, *, is_schema: bool) -> Any:  # noqa: ANN401
        if isinstance(node, list):
            return [close(item, is_schema=True) for item in node]
        if not isinstance(node, dict):
            return node
        if not is_schema:
            return {key: close(item, is_schema=True) for key, item in node.items()}
        result = {
            key: item if key in _LITERALS or key == "allOf" else close(item, is_schema=key not in _NAMED_SCHEMAS)
            for key, item in node.items()
        }
        if "properties" in node and "additionalProperties" not in node and "allOf" not in node:
            result["additionalProperties"] = False
        return result

    return close(schema, is_schema=True)  # type: ignore[no-any-return]


_NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions", "dependentSchemas", "patternProperties"})
