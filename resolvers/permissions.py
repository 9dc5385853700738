"""Permission checks of runs and pipelines. What callers may not see is reported as not found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvers.problems import Forbidden, NotFound
from runner import tracing
from runner.issues import Hint
from store.access.callers import ADMIN_SUBJECT
from store.access.tokens import lost_scope
from store.runs.reads import find_run_by_id
from store.states import Scope

if TYPE_CHECKING:
    from resolvers.context import Caller, Context, Services
    from store.access.callers import CallerRecord
    from store.pipelines.reads import PipelineRecord
    from store.runs.reads import RunRecord


def visible_to(caller: Caller) -> str | None:
    """Return the filter for a caller's reads: the caller's id, or None (everything) with the scope `observe`."""
    return None if caller.may(Scope.OBSERVE) else caller.id


async def lost_access(services: Services, owner: CallerRecord, scope: Scope) -> str | None:
    """Say why what runs in a caller's name, such as a trigger, may no longer do what needs a scope; None if it may.

    The administrator keeps the machine, and perhaps the bootstrap token, when its tokens are revoked. Of a caller for
    whom an OpenID provider vouches, nothing kept here says what it may do now.
    """
    if owner.disabled_at is not None:
        return owner_disabled(owner.name)
    if owner.subject == ADMIN_SUBJECT or owner.vouched_at is not None:
        return None
    if await lost_scope(services.store, owner.id, scope, services.now()):
        return f"Its owner {owner.name} no longer has a token with the `{scope.value}` scope."
    return None


def owner_disabled(name: str) -> str:
    """Describe why the triggers of a disabled caller are paused."""
    return f"Its owner {name} is disabled."


async def readable_run(context: Context, run_id: str) -> RunRecord:
    """Get a run the caller may see.

    Raises:
        NotFound: It does not exist or belongs to another caller.
    """
    run = await find_run_by_id(context.services.store, run_id, visible_to=visible_to(context.caller))
    if run is None:
        seen = "You see only your own runs. With the `observe` scope, you see the runs of all callers."
        raise NotFound("run", run_id, hint=None if context.caller.may(Scope.OBSERVE) else seen)
    return run


async def changeable_run(context: Context, run_id: str) -> RunRecord:
    """Get a run the caller may change, and note its id on the span of the command.

    Raises:
        NotFound: It does not exist or the caller may not see it.
        Forbidden: It belongs to another caller.
    """
    run = await readable_run(context, run_id)
    if run.caller_id != context.caller.id and not context.caller.may(Scope.MANAGE):
        raise Forbidden(
            f"Run {run_id} belongs to another caller.", hint="Its caller or an administrator can change it."
        )
    tracing.current().set("packline.run.id", run.id)
    return run


def may_change(context: Context, pipeline: PipelineRecord) -> bool:
    """Whether the caller may save versions of a pipeline or delete it; nobody may change a starter."""
    return not pipeline.builtin and (pipeline.owner_id == context.caller.id or context.caller.may(Scope.MANAGE))


def require_owner(context: Context, pipeline: PipelineRecord) -> None:
    """Refuse changes by callers who neither own a pipeline nor have `manage`.

    Raises:
        Forbidden: The caller may not change it.
    """
    if not may_change(context, pipeline):
        raise Forbidden(
            f"The pipeline {pipeline.key} belongs to another caller.",
            hint=Hint("Change a copy of it, or ask its owner.", operation="clone_pipeline"),
        )
