"""Sessions of a resumed run: finds live ones, and runs steps again to recreate ended ones (guarantee S2).

`runner.resuming.plan` decides which steps run again, so that preview and execution cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.failures import Failure, FailureCode
from runner.packs.fleet import machine_need
from runner.resuming.plan import plan_resume
from runner.resuming.step_snapshots import StepSnapshot
from runner.resuming.substitute_packs import find_pack
from store.runs.claimed_run import rewind
from store.runs.serving import living_offers
from store.runs.sessions import live_sessions, touch_session
from store.states import RunState, StepState

if TYPE_CHECKING:
    from runner.running.claimed_run import ClaimedRun
    from runner.running.resources import Resources


async def usable_sessions(resources: Resources, run_id: str) -> dict[str, str]:
    """Return a run's sessions that have not ended, with their machines.

    Those of this machine have a folder; of other machines, a living worker is on it.
    """
    known = await live_sessions(resources.store, run_id)
    others = {machine_need(machine) for machine in known.values() if machine != resources.store.machine}
    if not all(resources.fleet.serves({need}) for need in others):
        # Its worker may have started after the fleet was last read, and a step would run again for nothing.
        resources.fleet.update(await resources.store.write(living_offers, resources.limits.lease_seconds))
    return {session: machine for session, machine in known.items() if _is_usable(resources, session, machine)}


def _is_usable(resources: Resources, session: str, machine: str) -> bool:
    if machine == resources.store.machine:
        return (resources.sessions_folder / session).is_dir()
    return resources.fleet.serves({machine_need(machine)})


class Sessions:
    """Recreates ended sessions by running their steps again, if their packs allow it."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    async def recreate(self, run: ClaimedRun) -> Failure | None:
        """Reset the steps whose ended sessions are needed; returns the failure if one must not run again.

        Raises:
            LostLeaseError: Another worker owns the run.
        """
        if not run.sessions:
            return None
        steps = self._snapshots(run)
        if not any(step.uses_session or step.names_sessions for step in steps if step.state is not StepState.SUCCEEDED):
            return None
        store = self._resources.store
        live = await usable_sessions(self._resources, run.claim.run_id)
        plan = plan_resume(steps, run_state=RunState.FAILED, live_sessions=frozenset(live))
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
            ids = [step.id for step in run.claim.steps if step.key in again]
            await store.write(rewind, run.fence, ids, "its session has ended: it runs again")
        for key in again:
            run.states[key] = StepState.PENDING
            run.outputs.pop(key, None)
            run.sessions.pop(key, None)
            run.needs = ""  # what was recorded is of a later step
        # Sessions of the run whose outputs are reused are excluded, even if a step names one.
        run.sessions = {key: session for key, session in run.sessions.items() if session in live}
        run.machines = live
        for session in set(run.sessions.values()):
            await store.write(touch_session, session)
        return None

    def _snapshots(self, run: ClaimedRun) -> list[StepSnapshot]:
        pipeline, registry, steps = run.pipeline, self._resources.registry, run.claim.steps
        return [
            StepSnapshot.pending(pipeline.step(step.key), find_pack(registry, pipeline, steps, step)).with_state(
                step, run.states[step.key]
            )
            for step in steps
        ]
