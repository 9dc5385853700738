"""Sessions of a run that goes on: those still alive, and what must run again where one is gone (guarantee S2).

What runs again is decided by `runner.resuming.plan`, so that the preview of a resume and the deed cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.failures import Failure, FailureCode
from runner.resuming.plan import plan_resume
from runner.resuming.step_snapshots import StepSnapshot
from runner.resuming.substitute_packs import find_pack
from store.runs.held import rewind
from store.runs.sessions import live_sessions, touch_session
from store.states import RunState, StepState

if TYPE_CHECKING:
    from runner.running.claimed_run import Stretch
    from runner.running.resources import Resources


async def usable_sessions(resources: Resources, run_id: str) -> frozenset[str]:
    """Ids of a run's sessions that this machine can still use: not ended, their folders there."""
    known = await live_sessions(resources.store, run_id, resources.store.machine)
    return frozenset(session for session in known if (resources.sessions_folder / session).is_dir())


class Sessions:
    """Makes sessions that are gone anew by running their steps again, where that is allowed."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def mend(self, stretch: Stretch) -> Failure | None:
        """Puts the steps back whose sessions are gone and needed; the failure when one of them must not run again.

        Raises:
            LostLeaseError: somebody else owns the run.
        """
        if not stretch.sessions:
            return None
        steps = self._snapshots(stretch)
        if not any(step.uses_session or step.names_sessions for step in steps if step.state is not StepState.SUCCEEDED):
            return None
        store = self._resources.store
        live = await usable_sessions(self._resources, stretch.claim.run_id)
        plan = plan_resume(steps, run_state=RunState.FAILED, live_sessions=live)
        again = [step.key for step in plan.steps if step.action == "run_again"]
        for issue in plan.issues:
            if issue.rule == "session_unavailable":
                return Failure(
                    FailureCode.SESSION_UNAVAILABLE,
                    issue.message,
                    hint="Run the pipeline again from the start.",
                    step_key=issue.path[-1],
                    safe_to_repeat=False,
                )
        if again:
            ids = [step.id for step in stretch.claim.steps if step.key in again]
            await store.write(rewind, stretch.fence, ids, "its session is gone: it runs again")
        for key in again:
            stretch.states[key] = StepState.PENDING
            stretch.outputs.pop(key, None)
            stretch.sessions.pop(key, None)
        # Those of the run whose outputs this one reuses are not for it, even if a step names one.
        stretch.sessions = {key: session for key, session in stretch.sessions.items() if session in live}
        for session in set(stretch.sessions.values()):
            await store.write(touch_session, session)
        return None

    def _snapshots(self, stretch: Stretch) -> list[StepSnapshot]:
        pipeline, registry, steps = stretch.pipeline, self._resources.registry, stretch.claim.steps
        return [
            StepSnapshot.pending(pipeline.step(step.key), find_pack(registry, pipeline, steps, step)).fared(
                step, stretch.states[step.key]
            )
            for step in steps
        ]
