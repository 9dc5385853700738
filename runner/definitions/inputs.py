"""The inputs of a run: the schema derived for them, the check before a run exists, defaults and the run's title."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from runner.definitions.step_packs import pack_of_step
from runner.excerpts import excerpt
from runner.issues import MAX_TOLD, Hint, Issue, did_you_mean, error, shown
from runner.json_values import forbidden_text
from runner.packs.schemas import pack_schemas
from runner.schemas.defaults import DefaultsError, declared_defaults, filled
from runner.schemas.merging import combined, is_required
from runner.schemas.shapes import field_schema, inlined
from runner.schemas.validation import compile_schema, property_defaults
from runner.templates.templating import compile_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from runner.definitions.parsing import Definition
    from runner.failures import JSONValue
    from runner.packs.pack import Pack
    from runner.packs.registry import LoadError
    from runner.templates.references import Reference
    from runner.templates.templating import Template

_PLACEHOLDER = re.compile(r"\s*\{\{\s*[A-Z][A-Z0-9_]*\s*\}\}\s*\Z")


class PackLookup(Protocol):
    """Where checks find packs: the registry, or a handful in a test."""

    def find(self, name: str, version: str | None) -> Pack | None:
        """The pack of that name and exact or major version; the newest for None."""

    def names(self) -> Sequence[str]:
        """Names of all packs."""

    def versions(self, name: str) -> Sequence[str]:
        """Installed versions of a pack, newest first."""

    def unloaded(self, name: str) -> LoadError | None:
        """The error that kept a pack from being loaded; None when there was none."""


def derive_input_schema(
    definition: Definition, packs: PackLookup, *, templates: Sequence[Template] | None = None
) -> dict[str, JSONValue]:
    """The JSON Schema of the run inputs when the author declares none.

    An input has the schema of the pack field it flows into whole (of all of them, when several), text when it is only
    put into texts, anything when the type is unknown. It is required when a use of it would fail without.

    Args:
        definition: The pipeline.
        packs: Where its packs are; unknown ones tell nothing.
        templates: The compiled step inputs, when the caller has them.
    """
    uses: dict[str, list[_Use]] = defaultdict(list)
    compiled = templates if templates is not None else [compile_template(step.input) for step in definition.steps]
    for step, template in zip(definition.steps, compiled, strict=True):
        pack = pack_of_step(packs, step)
        for reference in template.references:
            if reference.source_step is None:
                uses[str(reference.source_path[0])].append(_use(reference, step.input, pack))
    properties: dict[str, JSONValue] = {name: _with_fitting_defaults(_schema(found)) for name, found in uses.items()}
    required: list[JSONValue] = [name for name, found in uses.items() if any(use.required for use in found)]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class _Use:
    """One reference to a run input.

    Attributes:
        path: What of the input it reads; empty for all of it.
        schema: What is expected there; empty for anything.
        required: Whether the step fails without it.
        whole: Whether the value goes on as it is, and its absence leaves the pack's own default in force.
    """

    path: tuple[str | int, ...]
    schema: dict[str, Any]
    required: bool
    whole: bool


def _use(reference: Reference, step_input: JSONValue, pack: Pack | None) -> _Use:
    path = reference.source_path[1:]
    absence_is_fine = reference.optional or reference.has_default
    if not reference.whole:
        # Text is expected of an input that is put into texts; of a part of one, anything will do.
        return _Use(path, {} if path else {"type": "string"}, not absence_is_fine, whole=False)
    location = typed_path(step_input, reference.path)
    schema: dict[str, Any] = {}
    required = True
    if pack is not None:
        pack_input = pack_schemas(pack).input
        found = field_schema(pack_input, location, stands_alone=True)
        schema = _without_own_title(found, location) if isinstance(found, dict) else {}
        required = not location or is_required(field_schema(pack_input, location[:-1], stands_alone=True), location[-1])
    return _Use(path, schema, required and not absence_is_fine, whole=not reference.has_default)


def _without_own_title(schema: dict[str, Any], location: tuple[str | int, ...]) -> dict[str, Any]:
    """The schema without a title that pydantic made from the field's name: the input may have another."""
    made = str(location[-1]).replace("_", " ").title() if location else ""
    return {key: value for key, value in schema.items() if key != "title" or value != made}


def typed_path(value: JSONValue, path: Sequence[str]) -> tuple[str | int, ...]:
    """A path of texts into a value, its list positions as numbers again."""
    typed: list[str | int] = []
    for part in path:
        if isinstance(value, list):
            typed.append(int(part))
            value = value[int(part)]
        else:
            typed.append(part)
            value = value.get(part) if isinstance(value, dict) else None
    return tuple(typed)


