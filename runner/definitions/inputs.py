"""Run inputs: derives their schema, checks them before a start, fills in defaults, and makes the run's title."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runner.definitions.step_packs import pack_of_step
from runner.egress.web_address import has_url_credentials, url_account
from runner.excerpts import excerpt
from runner.issues import MAX_ISSUES, Hint, Issue, did_you_mean, error, shown
from runner.json_values import forbidden_text
from runner.packs.schemas import pack_schemas
from runner.schemas.defaults import DefaultsError, declared_defaults, filled
from runner.schemas.merging import combined, is_required
from runner.schemas.shapes import field_schema
from runner.schemas.validation import compile_schema, property_defaults
from runner.templates.references import INPUTS, TRIGGER, ReferenceSyntaxError, read_text
from runner.templates.templating import compile_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from runner.definitions.parsing import Definition
    from runner.definitions.step_packs import PackLookup
    from runner.failures import JSONValue
    from runner.packs.pack import Pack
    from runner.schemas.defaults import Default
    from runner.templates.references import Reference
    from runner.templates.templating import Template

_KEPT = "Remove them and store a credential instead: Packline keeps inputs with the run."
_PLACEHOLDER = re.compile(r"\s*\{\{\s*[A-Z][A-Z0-9_]*\s*\}\}\s*\Z")


def derive_input_schema(
    definition: Definition, packs: PackLookup, *, templates: Sequence[Template] | None = None
) -> dict[str, JSONValue]:
    """Derive the JSON Schema of the run inputs of a definition that declares none.

    An input has the schemas of all pack fields that it fills as a whole, type text if it is only part of texts, and no
    type if it is unknown. It is required if a use would fail without it.

    Args:
        definition: The pipeline.
        packs: The installed packs; unknown ones are ignored.
        templates: The compiled step inputs, if the caller has them.
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
        path: Path in the input that it reads; empty for all of it.
        schema: The expected schema; empty for anything.
        required: Whether the step fails without it.
        whole: Whether the value is passed on unchanged, so that the pack's default applies if it is absent.
    """

    path: tuple[str | int, ...]
    schema: dict[str, Any]
    required: bool
    whole: bool


def _use(reference: Reference, step_input: JSONValue, pack: Pack | None) -> _Use:
    path = reference.source_path[1:]
    absence_is_fine = reference.optional or reference.has_default
    if not reference.whole:
        # An input inside a text should be a text; a part of an input may be anything.
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
    """Drop a title that pydantic made from the field's name: the input may have another name."""
    made = str(location[-1]).replace("_", " ").title() if location else ""
    return {key: value for key, value in schema.items() if key != "title" or value != made}


