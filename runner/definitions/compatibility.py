"""Checks whether a stored definition still fits the installed packs, which may have been upgraded since it was saved.

Repeats the check of the save against today's packs. `runner.definitions.preflight` reports missing packs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from runner.definitions.check import check_steps
from runner.definitions.inputs import derive_input_schema
from runner.definitions.parsing import parse_stored
from runner.issues import Hint

if TYPE_CHECKING:
    from runner.definitions.models import Definition
    from runner.definitions.step_packs import PackLookup
    from runner.failures import JSONValue
    from runner.issues import Issue

_MISSING_PACK = frozenset({"unknown_pack", "unknown_pack_version", "pack_not_loaded"})
_REMEDY = "Fix the pipeline and save it, or install the version of the pack it was made for."


def misfits(document: str, input_schema: str | None, packs: PackLookup) -> tuple[Issue, ...]:
    """Return where a stored definition does not fit; empty if it may run.

    Args:
        document: Canonical JSON, as `store.models` keeps it.
        input_schema: The version's schema, which checks run inputs even if it was derived from earlier packs.
        packs: The installed packs.

    Returns:
        Errors with a path of `steps`, the step's key, and the place in the step.
    """
    definition, _ = parse_stored(orjson.loads(document))
    if definition is None:  # compiling it reports that
        return ()
    if definition.inputs is not None:
        return _errors(definition, check_steps(definition, packs, definition.inputs))
    found = check_steps(definition, packs, None)
    derived_then = orjson.loads(input_schema) if input_schema is not None else None
    if derived_then is not None and derived_then != derive_input_schema(definition, packs):
        found += _changed_input_types(definition, derived_then, packs)
    return _errors(definition, found)


def _changed_input_types(definition: Definition, inputs: dict[str, JSONValue], packs: PackLookup) -> tuple[Issue, ...]:
    """Return run inputs whose derived type no longer fits the packs."""
    found = check_steps(replace(definition, inputs=inputs), packs, inputs)
    return tuple(issue for issue in found if issue.rule == "type_mismatch")


def _errors(definition: Definition, found: tuple[Issue, ...]) -> tuple[Issue, ...]:
    """Return each error once, worded for somebody who runs the pipeline rather than writes it."""
    reported: dict[tuple[tuple[str, ...], str], Issue] = {}
    for issue in found:
        if issue.severity != "error" or issue.rule in _MISSING_PACK:
            continue
        _, index, *place = issue.path
        key = definition.steps[int(index)].id
        reported.setdefault(
            (issue.path, issue.rule),
            replace(
                issue,
                path=("steps", key, *place),
                message=f"Step `{key}`: {issue.message}",
                hint=_with_remedy(issue.hint or Hint()),
            ),
        )
    return tuple(reported.values())


def _with_remedy(hint: Hint) -> Hint:
    return replace(hint, text=f"{hint.text} {_REMEDY}" if hint.text else _REMEDY)
