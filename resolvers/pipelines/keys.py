"""Keys of pipelines: refuses taken keys and finds free ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.permissions import may_change
from resolvers.problems import Conflict
from runner.definitions.keys import KEY
from runner.issues import Hint, Issue, error
from store.pipelines.commands import KeyTakenError, StarterNameError
from store.pipelines.reads import find_pipeline, names_that_begin

if TYPE_CHECKING:
    from resolvers.context import Context

_KEY_CHARACTERS = 64
#: Longest number after a key, with its hyphen.
_NUMBER_CHARACTERS = 12


async def taken_issue(context: Context, key: object) -> Issue | None:
    """Return why applying a document would refuse its key; None if the caller may use it."""
    if not isinstance(key, str) or not KEY.match(key):  # the check of the definition reports it
        return None
    found = await find_pipeline(context.services.store, key)
    if found is None or may_change(context, found):
        return None
    free = f"The nearest free key is `{await free_key(context, key)}`."
    if not found.builtin:
        return error(("key",), "key_taken", f"The key `{key}` belongs to another caller's pipeline.", free)
    refused = key_taken(StarterNameError(key, found.id, found.key))
    hint = Hint(f"{free} To change what the starter does, edit a copy of it.", operation="clone_pipeline")
    return error(("key",), "key_taken", refused.message, hint)


async def free_key(context: Context, wanted: str) -> str:
    """Return the wanted key, with the lowest number that makes it unique if it is taken."""
    taken = await names_that_begin(context.services.store, wanted[: _KEY_CHARACTERS - _NUMBER_CHARACTERS])
    key, number = wanted[:_KEY_CHARACTERS], 1
    while key in taken:
        number += 1
        ending = f"-{number}"
        key = wanted[: _KEY_CHARACTERS - len(ending)] + ending
    return key


def key_taken(taken: KeyTakenError) -> Conflict:
    """Make the refusal of a key that another pipeline has."""
    if not isinstance(taken, StarterNameError):
        return Conflict(
            f"The key `{taken.key}` belongs to another pipeline.",
            current_id=taken.pipeline_id,
            hint="Choose another key, or change that pipeline.",
        )
    return Conflict(
        f"The key `{taken.key}` belongs to the starter {taken.pipeline_id}."
        if taken.key == taken.starter
        else f"The key `{taken.key}` is an earlier name of the starter {taken.pipeline_id} and still refers to it.",
        current_id=taken.pipeline_id,
        hint=Hint(
            "Choose another key. To change what the starter does, edit a copy of it.", operation="clone_pipeline"
        ),
    )