def typed_path(value: JSONValue, path: Sequence[str]) -> tuple[str | int, ...]:
    """Convert the list positions of a path into a value to numbers."""
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
    """Derive the schema of one value from all its uses."""
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
    """Drop defaults that do not fit their own schema: a pack may have defaults that it refuses as values.

    Also drops inner defaults of null, since a template distinguishes an absent value from null.
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
    """Make the function for `Template.resolve` that tells whether a declared input may be absent."""
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
    """Return the properties of a schema and its alternatives."""
    names = set(schema.get("properties", ()))
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            if isinstance(branch, dict):
                names |= _listed(branch)
    return names


def check_inputs(schema: Mapping[str, JSONValue], inputs: JSONValue) -> list[Issue]:
    """Check the inputs of a run before it starts; nothing is coerced.

    Args:
        schema: The pipeline's input schema, declared or derived.
        inputs: The caller's inputs.

    Returns:
        Issues, all errors: undeclared and missing inputs, wrong types, forbidden characters, and placeholders such as
        `{{REPO_URL}}`. Defaults that would fill in for absent inputs are checked, too.
    """
    if not isinstance(inputs, dict):
        return [error((), "wrong_type", f"The inputs must be an object, not {shown(inputs)}.")]
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
        for name in itertools.islice((name for name in inputs if name not in names), MAX_ISSUES)
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
    """Check the defaults that would fill in for absent parts of inputs, but not those of whole inputs."""
    at_top = property_defaults(schema)
    try:
        _, used = filled(schema, inputs)
    except DefaultsError as unbounded:
        yield unbounded.issue
        return
    first: dict[int, Default] = {}
    for each in used:
        for issue in url_credential_issues(each.schema["default"]):
            message = f"The default of the input `{'.'.join(each.path)}` is a URL that contains credentials."
            hint = Hint("Give the input another value, or have the default replaced by a credential.")
            yield replace(issue.under(*each.path), message=message, hint=hint)
        if len(each.path) > 1 or each.path[0] not in at_top:
            first.setdefault(id(each.schema), each)  # thousands of items may lack the same field
    for (path, _), issue in _default_issues(schema, list(first.values())):
        yield _wrong_default(issue.under(*path), ".".join(path))


def _no_inputs(names: Mapping[str, object]) -> str | None:
    return None if names else "It takes no inputs."


def _purpose(schema: object) -> str | None:
    """Make the hint for a missing input from its description."""
    if isinstance(schema, dict) and isinstance(schema.get("description"), str):
        return f"Give it a value: {excerpt(schema['description'], 200)}"
    return None


def placeholder_issues(inputs: dict[str, JSONValue]) -> list[Issue]:
    """Return issues for values that are only a placeholder such as `{{REPO_URL}}`, ordered by path."""
    found: list[Issue] = []
    for path, text in _texts(inputs):
        if text[:200].lstrip().startswith("{{") and _PLACEHOLDER.match(text):
            message = f"The input `{'.'.join(path)}` is the placeholder {shown(text.strip())}, not a value."
            found.append(error(path, "placeholder", message, "Replace it with the real value."))
    return sorted(found, key=lambda issue: issue.path)


def url_credential_issues(
    inputs: JSONValue, *, what: str = "input", hint: str = _KEPT, holds: Callable[[str], bool] = has_url_credentials
) -> list[Issue]:
    """Return issues for values and keys that are URLs with a password or token, ordered by path.

    Inputs are stored as they are given, so these are refused before anything is stored. An issue about a key has the
    path of its object, so that no path contains credentials.

    Args:
        inputs: The value.
        what: What messages call it.
        hint: What to do instead.
        holds: Decides for a text.
    """
    found: list[Issue] = []
    pending: list[tuple[tuple[str, ...], JSONValue]] = [((), inputs)]
    while pending and len(found) < MAX_ISSUES:
        path, value = pending.pop()
        name = f"{what} `{'.'.join(path)}`" if path else what
        if isinstance(value, str) and holds(value):
            found.append(error(path, "url_credentials", f"The {name} is a URL that contains credentials.", hint))
        elif isinstance(value, dict) and any(map(holds, value)):
            message = f"A key of the {name} is a URL that contains credentials."
            found.append(error(path, "url_credentials", message, hint))
        else:
            pending.extend(_items(path, value))
    return sorted(found, key=lambda issue: issue.path)


def trigger_url_credential_issues(inputs: JSONValue) -> list[Issue]:
    """Return what `url_credential_issues` would find once the templates of a trigger's inputs are filled in."""
    return url_credential_issues(inputs, holds=lambda text: has_url_credentials(_filled_in(text, TRIGGER, "x")))


def literal_url_credentials(document: JSONValue) -> list[Issue]:
    """Return issues for URLs in a definition that contain credentials, also if templates make up the rest of them.

    What a template inserts is not in the definition, and so is not counted.
    """
    hint = "Remove them and store a credential instead: everybody who uses this server can read definitions."
    return url_credential_issues(document, what="field", hint=hint, holds=_holds_literal_credentials)


def _holds_literal_credentials(text: str) -> bool:
    if "${{" not in text:
        return has_url_credentials(text)
    name, colon, password = (url_account(_filled_in(text, INPUTS, "")) or "").partition(":")
    return bool(password if colon else name)


def _filled_in(text: str, root: str, value: str) -> str:
    """Replace each template in a text; one that is malformed stays."""
    if "${{" not in text:
        return text
    try:
        return "".join(part if isinstance(part, str) else value for part in read_text(text, (), root))
    except ReferenceSyntaxError:
        return text


