"""Schemas of packs for checks: made once per pack, without references and unlisted fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from runner.schemas.shapes import Schema, closed, inlined
from runner.schemas.validation import CompiledSchema, compile_schema

if TYPE_CHECKING:
    from runner.packs.pack import Pack


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
