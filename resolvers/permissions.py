"""Who may see and change what; to anyone else it does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.problems import Forbidden, NotFound
from store.runs.reads import find_run_by_id
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Caller, Context
    from store.pipelines.reads import PipelineRecord
    from store.runs.reads import RunRecord


def visible_to(caller: Caller) -> str | None:
    """The filter for reads on behalf of a caller: the caller's id, or None with the scope `observe`."""
    return None if caller.may(Scope.OBSERVE) else caller.id


async def readable_run(context: Context, run_id: str) -> RunRecord:
    """A run the caller may see.

    Raises:
        NotFound: there is none, or it belongs to somebody else.
    """
    run = await find_run_by_id(context.services.store, run_id, visible_to=visible_to(context.caller))
    if run is None:
        seen = "You see your own runs; an administrator can let you see everybody's."
        raise NotFound("run", run_id, hint=None if context.caller.may(Scope.OBSERVE) else seen)
    return run


async def changeable_run(context: Context, run_id: str) -> RunRecord:
    """A run the caller may change.

    Raises:
        NotFound: there is none, or the caller may not see it.
        Forbidden: it belongs to somebody else.
    """
    run = await readable_run(context, run_id)
    if run.caller_id != context.caller.id and not context.caller.may(Scope.MANAGE):
        raise Forbidden(
            f"Run {run_id} belongs to another caller.", hint="Its caller or an administrator can change it."
        )
    return run


def may_change(context: Context, pipeline: PipelineRecord) -> bool:
    """Whether the caller may save versions of a pipeline or delete it: never of a starter, else its owner."""
    return not pipeline.builtin and (pipeline.owner_id == context.caller.id or context.caller.may(Scope.MANAGE))


def require_owner(context: Context, pipeline: PipelineRecord) -> None:
    """Refuses changes to a pipeline by others than its owner.

    Raises:
        Forbidden: the caller neither owns it nor may manage.
    """
    if not may_change(context, pipeline):
        raise Forbidden(
            f"The pipeline {pipeline.key} belongs to another caller.",
            hint="Clone it and change the copy, or ask its owner.",
        )
