"""Reads and checks definitions from callers and prepares them for saving. Saves and runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from resolvers.agents.agent_tools import with_tools_checked
from resolvers.artifacts.unreadable import may_name_artifacts, unreadable_inputs
from resolvers.operations import operation
from resolvers.pipelines.keys import taken_issue
from resolvers.pipelines.start_checks import found_issues, oversized_inputs
from resolvers.pipelines.versions import compiled
from resolvers.problems import Invalid
from resolvers.tools import DEFINITION, Tool
from runner.definitions.background_compile import in_background, in_background_if_large
from runner.definitions.check import Check, check_definition
from runner.definitions.inputs import check_inputs, with_defaults
from runner.definitions.literal_secrets import literal_secrets
from runner.definitions.models import definition_document
from runner.definitions.parsing import DefinitionLimits
from runner.definitions.preflight import StandaloneStep, preflight
from runner.definitions.stored import stored_form
from runner.issues import Issue, error, has_errors, place, shown
from runner.json_values import DocumentError, canonical_json, forbidden_text
from runner.yaml_documents import YamlDocument, load_document, load_written
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.packs.availability import Requirement
    from store.pipelines.rows import Definition, Heading

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class DefinitionText:
    """A definition as given: YAML text, or a JSON document."""

    yaml: str | None = None
    document: Mapping[str, JSONValue] | None = None


@dataclass(frozen=True, slots=True)
class DefinitionCheck:
    """Result of checking a definition.

    Attributes:
        document: The definition in normal form; None if it is not valid.
        preflight: What it needs and lacks on this server.
    """

    valid: bool
    issues: tuple[Issue, ...]
    input_schema: dict[str, JSONValue] | None
    document: dict[str, JSONValue] | None
    preflight: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class CheckedDefinition:
    """A valid definition, ready to save."""

    key: str
    heading: Heading
    definition: Definition
    warnings: tuple[Issue, ...]


@operation(
    "check_pipeline",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Check a pipeline",
        description="Checks a definition without saving it. Returns every issue with its path, the inputs a run "
        "needs, and what is missing on this server to run it.",
        parameters={"definition": DEFINITION},
    ),
)
async def check_pipeline(context: Context, *, definition: DefinitionText, inputs: JSONValue = None) -> DefinitionCheck:
    """Check whether a definition is valid and can run on this server; saves nothing.

    The key of a pipeline the caller may change is accepted, since applying the document updates that pipeline.
    """
    try:
        document = await document_of(context, definition)
    except Invalid as refused:
        return DefinitionCheck(False, refused.issues, None, None, ())
    work = partial(_check, context, document, definition.yaml)
    check = await in_background_if_large(context.caller.id, work, definition.yaml or document)
    issues = list(check.issues)
    key = check.definition.key if check.definition is not None else document.get("key")
    taken = await taken_issue(context, key)
    if taken is not None:
        issues.append(taken)
    if inputs is not None and check.input_schema is not None:
        issues += await _issues_of_inputs(context, check, check.input_schema, inputs)
    missing: list[Requirement] = []
    if check.understood is not None:
        known = (step for step in check.understood.steps if step.pack)
        steps = [StandaloneStep(step.id, step.pack, step.version, step.agent) for step in known]
        missing = preflight(steps, context.services.registry, check=context.requirement_check())
    return DefinitionCheck(
        valid=check.valid and taken is None,
        issues=tuple(issues),
        input_schema=check.input_schema,
        document=definition_document(check.definition) if check.definition is not None else None,
        preflight=tuple(missing),
    )


async def _issues_of_inputs(
    context: Context, check: Check, schema: dict[str, JSONValue], inputs: JSONValue
) -> list[Issue]:
    """Return why a start of the definition would refuse these inputs."""
    issues = [
        issue.under_argument("inputs") for issue in await found_issues(context, partial(check_inputs, schema), inputs)
    ]
    if has_errors(issues) or not isinstance(inputs, dict) or check.definition is None or not check.valid:
        return issues
    values = await in_background_if_large(context.caller.id, partial(with_defaults, schema, inputs), inputs)
    text = canonical_json(values)
    limit = context.services.limits.step_input_bytes
    if not may_name_artifacts(text) and len(text.encode()) <= limit:
        return issues
    document = canonical_json(definition_document(check.definition))
    definition = await compiled(context, document, canonical_json(schema))
    wrong = oversized_inputs(definition.steps, values, text, limit)
    return [*issues, *wrong, *await unreadable_inputs(context, definition.steps, values, text)]


async def document_of(context: Context, definition: DefinitionText) -> dict[str, JSONValue]:
    """Parse a definition.

    Raises:
        Invalid: It cannot be read, or has forbidden characters.
    """
    if definition.yaml is not None:
        return await _read(context, load_document, definition.yaml)
    document = object_of(definition.document, "definition")
    if unsafe := await in_background_if_large(context.caller.id, partial(forbidden_text, document), document):
        raise Invalid(unsafe)
    return document


async def documents_of(context: Context, yaml: str) -> list[YamlDocument]:
    """Parse every document of a YAML text, each with its own part of the text.

    Raises:
        Invalid: It cannot be read.
    """
    return await _read(context, load_written, yaml)


async def _read(context: Context, read: Callable[[str], _Read], text: str) -> _Read:
    try:
        return await in_background(context.caller.id, partial(read, text), text)
    except DocumentError as refused:
        unreadable = replace(error((), "unreadable", str(refused)), line=refused.line)
        raise Invalid([unreadable], summary="The definition cannot be read") from refused


def object_of(value: object, name: str) -> dict[str, JSONValue]:
    """Return a caller's JSON value that must be an object.

    Raises:
        Invalid: It is not an object.
    """
    if not isinstance(value, Mapping):
        message = f"It must be a JSON object, not {shown(value)}."
        raise Invalid([error((), "unreadable", message)], summary=f"The {name} cannot be read")
    return dict(value)


def _check(context: Context, document: Mapping[str, JSONValue], text: str | None = None) -> Check:
    limits = DefinitionLimits(max_steps=context.services.limits.steps)
    check = with_tools_checked(check_definition(document, context.services.registry, limits=limits))
    if check.definition is None:
        return check
    redactor = context.services.redactor
    found = literal_secrets(dict(document), redactor)
    if text is not None and not found:
        found = literal_secrets(text, redactor)  # the text is stored with its comments
    refused = {issue.path for issue in check.issues if issue.rule == "url_credentials"}
    found = [issue for issue in found if issue.path not in refused]
    return replace(check, issues=(*check.issues, *found)) if found else check


async def checked_definition(
    context: Context, document: Mapping[str, JSONValue], text: str | None
) -> CheckedDefinition:
    """Check a definition and convert it to its stored form; `text` is the caller's YAML, stored unchanged.

    Raises:
        Invalid: With all its issues.
    """
    return await in_background_if_large(context.caller.id, partial(_checked, context, document, text), text or document)


def _checked(context: Context, document: Mapping[str, JSONValue], text: str | None) -> CheckedDefinition:
    check = _check(context, document, text)
    if not check.valid or check.definition is None:
        wrong = next(issue for issue in check.issues if issue.severity == "error")
        where = place(wrong.path, document)
        raise Invalid(check.issues, summary=f"The definition is not valid at {where or 'the top level'}")
    heading, definition = stored_form(check.definition, check.input_schema, context.services.registry, text=text)
    return CheckedDefinition(check.definition.key, heading, definition, check.issues)
