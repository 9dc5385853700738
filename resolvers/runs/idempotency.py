"""Idempotency keys of starts: finds the run of an earlier call with the same key, or refuses the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.problems import Conflict
from runner.json_values import comparable_json, digest
from store.runs.idempotency_keys import IDEMPOTENCY_KEEP, find_earlier_start

if TYPE_CHECKING:
    from resolvers.context import Context
    from runner.failures import JSONValue


async def earlier_run(context: Context, key: str, request: str | None) -> str | None:
    """Return the run that the caller's earlier start with this key led to; None if there was none.

    Raises:
        Conflict: The key belongs to another request, or its run was deleted.
    """
    earlier = await find_earlier_start(context.services.store, context.caller.id, key)
    if earlier is None or context.services.now() - earlier.created_at > IDEMPOTENCY_KEEP:
        return None
    if earlier.gone:
        raise run_is_gone(key, earlier.run_id)
    if earlier.request_digest != request:
        raise used_for_another(key, earlier.run_id)
    return earlier.run_id


def request_digest(key: str | None, operation_name: str, *arguments: JSONValue) -> str | None:
    """Digest a start's arguments, to tell whether two starts with one idempotency key are the same request.

    Leaves out how long the caller waits and how a number is written. None without a key.
    """
    return None if key is None else digest(comparable_json([operation_name, *arguments]))


def used_for_another(key: str | None, run_id: str) -> Conflict:
    """Make the refusal of an idempotency key that belongs to another request."""
    return Conflict(
        f"The idempotency key `{key}` was used for another request.",
        current_id=run_id,
        hint="Use a new key for a new request, or repeat the first request unchanged.",
    )


def run_is_gone(key: str | None, run_id: str) -> Conflict:
    """Make the refusal of an idempotency key whose run was deleted: a repeated request must not run it again."""
    return Conflict(
        f"The idempotency key `{key}` started run {run_id}, which has been deleted.",
        current_id=run_id,
        hint="Nothing was started. Use a new key to run it again.",
    )


def deleted_before_the_answer(run_id: str) -> Conflict:
    """Make the refusal of a start whose run was deleted while the call waited for its end."""
    return Conflict(
        f"Run {run_id} was deleted before the call that started or joined it was answered.",
        current_id=run_id,
        hint="There is no result to return. Use a new idempotency key to run it again.",
    )
