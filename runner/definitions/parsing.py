"""Pipeline definitions: what a document says, read strictly, every issue collected.

Pure data: reading a definition runs nothing and looks nothing up. Whether its packs exist and its references lead
anywhere is for `runner.definitions.check`. The values and their normal form are in `runner.definitions.models`,
re-exported here.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from runner.agents.definition import AGENT
from runner.agents.parsing import read_agent
from runner.definitions.models import (
    Definition,
    RetryPolicy,
    StepDefinition,
    definition_digest,
    definition_document,
    step_digest,
    step_document,
)
from runner.issues import MAX_TOLD, Hint, Issue, did_you_mean, error, has_errors, nearest, shown, warning
from runner.json_values import digest, forbidden_text
from runner.packs.metadata import Metadata
from runner.schemas.pydantic_messages import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from runner.failures import JSONValue

KEY = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")
#: An exact version or a major.
PACK_VERSION_WANTED = re.compile(r"(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8}))?\Z")

DEFINITION_KEYS = ("key", "name", "description", "inputs", "deadline_seconds", "steps", "metadata")
PACK_STEP_KEYS = ("id", "pack", "version", "input", "retry", "timeout_seconds")
AGENT_STEP_KEYS = ("id", AGENT, "retry", "timeout_seconds")


#: Lowest and highest value of each retry setting.
_RETRY_BOUNDS: dict[str, tuple[float, float]] = {
    "max_attempts": (1, 10),
    "initial_seconds": (0, 3600),
    "factor": (1, 10),
    "max_seconds": (0, 3600),
    "jitter": (0, 1),
}


@dataclass(frozen=True, slots=True)
class DefinitionLimits:
    """How large a definition may be; each a setting with this default."""

    max_steps: int = 64
    max_deadline_seconds: float = 86_400
    max_timeout_seconds: float = 86_400
    max_name_characters: int = 200
    max_description_characters: int = 20_000


#: As large as any setting lets a definition be.
_ADMITTED = DefinitionLimits(max_steps=sys.maxsize)


def key_from_name(name: str) -> str:
    """The key a pipeline gets when its author gives none: `Web page → Deck!` becomes `web-page-deck`."""
    ascii_text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
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
        The definition, or None when an issue is an error; and all issues, warnings included.
    """
    definition, issues = read_definition(document, limits=limits)
    return (None if has_errors(issues) else definition), issues


def parse_stored(document: Mapping[str, JSONValue]) -> tuple[Definition | None, list[Issue]]:
    """Read a document that was admitted before; a limit that is lower by now does not make it unreadable."""
    return parse_definition(document, limits=_ADMITTED)


def read_definition(
    document: Mapping[str, JSONValue], *, limits: DefinitionLimits | None = None
) -> tuple[Definition | None, list[Issue]]:
    """As `parse_definition`, but gives what could be read even when issues are errors, so that checks can go on.

    What is wrong is left blank in it.
    """
    reader = _Reader(limits or DefinitionLimits())
    return reader.definition(document), reader.issues