def _schema(uses: list[_Use]) -> dict[str, Any]:
    """The schema of one value out of everything that is done with it."""
    here = [use for use in uses if not use.path]
    whole = [use.schema for use in here if use.whole or use.schema != {"type": "string"}]
    candidates = whole or [use.schema for use in here]
    fields: dict[str, list[_Use]] = defaultdict(list)
    items: list[_Use] = []
    for use in uses:
        if use.path:
            inner = _Use(use.path[1:], use.schema, use.required, use.whole)
            (items if isinstance(use.path[0], int) else fields[str(use.path[0])]).append(inner)
    if fields:
        needed = [name for name, found in fields.items() if any(use.required for use in found)]
        candidates.append(
            {
                "type": "object",
                "properties": {name: _schema(found) for name, found in fields.items()},
                "required": needed,
            }
        )
    if items:
        element = {key: value for key, value in _schema(items).items() if key != "default"}
        candidates.append({"type": "array", "items": element})
    schema = combined(candidates)
    if not all(use.whole and not use.path for use in uses) or schema.get("default", 0) is None:
        schema.pop("default", None)
    return schema


def _with_fitting_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without defaults it does not take itself: a pack may have some that it would refuse when given.

    Inside, defaults of null are dropped as well: a template distinguishes an absent value from null.
    """
    if "default" in schema and compile_schema(schema).issues(schema["default"]):
        schema = {key: value for key, value in schema.items() if key != "default"}
    inside = [path for path, inner in declared_defaults({"properties": {"": schema}}) if _is_unfit(inner)]
    if not inside:
        return schema
    copy: dict[str, Any] = deepcopy(schema)
    for _, _, *path in inside:
        node: Any = copy
        for part in path:
            node = node[int(part) if isinstance(node, list) else part]
        del node["default"]
    return copy


def _is_unfit(schema: Mapping[str, Any]) -> bool:
    return schema["default"] is None or bool(compile_schema(dict(schema)).issues(schema["default"]))


def declared_optional(schema: Mapping[str, JSONValue]) -> Callable[[tuple[str | int, ...]], bool]:
    """For `Template.resolve`: whether the input at a path is declared and may be absent."""
    properties, required = schema.get("properties"), schema.get("required")
    names = frozenset(properties if isinstance(properties, dict) else ()) - frozenset(
        name for name in (required if isinstance(required, list) else ()) if isinstance(name, str)
    )

    def may_be_absent(path: tuple[str | int, ...]) -> bool:
        if len(path) == 1:
            return path[0] in names
        holder = field_schema(dict(schema), path[:-1])
        declared = isinstance(holder, dict) and isinstance(field_schema(holder, path[-1:]), dict)
        return declared and path[-1] in _listed(holder) and not is_required(holder, path[-1])

    return may_be_absent


def _listed(schema: Any) -> set[str]:  # noqa: ANN401
    """Every property a schema or one of its alternatives lists."""
    names = set(schema.get("properties", ()))
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            if isinstance(branch, dict):
                names |= _listed(branch)
    return names


def check_inputs(schema: Mapping[str, JSONValue], inputs: JSONValue) -> list[Issue]:
    """Everything wrong with the inputs of a run, before it exists; nothing is coerced.

    Args:
        schema: The pipeline's input schema, declared or derived.
        inputs: As given.

    Returns:
        Issues, all errors: inputs not declared or missing, of the wrong type, holding what is refused everywhere, or
        nothing but a placeholder such as `{{REPO_URL}}`. Defaults that would fill in for absent ones are
        held to the same.
    """
    if not isinstance(inputs, dict):
        return [error((), "wrong_type", f"Inputs are an object, not {shown(inputs)}.")]
    if unsafe := forbidden_text(inputs):
        return unsafe
    declared = schema.get("properties")
    names = declared if isinstance(declared, dict) else {}
    issues = [
        error(
            (name,),
            "undeclared_input",
            f"This pipeline has no input {shown(name)}.",
            did_you_mean(name, names) or _no_inputs(names),
        )
        for name in itertools.islice((name for name in inputs if name not in names), MAX_TOLD)
    ]
    issues += placeholder_issues(inputs)
    reported = {issue.path for issue in issues}
    for issue in compile_schema(dict(schema)).issues(inputs):
        if issue.path in reported or (issue.rule == "unknown_field" and len(issue.path) == 1):
            continue
        if issue.rule == "required" and len(issue.path) == 1:
            name = issue.path[0]
            issue = error(
                issue.path, "required", f"The input `{name}` is required and missing.", _purpose(names.get(name))
            )
        issues.append(issue)
    if absent := property_defaults(schema).keys() - inputs.keys():
        issues += [issue for issue in default_issues(schema) if issue.path[0] in absent]
    return [*issues, *_wrong_inside(schema, inputs)]


def _wrong_inside(schema: Mapping[str, JSONValue], inputs: Mapping[str, JSONValue]) -> Iterator[Issue]:
    """What is wrong with the defaults that would be put into the inputs, but for those of whole inputs."""
    at_top = property_defaults(schema)
    looked_at: set[int] = set()
    try:
        _, used = filled(schema, inputs)
    except DefaultsError as unbounded:
        yield unbounded.issue
        return
    for path, declaring in used:
        if id(declaring) in looked_at or (len(path) == 1 and path[0] in at_top):
            continue
        looked_at.add(id(declaring))  # thousands of items may leave out the same
        for issue in _default_issues(schema, declaring):
            yield _wrong_default(issue.under(*path), ".".join(path))


def _no_inputs(names: Mapping[str, object]) -> str | None:
    return None if names else "It takes no inputs."


def _purpose(schema: object) -> str | None:
    """What to give for an input, as its author describes it."""
    if isinstance(schema, dict) and isinstance(schema.get("description"), str):
        return f"Give it a value: {excerpt(schema['description'], 200)}"
    return None


def placeholder_issues(inputs: dict[str, JSONValue]) -> list[Issue]:
    """Values that are nothing but a placeholder such as `{{REPO_URL}}`, in the order of their paths."""
    found: list[Issue] = []
    pending: list[tuple[JSONValue, tuple[str, ...]]] = [(inputs, ())]
    while pending:
        value, path = pending.pop()
        if isinstance(value, dict):
            pending.extend((item, (*path, key)) for key, item in value.items())
        elif isinstance(value, list):
            pending.extend((item, (*path, str(index))) for index, item in enumerate(value))
        elif isinstance(value, str) and value[:200].lstrip().startswith("{{") and _PLACEHOLDER.match(value):
            message = f"The input `{'.'.join(path)}` is the placeholder {shown(value.strip())}, not a value."
            found.append(error(path, "placeholder", message, "Put the real value in its place."))
    return sorted(found, key=lambda issue: issue.path)


def with_defaults(schema: Mapping[str, JSONValue], inputs: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """The inputs a run keeps: as given, what is absent filled in where the schema declares a `default`.

    Raises:
        DefaultsError: the defaults are too many, which `check_inputs` reports.
    """
    return filled(schema, inputs)[0]


def default_issues(schema: Mapping[str, JSONValue]) -> list[Issue]:
    """What is wrong with the defaults of inputs, as `check_inputs` tells it of values; each path begins at the name.

    A run gets them as if they had been given, so they have to pass what is given has to pass.
    """
    found = [*placeholder_issues(property_defaults(schema)), *compile_schema(dict(schema)).default_issues]
    return [_wrong_default(issue, issue.path[0]) for issue in found]


def inner_default_issues(schema: Mapping[str, JSONValue]) -> list[Issue]:
    """What is wrong with all other defaults of a schema, wherever it declares them; each path is one in the schema."""
    found = (
        replace(issue.under(*path, "default"), message=f"The default does not fit: {issue.message}")
        for path, declaring in declared_defaults(schema)
        for issue in _default_issues(schema, declaring)
    )
    return list(itertools.islice(found, MAX_TOLD))


def _default_issues(schema: Mapping[str, JSONValue], declaring: Mapping[str, JSONValue]) -> list[Issue]:
    """What is wrong with the default of a subschema."""
    default = declaring["default"]
    alone = inlined(declaring, schema)
    assert isinstance(alone, dict), "a schema that declares something is no boolean"
    placeholders = [replace(issue, path=issue.path[1:]) for issue in placeholder_issues({"": default})]
    return [*placeholders, *compile_schema(alone).issues(default)]


def _wrong_default(issue: Issue, name: str) -> Issue:
    return replace(
        issue,
        message=f"The default of the input `{name}` does not fit: {issue.message}",
        hint=Hint("Give the input a value, or have its default mended."),
    )


#: Longest title made of inputs.
_TITLE_CHARACTERS = 120
#: Inputs that say most about a run, the most telling first.
_TELLING = (
    "title",
    "topic",
    "query",
    "prompt",
    "question",
    "url",
    "repo",
    "repo_url",
    "issue",
    "name",
    "subject",
    "text",
)


def run_title(definition_name: str, inputs: Mapping[str, JSONValue]) -> str:
    """A title that tells runs of one pipeline apart: its name and the most telling input, one line."""
    ranked = [name for name in _TELLING if name in inputs] + [name for name in inputs if name not in _TELLING]
    for name in ranked:
        value = inputs[name]
        if isinstance(value, str) and (words := " ".join(value[:500].split())):
            title = f"{definition_name}: {words}"
            return title if len(title) <= _TITLE_CHARACTERS else title[: _TITLE_CHARACTERS - 1].rstrip() + "…"
    return definition_name[:_TITLE_CHARACTERS]
