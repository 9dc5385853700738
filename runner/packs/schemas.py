"""The schemas of packs as checks need them: made once per pack, closed, standing alone."""

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
    """What a pack takes and gives, without references and without unlisted fields (pydantic ignores or refuses them).

    Attributes:
        input: Schema of its input.
        output: Schema of its output.
    """

    input: Schema
    output: Schema


_made: WeakKeyDictionary[Pack, PackSchemas] = WeakKeyDictionary()


def pack_schemas(pack: Pack) -> PackSchemas:
    """The pack's schemas; pydantic takes a millisecond to write them, so they are kept with the pack object."""
    schemas = _made.get(pack)
    if schemas is None:
        schemas = PackSchemas(closed(inlined(pack.input_schema)), closed(inlined(pack.output_schema)))
        _made[pack] = schemas
    return schemas


_checkers: WeakKeyDictionary[Pack, CompiledSchema] = WeakKeyDictionary()


def input_checker(pack: Pack) -> CompiledSchema:
    """The pack's input schema ready to check values, kept with the pack object, too."""
    checker = _checkers.get(pack)
    if checker is None:
        checker = _checkers[pack] = compile_schema(pack_schemas(pack).input)  # type: ignore[arg-type]
    return checker
