"""Checks a definition before it is saved or run: reports everything that can be proved without running it."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runner.agents.advice import advice
from runner.agents.definition import AGENT
from runner.agents.pack import AgentPack
from runner.definitions.data_flow import destination, mismatch, takes
from runner.definitions.inputs import (
    default_issues,
    derive_input_schema,
    inner_default_issues,
    literal_url_credentials,
)
from runner.definitions.parsing import Definition, DefinitionLimits, StepDefinition, read_definition
from runner.definitions.step_inputs import SESSION_FIELD, without_session
from runner.definitions.step_packs import PackLookup, pack_of_step
from runner.excerpts import excerpt
from runner.issues import MAX_ISSUES, Hint, Issue, did_you_mean, error, has_errors, nearest, warning
from runner.packs.registry import REPAIR
from runner.packs.schemas import pack_schemas
from runner.schemas.admission import check_schema
from runner.schemas.merging import is_required
from runner.schemas.messages import types_text
from runner.schemas.shapes import ABSENT, OPEN, Fit, Schema, field_schema, fits, inlined
from runner.schemas.validation import compile_schema
from runner.templates.templating import Template, compile_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from runner.definitions.data_flow import Destination
    from runner.failures import JSONValue
    from runner.packs.pack import Pack
    from runner.templates.references import Reference


@dataclass(frozen=True, slots=True)
class Check:
    """Result of a check.

    Attributes:
        valid: Whether the definition can be saved: no issue is an error.
        issues: All errors and warnings.
        definition: The definition; None if it is not valid.
        understood: The definition, valid or not; None if it could not be read.
        input_schema: Schema of the run inputs, declared or derived; None if unknown.
    """

    valid: bool
    issues: tuple[Issue, ...]
    definition: Definition | None
    input_schema: dict[str, JSONValue] | None
    understood: Definition | None = None


def check_definition(
    document: Mapping[str, JSONValue], packs: PackLookup, *, limits: DefinitionLimits | None = None
) -> Check:
    """Check a document against the installed packs. Saves nothing, runs nothing, calls no model.

    Args:
        document: As parsed from YAML or JSON.
        packs: The installed packs.
        limits: Limits of its size.
    """
    definition, issues = read_definition(document, limits=limits)
    if definition is None:
        return Check(False, tuple(issues), None, None)
    issues = [
        *issues,
        *literal_url_credentials(dict(document)),
        *_superseded(definition, packs),
        *_practice(definition, packs),
        *_never_retried(document, definition, packs),
    ]
    templates = [compile_template(step.input) for step in definition.steps]
    input_schema = definition.inputs
    if input_schema is None:
        input_schema = derive_input_schema(definition, packs, templates=templates)
    else:
        refused = [issue.under("inputs") for issue in check_schema(input_schema)]
        issues += refused
        if has_errors(refused):
            input_schema = None
        else:
            issues += _wrong_defaults(input_schema)
    checker = _StepChecker(definition, packs, templates, input_schema)
    issues += checker.issues()
    valid = not has_errors(issues)
    return Check(valid, tuple(issues), definition if valid else None, input_schema, definition)


def check_steps(
    definition: Definition, packs: PackLookup, input_schema: dict[str, JSONValue] | None
) -> tuple[Issue, ...]:
    """Check only the steps of a definition.

    Args:
        definition: A definition that could be read.
        packs: The installed packs.
        input_schema: Schema of the run inputs, declared or derived; None if unknown.
    """
    templates = [compile_template(step.input) for step in definition.steps]
    return tuple(_StepChecker(definition, packs, templates, input_schema).issues())


def _wrong_defaults(input_schema: Mapping[str, JSONValue]) -> Iterator[Issue]:
    for issue in default_issues(input_schema):
        name, *rest = issue.path
        path = ("inputs", "properties", name, "default", *rest)
        yield replace(issue, path=path, hint=Hint("Change the default, or the schema of the input."))
    for issue in inner_default_issues(input_schema):
        yield replace(issue.under("inputs"), hint=Hint("Change the default, or its schema."))


def _superseded(definition: Definition, packs: PackLookup) -> Iterator[Issue]:
    known = packs.names()
    for index, name in enumerate(definition.metadata.supersedes):
        if name in known:
            continue
        path = ("metadata", "supersedes", str(index))
        if (broken := packs.unloaded(name)) is not None:
            yield error(path, "pack_not_loaded", broken.message_for(name), REPAIR)
        else:
            yield error(path, "unknown_pack", f"There is no pack `{name}` to supersede.", _near(name, known))


def _practice(definition: Definition, packs: PackLookup) -> Iterator[Issue]:
    """Warn that a practice step makes the pipeline a practice one, as `runner.definitions.stored` does."""
    if "practice" in definition.metadata.model_fields_set:
        return
    for index, step in enumerate(definition.steps):
        pack = pack_of_step(packs, step)
        if pack is not None and pack.metadata.practice:
            yield warning(
                ("steps", str(index), "pack"),
                "practice",
                f"`{pack.name}` is for practice, so this pipeline is, too: routing and search offer it only by name.",
                "Write `practice: false` under `metadata` to offer it, or `practice: true` to confirm this.",
            )
            return


def _never_retried(document: Mapping[str, JSONValue], definition: Definition, packs: PackLookup) -> Iterator[Issue]:
    """Warn of a `retry` that Packline ignores, because another attempt could repeat an external change."""
    written = document.get("steps")
    for index, step in enumerate(definition.steps):
        source, pack = (written[index] if isinstance(written, list) else None), pack_of_step(packs, step)
        if pack is None or not isinstance(source, dict) or source.get("retry") is None or step.retry.max_attempts == 1:
            continue
        if pack.at_most_once or (pack.effects == "external" and not pack.takes_idempotency_key):
            yield warning(
                ("steps", str(index), "retry"),
                "never_retried",
                f"`{pack.name}` is never retried, because a second attempt could repeat an external change.",
                "Remove `retry`. After a failure, you can resume the run.",
            )


def _near(word: str, known: Sequence[str]) -> Hint | None:
    near = nearest(word, known)
    return Hint(closest=near) if near else None


class _Hole:
    """Replaces a reference in a literal input; it has no JSON type, so that no rule reports it."""


_HOLE = _Hole()
_TEXT = {"type": "string"}
#: What people write who forget the `$` of a reference; an escaped reference, `$${{ … }}`, is meant as text.
_WITHOUT_DOLLAR = re.compile(r"(?<!\$)\{\{\s*(?:inputs|steps|trigger)\s*[.\[][^{}]*\}\}")
#: Keywords that are undecidable for a value with a hole.
_UNDECIDABLE = frozenset(
    {"anyOf", "oneOf", "not", "if", "enum", "const", "uniqueItems", "contains", "dependentSchemas"}
)


class _StepChecker:
    """Checks the steps of one definition in order."""

    def __init__(
        self,
        definition: Definition,
        packs: PackLookup,
        templates: Sequence[Template],
        input_schema: dict[str, JSONValue] | None,
    ) -> None:
        self._definition = definition
        self._input_schema = input_schema
        self._packs = packs
        self._templates = templates
        self._found = [pack_of_step(packs, step) for step in definition.steps]
        self._positions = {step.id: index for index, step in reversed(list(enumerate(definition.steps)))}
        self._read: set[str] = set()
        #: The declared inputs without references.
        self._declared = None if definition.inputs is None or input_schema is None else inlined(input_schema)
        #: The first destination of each undeclared input as a whole.
        self._destinations: dict[str | int, Destination] = {}
        self._fits: dict[tuple[int, int], tuple[Schema, Schema, Fit]] = {}
        self._hints = 0

    def issues(self) -> Iterator[Issue]:
        for index, step in enumerate(self._definition.steps):
            prefix = ("steps", str(index))
            if step.pack and self._found[index] is None:
                yield self._unknown_pack(step, prefix)
            template = self._templates[index]
            where = (*prefix, "input" if step.agent is None else AGENT)
            if step.agent is not None:
                warnings = advice(
                    step.agent,
                    has_timeout=step.timeout_seconds is not None,
                    is_read_later=self._is_read_later(index, step.id),
                )
                yield from (issue.under(*where) for issue in warnings)
            yield from (issue.under(*where) for issue in template.issues)
            if not template.issues:
                yield from (issue.under(*where) for issue in self._input(index, step, template))
                unmarked = itertools.islice(_without_dollar(step.input, ()), MAX_ISSUES)
                yield from (issue.under(*where) for issue in unmarked)
        yield from (issue.under("concurrency", "key") for issue in self._concurrency_key())
        has_steps = bool(self._definition.steps)  # none are left if they cannot be read
        if (
            has_steps
            and self._definition.inputs is not None
            and not any(template.issues for template in self._templates)
        ):
            yield from self._unused(self._definition.inputs)

    def _concurrency_key(self) -> Iterator[Issue]:
        """Check the template of the concurrency key, which may read run inputs alone."""
        concurrency = self._definition.concurrency
        if concurrency is None or concurrency.key is None:
            return
        template = compile_template(concurrency.key)
        yield from template.issues
        for reference in template.references:
            if reference.source_step is not None:
                message = f"{reference.expression} reads a step, which has no output before the run is admitted."
                yield error(reference.path, "not_an_input", message, "Use `inputs` only.")
                continue
            name = str(reference.source_path[0])
            if self._definition.inputs is None and self._input_schema is not None:
                names = self._input_schema.get("properties")
                if name not in (known := names if isinstance(names, dict) else {}):
                    message = f"{reference.expression} reads the input `{name}`, which no step reads."
                    yield error(reference.path, "undeclared_input", message, self._did_you_mean(name, known))
                continue
            if isinstance(found := self._run_input(reference), Issue):
                yield found

    def _is_read_later(self, index: int, key: str) -> bool:
        """Whether a later pack step reads an agent step's output or uses its session."""
        agent = self._definition.steps[index].agent
        if agent is not None and agent.workspace == "session":
            later = (pack for pack in self._found[index + 1 :] if pack is not None and not isinstance(pack, AgentPack))
            if any(pack.uses_session for pack in later):
                return True
        return any(
            reference.source_step == key
            for step, template in zip(self._definition.steps[index + 1 :], self._templates[index + 1 :], strict=True)
            if step.agent is None
            for reference in template.references
        )

    def _unused(self, inputs: Mapping[str, JSONValue]) -> Iterator[Issue]:
        declared = inputs.get("properties")
        for name in declared if isinstance(declared, dict) else ():
            if name not in self._read:
                yield warning(("inputs", "properties", name), "unused_input", f"No step reads the input `{name}`.")

    def _unknown_pack(self, step: StepDefinition, prefix: tuple[str, ...]) -> Issue:
        versions = self._packs.versions(step.pack)
        broken = self._packs.unloaded(step.pack)
        if versions and step.version is not None:
            message = f"The pack `{step.pack}` has no version `{step.version}` on this server."
            hint = f"Installed: {', '.join(versions)}."
            if broken is not None:
                hint = f"{hint} {broken.message_for(step.pack)}"
            return error((*prefix, "version"), "unknown_pack_version", message, hint)
        if broken is not None:
            return error((*prefix, "pack"), "pack_not_loaded", broken.message_for(step.pack), REPAIR)
        near = _near(step.pack, self._packs.names()) or "`packline packs` lists the installed packs."
        return error((*prefix, "pack"), "unknown_pack", f"There is no pack `{step.pack}`.", near)

    def _input(self, index: int, step: StepDefinition, template: Template) -> Iterator[Issue]:
        pack = self._found[index]
        if pack is not None:
            yield from _literals(pack, template)
        for reference in template.references:
            reads_input = reference.source_step is None
            producer = self._run_input(reference) if reads_input else self._output(index, reference)
            if isinstance(producer, Issue):
                yield producer
                if producer.severity == "error":
                    continue
                producer = True
            if pack is not None:
                yield from self._flow(reference, producer, step, pack)

    def _run_input(self, reference: Reference) -> Schema | Issue:
        """Return the schema of the run input that a reference reads, or the issue."""
        name = str(reference.source_path[0])
        self._read.add(name)
        if self._definition.inputs is None or self._declared is None:
            return True
        declared = self._definition.inputs.get("properties")
        names = declared if isinstance(declared, dict) else {}
        if name not in names:
            hint = self._did_you_mean(name, names) or "Declare it under `inputs`."
            message = f"{reference.expression} reads the input `{name}`, which is not declared."
            return error(reference.path, "undeclared_input", message, hint)
        return self._field(reference, self._declared, f"the input `{name}`")

    def _output(self, index: int, reference: Reference) -> Schema | Issue:
        """Return the schema of the output field that a reference reads, or the issue."""
        source = str(reference.source_step)
        position = self._positions.get(source)
        earlier = [step.id for step in self._definition.steps[:index] if step.id]
        if position is None:
            message = f"{reference.expression} reads the step `{source}`, which does not exist."
            return error(reference.path, "unknown_step", message, self._did_you_mean(source, earlier))
        if position >= index:
            what = "itself" if position == index else f"the later step `{source}`"
            message = f"{reference.expression} reads {what}; only earlier steps have an output."
            return error(reference.path, "forward_reference", message, self._did_you_mean(source, earlier))
        pack = self._found[position]
        if pack is None:
            return True
        if pack.preserves_session and reference.source_path == (SESSION_FIELD,):
            return {"type": "string"}
        return self._field(reference, pack_schemas(pack).output, f"the output of `{source}` ({pack.name})")

    def _field(self, reference: Reference, schema: Schema, holder: str) -> Schema | Issue:
        """Return the schema of the field that a reference reads within a self-contained schema, or the issue."""
        field = field_schema(schema, reference.source_path, stands_alone=True)
        if field is OPEN:
            message = f"Whether {holder} has {reference.source_text} is known only during the run."
            return warning(reference.path, "undecidable_reference", message)
        if field is not ABSENT:
            return field
        hint = None
        for depth, part in enumerate(reference.source_path):
            if field_schema(schema, reference.source_path[: depth + 1], stands_alone=True) is ABSENT:
                parent = field_schema(schema, reference.source_path[:depth], stands_alone=True)
                kind = parent.get("type") if isinstance(parent, dict) else None
                if depth and kind in ("string", "integer", "number", "boolean"):
                    inside = replace(reference, source_path=reference.source_path[:depth]).source_text
                    message = (
                        f"{reference.expression}: `{inside}` in {holder} is {types_text(kind)}, with nothing inside."
                    )
                    return error(reference.path, "unknown_field", message)
                hint = self._did_you_mean(str(part), _fields(parent))
                break
        message = f"{reference.expression}: {holder} has no field `{reference.source_text}`."
        return error(reference.path, "unknown_field", message, hint)

    def _flow(self, reference: Reference, producer: Schema, step: StepDefinition, pack: Pack) -> Iterator[Issue]:
        """Check whether the value of a reference fits its destination."""
        to = destination(reference, step.input, pack)
        if to is None:
            return
        if not reference.whole:
            if self._fit(_TEXT, to.schema) == "no":
                message = f"{reference.expression} is part of a text, but {to.name} does not accept text."
                hint = "Make the reference the whole value, without spaces around it, to keep its type."
                yield error(reference.path, "type_mismatch", message, hint)
            return
        if reference.has_default:
            for issue in compile_schema(to.schema).issues(reference.default)[:1]:
                message = f"The default of {reference.expression} does not fit {to.name}: {issue.message}"
                yield error(reference.path, "type_mismatch", message)
        derived = reference.source_step is None and self._definition.inputs is None
        if derived and len(reference.source_path) == 1:
            yield from self._conflict(reference, to)
        if not derived and producer is not True:
            match self._fit(producer, to.schema):
                case "no":
                    yield error(reference.path, "type_mismatch", mismatch(reference, producer, to))
                case "unknown":
                    message = f"Whether {reference.expression} fits {to.name} is checked only when the step runs."
                    yield warning(reference.path, "type_undecided", message)
        if (
            to.location
            and self._may_be_missing(reference)
            and is_required(
                field_schema(pack_schemas(pack).input, to.location[:-1], stands_alone=True), to.location[-1]
            )
        ):
            message = f"{reference.expression} may have no value, but {to.name} is required."
            yield warning(reference.path, "may_be_missing", message, "Give it a default, or make the input required.")

    def _conflict(self, reference: Reference, to: Destination) -> Iterator[Issue]:
        """Warn if no value of an undeclared input fits all its destinations.

        It is not an error, since a run may leave the input out.
        """
        name = reference.source_path[0]
        first = self._destinations.setdefault(name, to)
        if first is not to and self._fit(first.schema, to.schema) == self._fit(to.schema, first.schema) == "no":
            message = f"No value of the input `{name}` fits both: {takes(first)}, {takes(to)}."
            yield warning(reference.path, "input_conflict", message, "Use two inputs, one for each.")

    def _may_be_missing(self, reference: Reference) -> bool:
        if reference.has_default:
            return False
        if reference.optional:
            return True
        if reference.source_step is not None or self._definition.inputs is None or len(reference.source_path) != 1:
            return False
        schema: object
        if self._declared is None:  # the schema has errors, but its defaults count
            declared = self._definition.inputs.get("properties")
            schema = declared.get(str(reference.source_path[0])) if isinstance(declared, dict) else None
        else:
            schema = field_schema(self._declared, reference.source_path, stands_alone=True)
        has_default = isinstance(schema, dict) and "default" in schema
        return not has_default and not is_required(self._definition.inputs, reference.source_path[0])

    def _fit(self, producer: Schema, consumer: Schema) -> Fit:
        """Compare two schemas; cached, since thousands of references may share a pair."""
        known = self._fits.get((id(producer), id(consumer)))
        if known is None:
            known = producer, consumer, fits(producer, consumer, stand_alone=True)
            self._fits[id(producer), id(consumer)] = known
        return known[2]

    def _did_you_mean(self, word: str, known: Iterable[str]) -> Hint | None:
        """Make a hint, for the first `MAX_ISSUES` mistakes only."""
        self._hints += 1
        return did_you_mean(word, known) if self._hints <= MAX_ISSUES else None


