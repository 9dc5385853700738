"""Claims a run and, where possible, starts its first step in the same commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from runner.definitions.definition_cache import definitions
from runner.running.claimed_run import ClaimedRun, PreparedStep
from store.runs.claim import claim
from store.runs.settle import start_attempt
from store.runs.unit_types import Claim, Fence, NotClaimed, Settled

if TYPE_CHECKING:
    from datetime import datetime

    from runner.running.next_step import StepPreparer
    from runner.running.offers import WorkerOffers
    from runner.running.resources import RunLimits
    from store.database.dialects import Connection


class FirstStep(NamedTuple):
    """A first step that started with the claim."""

    run: ClaimedRun
    first: PreparedStep
    settled: Settled


class RunClaim(NamedTuple):
    """A run that was claimed; `begun` is None when the worker has to start the first step itself."""

    claim: Claim
    fence: Fence
    begun: FirstStep | None


class RunClaimer:
    """Claims runs for one worker.

    Args:
        owner: Name of the worker in leases.
        offers: What the worker offers.
    """

    def __init__(self, preparer: StepPreparer, limits: RunLimits, owner: str, offers: WorkerOffers) -> None:
        self._preparer = preparer
        self._limits = limits
        self._owner = owner
        self._offers = offers

    def take(self, conn: Connection, run_id: str, waited_for: datetime | None = None) -> RunClaim | NotClaimed:
        """Claim a run and start its first step, as part of a unit of work; see `store.runs.claim`.

        Preparing the step inside the transaction costs a fraction of a second commit.
        """
        limits = self._limits
        claimed = claim(
            conn,
            run_id,
            owner=self._owner,
            lease_seconds=limits.lease_seconds,
            waited_for=waited_for,
            offers=self._offers.now if self._offers.matter else None,
        )
        if isinstance(claimed, NotClaimed):
            return claimed
        fence = Fence(run_id, claimed.epoch, claimed.caller_id, limits.lease_seconds, claimed.next_seq)
        return RunClaim(claimed, fence, self._begin(conn, claimed, fence))

    def _begin(self, conn: Connection, claimed: Claim, fence: Fence) -> FirstStep | None:
        if claimed.lost_in_row:  # the worker decides first whether the run goes on
            return None
        try:
            pipeline = definitions.get_if_quick(claimed.document, claimed.input_schema)
            if pipeline is None:  # compiling takes long, and others wait for the transaction
                return None
            run = ClaimedRun.of(claimed, fence, pipeline)
            first = None if run.sessions else self._preparer.next(run)
        except BaseException:  # the worker meets the same error and fails the run
            return None
        # The row of an at-most-once step is committed separately, just before the body.
        if not isinstance(first, PreparedStep) or first.pack.at_most_once:
            return None
        settled = start_attempt(conn, fence, first.start, run.states[first.step.key])
        return FirstStep(run, first, settled)
