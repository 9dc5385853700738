"""Schemas of packs: whether they can be used, and for checks, without references and unlisted fields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import orjson
from pydantic import TypeAdapter

from runner.excerpts import excerpt
from runner.json_values import forbidden_text
from runner.schemas.admission import check_schema
from runner.schemas.shapes import Schema, closed, inlined
from runner.schemas.validation import CompiledSchema, compile_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel

    from runner.issues import Issue
    from runner.packs.pack import Pack

#: Rules of `check_schema` that a pack's schema may break, since its author is trusted and pydantic checks the values.
_TOLERATED = frozenset({"not_a_number", "schema_too_large", "too_many_patterns", "unsupported_schema"})
_PROBLEM_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class PackSchemas:
    """A pack's schemas without references and without unlisted fields, which pydantic ignores or refuses."""

    input: Schema
    output: Schema


_schemas: WeakKeyDictionary[Pack, PackSchemas] = WeakKeyDictionary()


def pack_schemas(pack: Pack) -> PackSchemas:
    """Return a pack's schemas; cached by pack, since pydantic takes a millisecond to make them."""
    schemas = _schemas.get(pack)
    if schemas is None:
        schemas = PackSchemas(closed(inlined(pack.input_schema)), closed(inlined(pack.output_schema)))
        _schemas[pack] = schemas
    return schemas


_checkers: WeakKeyDictionary[Pack, CompiledSchema] = WeakKeyDictionary()


def input_checker(pack: Pack) -> CompiledSchema:
    """Return the compiled input schema of a pack; cached by pack."""
    checker = _checkers.get(pack)
    if checker is None:
        checker = _checkers[pack] = compile_schema(pack_schemas(pack).input)  # type: ignore[arg-type]
    return checker


def schema_problem(pack: Pack) -> str | None:
    """Return why a pack's input or output has no schema that can be listed and checked; None if both have."""
    for role, model in (("input", pack.input_model), ("output", pack.output_model)):
        try:
            schema = pack.input_schema if role == "input" else pack.output_schema
        except BaseException as error:  # the author's models may raise anything, native panics included
            field = _without_schema(model)
            where = f"The field `{field}` of its {role} model" if field else f"Its {role} model"
            reason = excerpt(str(error).partition("\n\n")[0], _PROBLEM_CHARACTERS)
            return f"{where} has no JSON Schema: {reason}"
        issue = _first_error(forbidden_text(schema)) or _first_error(_issues(orjson.dumps(schema)))
        if issue is not None and not (role == "output" and issue.rule == "unsafe_pattern"):
            where = ".".join(issue.path)
            return f"The JSON Schema of its {role} is wrong at {where or 'the top level'}: {issue.message}"
    return None


def _without_schema(model: type[BaseModel]) -> str | None:
    """Find the field because of which a model has no schema."""
    for name, field in model.model_fields.items():
        try:
            TypeAdapter(field.rebuild_annotation()).json_schema()
        except BaseException:
            return name
    return None


# Checking the two schemas of a shipped pack takes 10 ms of processor time, again whenever its folder is loaded again.
@lru_cache(maxsize=512)
def _issues(schema: bytes) -> tuple[Issue, ...]:
    return tuple(check_schema(orjson.loads(schema)))


def _first_error(issues: Iterable[Issue]) -> Issue | None:
    refused = (issue for issue in issues if issue.severity == "error" and issue.rule not in _TOLERATED)
    return next(refused, None)