def _without_dollar(value: JSONValue, path: tuple[str, ...]) -> Iterator[Issue]:
    """Warn of texts that look like a reference but lack its `$`, so that they are passed on unchanged."""
    if isinstance(value, str):
        for found in _WITHOUT_DOLLAR.finditer(value):
            reference = excerpt(found[0], 60)
            message = f"`{reference}` is passed on as text: references begin with `$`."
            yield warning(path, "reference_without_dollar", message, f"Write `${reference}` for the value.")
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _without_dollar(item, (*path, str(key)))


def _literals(pack: Pack, template: Template) -> Iterator[Issue]:
    """Check the literal parts of a step's input."""
    value = template.skeleton(_HOLE)
    schema = pack_schemas(pack).input
    session = field_schema(schema, (SESSION_FIELD,), stands_alone=True)
    holes = [reference.path for reference in template.references]
    if isinstance(value, dict) and SESSION_FIELD in value and session is ABSENT:
        if pack.uses_session and value[SESSION_FIELD] is not None and (SESSION_FIELD,) not in holes:
            message = f"`{SESSION_FIELD}` is a fixed value, but every run has sessions with new ids."
            hint = f"Write `${{{{ steps.<id>.output.{SESSION_FIELD} }}}}` with an earlier step, or leave it out."
            yield error((SESSION_FIELD,), "fixed_session", message, hint)
        value = without_session(value)
    for issue, (keyword, part) in compile_schema(schema).findings(value):  # type: ignore[arg-type]
        if issue.rule != "unknown_field" and any(issue.path[: len(hole)] == hole for hole in holes):
            continue
        if keyword in _UNDECIDABLE and _has_hole(part):
            continue
        yield issue


def _has_hole(value: Any) -> bool:  # noqa: ANN401
    if isinstance(value, dict):
        return any(_has_hole(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_hole(item) for item in value)
    return value is _HOLE


def _fields(schema: object) -> list[str]:
    """Return the names of the fields of a schema and its alternatives."""
    if not isinstance(schema, dict):
        return []
    names = list(schema.get("properties", ()))
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            names += _fields(branch)
    return names


__all__ = ["Check", "PackLookup", "check_definition", "check_steps"]
