"""How a run is taken over: the claim and, where nothing stands in the way, its first step in the same commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from runner.definitions.compiling import definitions
from runner.running.claimed_run import Prepared, Stretch
from store.runs.claim import claim
from store.runs.settle import start_attempt
from store.runs.values import Claim, Fence, NotClaimed, Settled

if TYPE_CHECKING:
    from datetime import datetime

    from runner.running.next_step import Preparation
    from runner.running.resources import RunLimits
    from store.database.dialects import Connection


class Begun(NamedTuple):
    """A first step that began with the claim."""

    stretch: Stretch
    first: Prepared
    settled: Settled


class Taken(NamedTuple):
    """A run that was claimed; `begun` is None when something has to be looked at before its first step."""

    claim: Claim
    fence: Fence
    begun: Begun | None


class Takeover:
    """Takes runs over for one worker.

    Args:
        owner: Name of the worker in leases.
    """

    def __init__(self, preparation: Preparation, limits: RunLimits, owner: str) -> None:
        self._preparation = preparation
        self._limits = limits
        self._owner = owner

    def take(self, conn: Connection, run_id: str, waited_for: datetime | None = None) -> Taken | NotClaimed:
        """Claims a run and begins its first step, as a part of a unit of work; see `store.runs.claim`.

        The step is made ready here, in the transaction: it takes a fraction of what a commit of its own would.
        """
        limits = self._limits
        claimed = claim(
            conn,
            run_id,
            owner=self._owner,
            lease_seconds=limits.lease_seconds,
            caller_limit=limits.concurrent_runs,
            waited_for=waited_for,
        )
        if isinstance(claimed, NotClaimed):
            return claimed
        fence = Fence(run_id, claimed.epoch, claimed.caller_id, limits.lease_seconds, claimed.next_seq)
        return Taken(claimed, fence, self._begin(conn, claimed, fence))

    def _begin(self, conn: Connection, claimed: Claim, fence: Fence) -> Begun | None:
        if claimed.lost_attempt is not None:  # it has to be judged first
            return None
        try:
            pipeline = definitions.at_hand(claimed.document, claimed.input_schema)
            if pipeline is None:  # to compile it takes long, and others wait for the transaction
                return None
            stretch = Stretch.of(claimed, fence, pipeline)
            first = None if stretch.sessions else self._preparation.next(stretch)
        except Exception:  # the worker meets it again, where it ends the run
            return None
        # The row of an at-most-once step has a commit of its own, just before the body.
        if not isinstance(first, Prepared) or first.pack.at_most_once:
            return None
        settled = start_attempt(conn, fence, first.start, stretch.states[first.step.key])
        return Begun(stretch, first, settled)