class _Reader:
    """Walks a document once and notes what is wrong with it."""

    def __init__(self, limits: DefinitionLimits) -> None:
        self.issues: list[Issue] = []
        self._limits = limits

    def definition(self, document: object) -> Definition | None:
        if not isinstance(document, dict):
            self._refuse((), "wrong_type", f"A definition is an object, not {shown(document)}.")
            return None
        if unsafe := forbidden_text(document):
            self.issues.extend(unsafe)
            return None
        self._unknown_keys(document, DEFINITION_KEYS, ())
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
        )

    def _key(self, document: Mapping[str, JSONValue], name: str) -> str:
        key = document.get("key")
        if key is None:
            return key_from_name(name)
        if isinstance(key, str) and KEY.match(key):
            return key
        hint = f"Write for instance `{key_from_name(key if isinstance(key, str) else name)}`."
        self._refuse(("key",), "invalid_key", f"The key {shown(key)} {_KEY_RULE}", hint)
        return ""

    def _inputs(self, inputs: object) -> dict[str, JSONValue] | None:
        if inputs is None:
            return None
        path = ("inputs",)
        if not isinstance(inputs, dict):
            self._refuse(path, "wrong_type", f"`inputs` is a JSON Schema of an object, not {shown(inputs)}.")
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
        for index, name in itertools.islice(undeclared, MAX_TOLD):
            where = (*path, "required", str(index))
            message = f"The required input `{name}` is not declared."
            self._refuse(where, "undeclared_input", message, did_you_mean(name, properties))
        return {"type": "object", **inputs}

    def _steps(self, steps: object) -> tuple[StepDefinition, ...]:
        if not isinstance(steps, list) or not steps:
            self._refuse(("steps",), "no_steps", "A pipeline has a list of at least one step under `steps`.")
            return ()
        if len(steps) > self._limits.max_steps:
            message = f"The pipeline has {len(steps)} steps; at most {self._limits.max_steps} are allowed."
            self._refuse(("steps",), "too_many_steps", message, "Split it into several pipelines.")
            return ()
        parsed: list[StepDefinition] = []
        seen: dict[str, int] = {}
        for index, step in enumerate(steps):
            result = self._step(step, ("steps", str(index)))
            if result.id in seen:
                message = f"Step {index + 1} has the id `{result.id}`, as step {seen[result.id] + 1} has."
                self._refuse(("steps", str(index), "id"), "duplicate_step_id", message, "Give each step its own id.")
            elif result.id:
                seen[result.id] = index
            parsed.append(result)
        return tuple(parsed)

    def _step(self, step: object, path: tuple[str, ...]) -> StepDefinition:
        """The step; blank where it cannot be read, so that the positions of the others hold."""
        if not isinstance(step, dict):
            self._refuse(path, "wrong_type", f"A step is an object with `id` and `pack`, not {shown(step)}.")
            return StepDefinition("", "")
        kinds = [kind for kind in STEP_KINDS if kind in step]
        if len(kinds) > 1:
            self._refuse(path, "ambiguous_step", f"A step is of one kind, not both {' and '.join(kinds)}.")
            return StepDefinition(self._step_id(step, path), "")
        return STEP_KINDS[kinds[0] if kinds else "pack"](self, step, path)

    def _step_id(self, step: Mapping[str, JSONValue], path: tuple[str, ...]) -> str:
        step_id = step.get("id")
        if isinstance(step_id, str) and KEY.match(step_id):
            return step_id
        what = "The step has no id; it" if step_id is None else f"The step id {shown(step_id)}"
        hint = f"Write for instance `{key_from_name(step_id if isinstance(step_id, str) else 'step')}`."
        self._refuse((*path, "id"), "invalid_key", f"{what} {_KEY_RULE}", hint)
        return ""

    def _agent_step(self, step: Mapping[str, JSONValue], path: tuple[str, ...]) -> StepDefinition:
        self._unknown_keys(step, AGENT_STEP_KEYS, path)
        within = (*path, AGENT)
        agent, template, issues = read_agent(step.get(AGENT), within)
        self.issues.extend(issues)
        block = step.get(AGENT)
        # How long and how often stands beside the block as for any step; inside it is taken as well.
        shared = dict(block) if isinstance(block, dict) else {}
        for name in ("retry", "timeout_seconds"):
            if name in shared and name in step:
                self._refuse((*within, name), "stated_twice", f"`{name}` stands in the step and in its `agent` block.")
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
        self._unknown_keys(step, PACK_STEP_KEYS, path)
        value = step.get("input", {})
        if not isinstance(value, dict | str | None):
            self._refuse((*path, "input"), "wrong_type", f"A step's input is an object, not {shown(value)}.")
        pack = self._text(step, "pack", path, required=True, limit=200)
        if pack == AGENT:
            self._refuse((*path, "pack"), "unknown_pack", "`agent` is no pack.", "Write an `agent:` block instead.")
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
        message = f"The pack version {shown(version)} is neither exact, as `1.2.3`, nor a major, as `1`."
        self._refuse(path, "invalid_version", message, 'Write `version: "1.2.3"` or `version: 1`.')
        return None

    def _retry(self, retry: object, path: tuple[str, ...]) -> RetryPolicy:
        if retry is None:
            return RetryPolicy()
        if not isinstance(retry, dict):
            self._refuse(path, "wrong_type", f"`retry` is an object such as {{max_attempts: 3}}, not {shown(retry)}.")
            return RetryPolicy()
        self._unknown_keys(retry, _RETRY_BOUNDS, path)
        values: dict[str, float] = {}
        for name, (low, high) in _RETRY_BOUNDS.items():
            if (value := retry.get(name)) is None:
                continue
            number = _number(value)
            if number is None or not low <= number <= high or (name == "max_attempts" and number != int(number)):
                kind = "a whole number" if name == "max_attempts" else "a number"
                self._refuse(
                    (*path, name), "out_of_range", f"`{name}` is {kind} from {low:g} to {high:g}, not {shown(value)}."
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
            for problem in refused.errors(include_url=False)[:MAX_TOLD]:
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
            self._refuse(where, "wrong_type", f"`{name}` is text, not {shown(value)}.", "Quote it.")
        elif len(value) > limit:
            self._refuse(where, "too_long", f"`{name}` has {len(value):,} characters; at most {limit:,} are allowed.")
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
            f"`{name}` is a number of seconds above 0, at most {limit:g}, not {shown(value)}.",
        )
        return None

    def _unknown_keys(self, holder: Mapping[str, object], known: Iterable[str], path: tuple[str, ...]) -> None:
        for key in itertools.islice((key for key in holder if key not in known), MAX_TOLD):
            self._unknown_key((*path, key), known)

    def _unknown_key(self, path: tuple[str, ...], known: Iterable[str]) -> None:
        near = nearest(path[-1], known)
        hint = Hint(closest=near) if near else Hint(f"Known here: {', '.join(f'`{name}`' for name in known)}.")
        self._refuse(path, "unknown_key", f"The key {shown(path[-1])} is not known here.", hint)

    def _refuse(self, path: tuple[str, ...], rule: str, message: str, hint: Hint | str | None = None) -> None:
        self.issues.append(error(path, rule, message, hint))


_KEY_RULE = "must be a lower-case letter followed by at most 63 lower-case letters, digits, `_` or `-`."
_INPUTS_HINT = "Write `inputs: {type: object, required: [url], properties: {url: {type: string}}}`."
_SCHEMA_KEYS = frozenset(
    {"type", "title", "description", "properties", "required", "additionalProperties", "$schema", "$defs"}
)

#: The key that marks a step's kind, and how that kind is read.
STEP_KINDS: dict[str, Callable[[_Reader, Mapping[str, JSONValue], tuple[str, ...]], StepDefinition]] = {
    "pack": _Reader._pack_step,
    "agent": _Reader._agent_step,
}


def _number(value: object) -> float | None:
    """A finite number, whole ones as `int` so that they are written back as they were; None for anything else."""
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
