"""Parses pipeline definitions strictly and collects every issue.

Runs nothing and looks nothing up: `runner.definitions.check` checks packs and references. The values and their normal
form are in `runner.definitions.models`, re-exported here.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
import unicodedata
from typing import TYPE_CHECKING

from pydantic import ValidationError

from runner.agents.definition import AGENT
from runner.agents.parsing import read_agent
from runner.definitions.keys import (
    AGENT_STEP_KEYS,
    CONCURRENCY_KEY_CHARACTERS,
    CONCURRENCY_KEYS,
    CONCURRENCY_LIMIT,
    DEFINITION_KEYS,
    KEY,
    PACK_NAME_CHARACTERS,
    PACK_STEP_KEYS,
    PACK_VERSION_WANTED,
    RETRY_BOUNDS,
    DefinitionLimits,
)
from runner.definitions.models import (
    Concurrency,
    Definition,
    RetryPolicy,
    StepDefinition,
    definition_digest,
    definition_document,
    step_digest,
    step_document,
)
from runner.issues import MAX_ISSUES, Hint, Issue, did_you_mean, error, has_errors, nearest, shown, warning
from runner.json_values import digest, forbidden_text
from runner.packs.metadata import Metadata
from runner.schemas.pydantic_messages import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from runner.failures import JSONValue

#: Without the limits that are settings.
_STORED_LIMITS = DefinitionLimits(max_steps=sys.maxsize)


def key_from_name(name: str) -> str:
    """Derive the key of a pipeline from its name: `Web page → Deck!` becomes `web-page-deck`."""
    ascii_text = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode().lower()
    key = re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")
    if not key:
        key = f"pipeline-{digest(name)[:8]}"
    elif not key[0].isalpha():
        key = f"p-{key}"
    return key[:64].rstrip("-")


def parse_definition(
    document: Mapping[str, JSONValue], *, limits: DefinitionLimits | None = None
) -> tuple[Definition | None, list[Issue]]:
    """Read a document, collecting every issue rather than stopping at the first.

    Returns:
        The definition, or None if an issue is an error; and all issues, including warnings.
    """
    definition, issues = read_definition(document, limits=limits)
    return (None if has_errors(issues) else definition), issues


def parse_stored(document: Mapping[str, JSONValue]) -> tuple[Definition | None, list[Issue]]:
    """Read a stored document; a limit that was lowered since does not make it unreadable."""
    return parse_definition(document, limits=_STORED_LIMITS)


def read_definition(
    document: Mapping[str, JSONValue], *, limits: DefinitionLimits | None = None
) -> tuple[Definition | None, list[Issue]]:
    """Read a document like `parse_definition`, but return what could be read even if issues are errors.

    Parts with errors are blank, so that further checks can run.
    """
    reader = _Reader(limits or DefinitionLimits())
    return reader.definition(document), reader.issues


class _Reader:
    """Reads a document once and collects its issues."""

    def __init__(self, limits: DefinitionLimits) -> None:
        self.issues: list[Issue] = []
        self._limits = limits

    def definition(self, document: object) -> Definition | None:
        if not isinstance(document, dict):
            self._refuse((), "wrong_type", f"A definition must be an object, not {shown(document)}.")
            return None
        if unsafe := forbidden_text(document):
            self.issues.extend(unsafe)
            return None
        document = self._known(document, DEFINITION_KEYS, ())
        name = self._text(document, "name", (), required=True, limit=self._limits.max_name_characters)
        description = self._text(document, "description", (), limit=self._limits.max_description_characters)
        metadata = self._metadata(document.get("metadata"))
        return Definition(
            key=self._key(document, name),
            name=name,
            description=description,
            inputs=self._inputs(document.get("inputs")),
            deadline_seconds=self._seconds(document, "deadline_seconds", (), self._limits.max_deadline_seconds),
            steps=self._steps(document.get("steps")),
            metadata=metadata,
            concurrency=self._concurrency(document.get("concurrency")),
        )

    def _key(self, document: Mapping[str, JSONValue], name: str) -> str:
        key = document.get("key")
        if key is None:
            return key_from_name(name)
        if isinstance(key, str) and KEY.match(key):
            return key
        hint = f"For example, `{key_from_name(key if isinstance(key, str) else name)}`."
        self._refuse(("key",), "invalid_key", f"The key {shown(key)} {_KEY_RULE}", hint)
        return ""

    def _inputs(self, inputs: object) -> dict[str, JSONValue] | None:
        if inputs is None:
            return None
        path = ("inputs",)
        if not isinstance(inputs, dict):
            self._refuse(path, "wrong_type", f"`inputs` must be a JSON Schema of an object, not {shown(inputs)}.")
            return None
        properties = inputs.get("properties", {})
        if inputs.get("type", "object") != "object" or not isinstance(properties, dict):
            self._refuse(path, "invalid_schema", "`inputs` must describe an object with `properties`.", _INPUTS_HINT)
            return None
        if not properties and (strays := [key for key in inputs if key not in _SCHEMA_KEYS]):
            self._refuse(path, "invalid_schema", f"`inputs` has no `properties`, but {shown(strays[0])}.", _INPUTS_HINT)
            return None
        required = inputs.get("required", [])
        undeclared = (
            (index, name)
            for index, name in enumerate(required if isinstance(required, list) else [])
            if isinstance(name, str) and name not in properties
        )
        for index, name in itertools.islice(undeclared, MAX_ISSUES):
            where = (*path, "required", str(index))
            message = f"The required input `{name}` is not declared."
            self._refuse(where, "undeclared_input", message, did_you_mean(name, properties))
        return {"type": "object", **inputs}

    def _concurrency(self, concurrency: object) -> Concurrency | None:
        path = ("concurrency",)
        if concurrency is None:
            return None
        if not isinstance(concurrency, dict):
            message = f"`concurrency` must be an object such as {{limit: 1}}, not {shown(concurrency)}."
            self._refuse(path, "wrong_type", message)
            return None
        known = self._known(concurrency, CONCURRENCY_KEYS, path)
        limit = _number(known.get("limit"))
        if limit is None or limit != int(limit) or not 1 <= limit <= CONCURRENCY_LIMIT:
            wanted = f"a whole number from 1 to {CONCURRENCY_LIMIT:,}"
            message = f"`limit` must be {wanted}, not {shown(known.get('limit'))}."
            self._refuse((*path, "limit"), "out_of_range", message)
            return None
        key = self._text(known, "key", path, limit=CONCURRENCY_KEY_CHARACTERS)
        return Concurrency(int(limit), key or None)

    def _steps(self, steps: object) -> tuple[StepDefinition, ...]:
        if not isinstance(steps, list) or not steps:
            self._refuse(("steps",), "no_steps", "A pipeline needs a list of at least one step under `steps`.")
            return ()
        if len(steps) > self._limits.max_steps:
            message = f"The pipeline has {len(steps)} steps; the limit is {self._limits.max_steps}."
            self._refuse(("steps",), "too_many_steps", message, "Split it into several pipelines.")
            return ()
        parsed: list[StepDefinition] = []
        seen: dict[str, int] = {}
        for index, step in enumerate(steps):
            result = self._step(step, ("steps", str(index)))
            if result.id in seen:
                message = f"Steps {seen[result.id] + 1} and {index + 1} have the same id `{result.id}`."
                self._refuse(("steps", str(index), "id"), "duplicate_step_id", message, "Give each step its own id.")
            elif result.id:
                seen[result.id] = index
            parsed.append(result)
        return tuple(parsed)

    def _step(self, step: object, path: tuple[str, ...]) -> StepDefinition:
        """Read a step; parts that cannot be read are blank, so that other steps keep their positions."""
        if not isinstance(step, dict):
            self._refuse(path, "wrong_type", f"A step must be an object with `id` and `pack`, not {shown(step)}.")
            return StepDefinition("", "")
        kinds = [kind for kind in STEP_KINDS if kind in step]
        if len(kinds) > 1:
            self._refuse(path, "ambiguous_step", f"A step is either {' or '.join(kinds)}, not both.")
            return StepDefinition(self._step_id(step, path), "")
        meant = (nearest(key, {**PACK_STEP_KEYS, **AGENT_STEP_KEYS}) for key in step)
        kind = next((kind for kind in (*kinds, *meant) if kind in STEP_KINDS), "pack")
        return STEP_KINDS[kind](self, step, path)

    def _step_id(self, step: Mapping[str, JSONValue], path: tuple[str, ...]) -> str:
        step_id = step.get("id")
        if isinstance(step_id, str) and KEY.match(step_id):
            return step_id
        what = "The step has no id; it" if step_id is None else f"The step id {shown(step_id)}"
        hint = f"For example, `{key_from_name(step_id if isinstance(step_id, str) else 'step')}`."
        self._refuse((*path, "id"), "invalid_key", f"{what} {_KEY_RULE}", hint)
        return ""

    def _agent_step(self, step: Mapping[str, JSONValue], path: tuple[str, ...]) -> StepDefinition:
        step = self._known(step, AGENT_STEP_KEYS, path)
        within = (*path, AGENT)
        agent, template, issues = read_agent(step.get(AGENT), within)
        self.issues.extend(issues)
        block = step.get(AGENT)
        # `retry` and `timeout_seconds` belong to the step, but are accepted inside the block, too.
        shared = dict(block) if isinstance(block, dict) else {}
        for name in ("retry", "timeout_seconds"):
            if name in shared and name in step:
                self._refuse((*within, name), "stated_twice", f"`{name}` is set in the step and in its `agent` block.")
        holder, where = (shared, within) if "timeout_seconds" in shared else (step, path)
        retry, retry_path = (shared, within) if "retry" in shared else (step, path)
        return StepDefinition(
            id=self._step_id(step, path),
            pack=AGENT,
            input=template,
            retry=self._retry(retry.get("retry"), (*retry_path, "retry")),
            timeout_seconds=self._seconds(holder, "timeout_seconds", where, self._limits.max_timeout_seconds),
            agent=agent,
        )

    def _pack_step(self, step: Mapping[str, JSONValue], path: tuple[str, ...]) -> StepDefinition:
        step = self._known(step, PACK_STEP_KEYS, path)
        value = step.get("input", {})
        if not isinstance(value, dict | str | None):
            self._refuse((*path, "input"), "wrong_type", f"A step's input must be an object, not {shown(value)}.")
        pack = self._text(step, "pack", path, required=True, limit=PACK_NAME_CHARACTERS)
        if pack == AGENT:
            self._refuse((*path, "pack"), "unknown_pack", "`agent` is not a pack.", "Write an `agent:` block instead.")
            pack = ""
        return StepDefinition(
            id=self._step_id(step, path),
            pack=pack,
            version=self._version(step.get("version"), (*path, "version")),
            input={} if value is None else value,
            retry=self._retry(step.get("retry"), (*path, "retry")),
            timeout_seconds=self._seconds(step, "timeout_seconds", path, self._limits.max_timeout_seconds),
        )

    def _version(self, version: object, path: tuple[str, ...]) -> str | None:
        if version is None:
            return None
        written = str(version) if isinstance(version, int) and not isinstance(version, bool) else version
        if isinstance(written, str) and PACK_VERSION_WANTED.match(written):
            return written
        message = f"The pack version {shown(version)} is neither exact, like `1.2.3`, nor a major, like `1`."
        self._refuse(path, "invalid_version", message, 'Write `version: "1.2.3"` or `version: 1`.')
        return None

    def _retry(self, retry: object, path: tuple[str, ...]) -> RetryPolicy:
        if retry is None:
            return RetryPolicy()
        if not isinstance(retry, dict):
            self._refuse(
                path, "wrong_type", f"`retry` must be an object such as {{max_attempts: 3}}, not {shown(retry)}."
            )
            return RetryPolicy()
        retry = self._known(retry, RETRY_BOUNDS, path)
        values: dict[str, float] = {}
        for name, (low, high) in RETRY_BOUNDS.items():
            if (value := retry.get(name)) is None:
                continue
            number = _number(value)
            if number is None or not low <= number <= high or (name == "max_attempts" and number != int(number)):
                kind = "a whole number" if name == "max_attempts" else "a number"
                self._refuse(
                    (*path, name),
                    "out_of_range",
                    f"`{name}` must be {kind} from {low:g} to {high:g}, not {shown(value)}.",
                )
            else:
                values[name] = number
        attempts = int(values.pop("max_attempts", RetryPolicy().max_attempts))
        policy = RetryPolicy(max_attempts=attempts, **values)
        if policy.initial_seconds > policy.max_seconds and "max_seconds" in values:
            message = f"`initial_seconds` {policy.initial_seconds:g} is more than `max_seconds` {policy.max_seconds:g}."
            self.issues.append(warning((*path, "initial_seconds"), "out_of_range", message))
        return policy

    def _metadata(self, metadata: object) -> Metadata:
        if metadata is None:
            return Metadata()
        try:
            return Metadata.model_validate(metadata)
        except ValidationError as refused:
            for problem in refused.errors(include_url=False)[:MAX_ISSUES]:
                path = ("metadata", *(str(part) for part in problem["loc"]))
                if problem["type"] == "extra_forbidden":
                    self._unknown_key(path, Metadata.model_fields)
                else:
                    message = f"`{'.'.join(path)}` is {shown(problem['input'])}; {needed(problem)}."
                    self._refuse(path, "wrong_type", message)
        return Metadata()

    def _text(
        self, holder: Mapping[str, JSONValue], name: str, path: tuple[str, ...], *, limit: int, required: bool = False
    ) -> str:
        value = holder.get(name)
        where = (*path, name)
        if value is None and not required:
            return ""
        if value is None or value == "" or (isinstance(value, str) and required and not value.strip()):
            if required:
                self._refuse(where, "required", f"`{name}` is missing.")
        elif not isinstance(value, str):
            self._refuse(where, "wrong_type", f"`{name}` must be text, not {shown(value)}.", "Quote it.")
        elif len(value) > limit:
            self._refuse(where, "too_long", f"`{name}` has {len(value):,} characters; the limit is {limit:,}.")
        else:
            return value
        return ""

    def _seconds(self, holder: Mapping[str, JSONValue], name: str, path: tuple[str, ...], limit: float) -> float | None:
        value = holder.get(name)
        if value is None:
            return None
        number = _number(value)
        if number is not None and 0 < number <= limit:
            return number
        self._refuse(
            (*path, name),
            "out_of_range",
            f"`{name}` must be a number of seconds above 0, at most {limit:g}, not {shown(value)}.",
        )
        return None

    def _known(
        self, holder: Mapping[str, JSONValue], known: Iterable[str], path: tuple[str, ...]
    ) -> Mapping[str, JSONValue]:
        """Refuse unknown keys; return the holder with the keys they probably mean, which therefore are not missing."""
        meant: dict[str, JSONValue] = {}
        for key in itertools.islice((key for key in holder if key not in known), MAX_ISSUES):
            near = self._unknown_key((*path, key), known)
            if near is not None:
                meant[near] = holder[key]
        return {**meant, **holder}

    def _unknown_key(self, path: tuple[str, ...], known: Iterable[str]) -> str | None:
        near = nearest(path[-1], known)
        hint = Hint(closest=near) if near else Hint(f"Known keys: {', '.join(f'`{name}`' for name in known)}.")
        if path == ("triggers",):
            near, hint = None, Hint("Triggers are no part of a definition.", operation="apply_pipelines")
        self._refuse(path, "unknown_key", f"The key {shown(path[-1])} is unknown.", hint)
        return near

    def _refuse(self, path: tuple[str, ...], rule: str, message: str, hint: Hint | str | None = None) -> None:
        self.issues.append(error(path, rule, message, hint))


_KEY_RULE = "must be a lower-case letter followed by at most 63 lower-case letters, digits, `_` or `-`."
_INPUTS_HINT = "Write `inputs: {type: object, required: [url], properties: {url: {type: string}}}`."
_SCHEMA_KEYS = frozenset(
    {"type", "title", "description", "properties", "required", "additionalProperties", "$schema", "$defs"}
)

#: Reader of each kind of step, by the key that marks it.
STEP_KINDS: dict[str, Callable[[_Reader, Mapping[str, JSONValue], tuple[str, ...]], StepDefinition]] = {
    "pack": _Reader._pack_step,
    "agent": _Reader._agent_step,
}


def _number(value: object) -> float | None:
    """Return a finite number, whole ones as `int` so that they are written back unchanged; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value


__all__ = [
    "Definition",
    "DefinitionLimits",
    "Issue",
    "RetryPolicy",
    "StepDefinition",
    "definition_digest",
    "definition_document",
    "key_from_name",
    "parse_definition",
    "parse_stored",
    "read_definition",
    "step_digest",
    "step_document",
]