def _texts(inputs: JSONValue) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield all texts in a value with their paths."""
    pending: list[tuple[tuple[str, ...], JSONValue]] = [((), inputs)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            yield path, value
        else:
            pending.extend(_items(path, value))


def _items(path: tuple[str, ...], value: JSONValue) -> Iterator[tuple[tuple[str, ...], JSONValue]]:
    """Yield the items of an object or a list with their paths."""
    if isinstance(value, dict):
        yield from (((*path, key), item) for key, item in value.items())
    elif isinstance(value, list):
        yield from (((*path, str(index)), item) for index, item in enumerate(value))


def with_defaults(schema: Mapping[str, JSONValue], inputs: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return the inputs a run stores: the caller's, completed with the schema's defaults.

    Raises:
        DefaultsError: There are too many defaults, which `check_inputs` reports.
    """
    return filled(schema, inputs)[0]


def default_issues(schema: Mapping[str, JSONValue]) -> list[Issue]:
    """Check the defaults of inputs like values, since a run gets them as values; each path begins with the name."""
    found = [*placeholder_issues(property_defaults(schema)), *compile_schema(dict(schema)).default_issues]
    return [_wrong_default(issue, issue.path[0]) for issue in found]


def inner_default_issues(schema: Mapping[str, JSONValue]) -> list[Issue]:
    """Check all other defaults of a schema; each path is one in the schema."""
    found = (
        replace(issue.under(*path, "default"), message=f"The default does not fit: {issue.message}")
        for (path, _), issue in _default_issues(schema, list(declared_defaults(schema)))
    )
    return list(itertools.islice(found, MAX_ISSUES))


def _default_issues(schema: Mapping[str, JSONValue], declared: Sequence[Default]) -> Iterator[tuple[Default, Issue]]:
    """Check defaults by the parts of the schema that declare them."""
    for each in declared:
        for issue in placeholder_issues({"": each.schema["default"]}):
            yield each, replace(issue, path=issue.path[1:])
    cases = [(dict(each.schema), each.schema["default"]) for each in declared]
    for position, issue in compile_schema(dict(schema)).issues_within(cases) if cases else ():
        yield declared[position], issue


def _wrong_default(issue: Issue, name: str) -> Issue:
    return replace(
        issue,
        message=f"The default of the input `{name}` does not fit: {issue.message}",
        hint=Hint("Give the input a value, or have its default fixed."),
    )


#: Longest title made of inputs.
_TITLE_CHARACTERS = 120
#: Names of inputs that describe a run best, best first.
_DESCRIPTIVE = (
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


#: What only HTML or Markdown has: a closing tag or one with attributes, a fence, a heading over text, a link, emphasis.
_MARKUP = re.compile(
    r"""<!doctype\b | <!-- | </[a-z] | <[a-z][a-z0-9]*\s+[a-z-]+=["'] | ^\ {0,3}(?:```|~~~|\#{1,6}\ .*\n\s*\n)
    | !?\[[^\]\n]+\]\([^)\n]+\) | \*\*(?=\S)[^*\n]+(?<=\S)\*\*""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
#: What a request in plain words may have once: a tag that it is about, or the beginning of a block.
_MARK = re.compile(
    r"""<(?:html|head|body|main|div|p|br|h[1-6]|a|img|ul|ol|li|table|svg|pre)[\s/>]
    | ^\ {0,3}(?:\#{1,6}\ |>\ |[-*+]\ |\|.*\||---$)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def run_title(definition_name: str, inputs: Mapping[str, JSONValue]) -> str:
    """Make a title that distinguishes runs of one pipeline: its name and its most descriptive input, in one line.

    If that input is HTML or Markdown, the title is the name alone.
    """
    ranked = [name for name in _DESCRIPTIVE if name in inputs]
    ranked += [name for name in inputs if name not in _DESCRIPTIVE]
    for name in ranked:
        value = inputs[name]
        if isinstance(value, str) and (words := " ".join(value[:500].split())):
            if _is_markup(value[:500]):
                break
            title = f"{definition_name}: {words}"
            return title if len(title) <= _TITLE_CHARACTERS else title[: _TITLE_CHARACTERS - 1].rstrip() + "…"
    return definition_name[:_TITLE_CHARACTERS]


def _is_markup(text: str) -> bool:
    return _MARKUP.search(text) is not None or len(_MARK.findall(text)) > 1
