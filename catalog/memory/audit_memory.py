"""Audit memory: records how packs and pipelines ended, in the background, and forgets on request.

Runs do not depend on it: `store.memory.outcomes` reads them after their commit. The vault key seals learned values;
while the vault is locked, outcomes are recorded without them.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import orjson
import structlog

from catalog.memory.learning import LearnedField, learned_values
from runner.excerpts import excerpt
from runner.failures import FailureCode, PackError
from runner.secrets.vault_sync import VaultLockedError
from runner.watching.bus import wait_flag
from store.access.audit import append_audit
from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.database.wakes import Topic
from store.memory.entries import EVERYTHING, MemoryScope, forget, place_of
from store.memory.outcomes import NewOutcome, any_due, due_runs, record_outcomes
from store.memory.state import counts_place, keep_counts
from store.secrets.cipher import UnsealError
from store.secrets.vault_proof import VaultChangedError
from store.states import AttemptState, RunState

if TYPE_CHECKING:
    from datetime import datetime

    from runner.packs.needs import Missing
    from runner.secrets.redaction import Redactor
    from runner.secrets.vault_sync import VaultCipher, VaultSync
    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.memory.outcomes import DueRun, DueStep

log = structlog.get_logger(__name__)

#: Runs recorded in one transaction; each may have 64 steps.
RUNS_AT_ONCE = 25
#: Outcomes are recorded once no run has ended for this long; also the pause between two transactions, which leaves the
#: database to others.
GATHER_SECONDS = 0.25
#: Waits for such a pause before outcomes are recorded on a busy server anyway: five seconds in all.
CALM_TRIES = 20
#: Poll interval for outcomes without a wake-up, such as those of a server that died.
POLL_SECONDS = 15.0
#: Attempts at a unit when the vault key changes meanwhile.
TRIES = 3
#: Action of the audit rows of forgetting, through every surface.
FORGET_ACTION = "forget_memory"
SCOPE_FORMS = "`all`, `packs`, `pipelines`, `pack:<id>`, `pipeline:<id>` or `entry:<id>`"
_SCOPE = re.compile(r"(pack|pipeline|entry):(\S{1,200})\Z")
_OUTCOMES = {AttemptState.SUCCEEDED: RunState.SUCCEEDED, AttemptState.CANCELLED: RunState.CANCELLED}


class ScopeError(ValueError):
    """The text is not a scope; the message lists the valid forms."""


def parse_scope(text: str) -> MemoryScope:
    """Parse a scope of memory; see `SCOPE_FORMS`.

    Raises:
        ScopeError: The text has none of these forms.
    """
    if text == "all":
        return EVERYTHING
    if text == "packs":
        return MemoryScope(kind="pack")
    if text == "pipelines":
        return MemoryScope(kind="pipeline")
    found = _SCOPE.match(text)
    if found is None:
        raise ScopeError(f"`{excerpt(text, 200)}` is not a scope of memory; use {SCOPE_FORMS}.")
    kind, target = found.groups()
    if kind == "entry":
        return MemoryScope(entry_id=target)
    return MemoryScope(kind="pack" if kind == "pack" else "pipeline", target=target)


class Memory:
    """Records outcomes in the background, decrypts learned values and forgets on request.

    Args:
        store: The database.
        vault_sync: Opens the vault, whose key seals learned values.
        redactor: Detects secrets.
        keep_days: How long a row is kept.
    """

    def __init__(self, store: Store, vault_sync: VaultSync, redactor: Redactor, *, keep_days: float) -> None:
        self._store = store
        self._vault_sync = vault_sync
        self._redactor = redactor
        self._keep_days = keep_days
        self._woken = asyncio.Event()
        self._recording = asyncio.Lock()
        self._task: EssentialTask | None = None
        store.wakes.listen(Topic.RUN_ENDED, lambda _: self._woken.set())

    async def start(self) -> None:
        """Start recording, including runs that ended before this start; a second call does nothing."""
        if self._task is None:
            self._woken.set()
            self._task = EssentialTask(self._follow(), "packline-memory")

    async def stop(self) -> None:
        """Stop recording; a second call does nothing. Runs still due are recorded after the next start."""
        task, self._task = self._task, None
        if task is not None:
            await task.stop()

    @property
    def locked(self) -> Missing | None:
        """Why learned values cannot be read, and what to do; None while they can."""
        return self._vault_sync.vault.locked

    @property
    def opening(self) -> object:
        """Identity of the current vault key: a different object after the key changes."""
        return self._vault_sync.opened

    def open(self, sealed: str, place: str) -> str | None:
        """Decrypt a text that was sealed for a place; None when that fails."""
        opened = self._vault_sync.opened
        if opened is None:
            return None
        try:
            return opened.cipher.open(sealed, place)
        except UnsealError:
            return None

    def learned(self, caller_id: str, run_id: str, step_id: str, sealed: str) -> dict[LearnedField, str] | None:
        """Decrypt the learned values of a row; None when that fails."""
        text = self.open(sealed, place_of(caller_id, run_id, step_id))
        if text is None:
            return None
        values = orjson.loads(text)
        return {LearnedField(field): value for field, value in values.items() if field in _FIELDS}

    async def keep_counts(self, caller_id: str, revision: int, text: str) -> None:
        """Store the sealed counts of a caller's rows up to a revision; on failure they are counted again later."""
        opened = self._vault_sync.opened
        if opened is None:
            return
        sealed = opened.cipher.seal(text, counts_place(caller_id))
        try:
            await self._store.write(keep_counts, caller_id, revision, sealed, proof=opened.proof)
        except (StoreError, VaultChangedError) as error:
            log.info("counts of memory could not be stored", caller=caller_id, error=str(error))

    async def count(self, caller_id: str, scope: MemoryScope) -> int:
        """Count a caller's rows in a scope, including those of runs that ended before the call."""
        await self.catch_up()
        return await self._store.snapshot(forget, caller_id, scope, dry_run=True)

    async def forget_for(self, caller_id: str, scope: str, *, dry_run: bool, run_id: str) -> int:
        """Forget on behalf of a pack; see `runner.packs.memory.MemoryPort`. The run is the caller's own."""
        try:
            wanted = parse_scope(scope)
        except ScopeError as refused:
            raise PackError(FailureCode.INVALID_INPUT, str(refused), field="scope") from refused

        def unit(conn: Connection) -> int:
            count = forget(conn, caller_id, wanted, dry_run=dry_run)
            detail = orjson.dumps({"scope": scope, "rows": count, "dry_run": dry_run, "run": run_id}).decode()
            append_audit(conn, actor_id=caller_id, action=FORGET_ACTION, accepted=True, detail=detail)
            return count

        await self.catch_up()
        return await self._store.write(unit)

    async def catch_up(self) -> None:
        """Record every run that has ended by now."""
        while await any_due(self._store):
            if await self._record_some() < RUNS_AT_ONCE:
                return

    async def _follow(self) -> None:
        is_behind = False
        while True:
            if not is_behind:
                await wait_flag(self._woken, POLL_SECONDS)
            await self._calm(1 if is_behind else CALM_TRIES)
            is_behind = False
            try:
                # More may be due than fit one transaction; others get the database in between.
                is_behind = await any_due(self._store) and await self._record_some() == RUNS_AT_ONCE
            except StoreClosedError:
                return
            except StoreError as error:
                log.warning("could not record outcomes in memory, trying again", error=str(error))
            except Exception:  # the loop must not end
                log.exception("unexpected error while recording outcomes in memory, trying again")

    async def _calm(self, tries: int) -> None:
        """Wait for a pause in which no run ends: people wait for runs, nobody waits for memory."""
        for _ in range(tries):
            self._woken.clear()
            await asyncio.sleep(GATHER_SECONDS)
            if not self._woken.is_set():
                return

    async def _record_some(self) -> int:
        """Record the next due runs; return how many were due."""
        async with self._recording:
            due = await due_runs(self._store, limit=RUNS_AT_ONCE)
            for _ in range(TRIES):
                opened, outcomes = await self._outcomes(due)
                proof = opened.proof if opened is not None else None
                try:
                    await self._store.write(record_outcomes, outcomes, proof=proof, keep_days=self._keep_days)
                except VaultChangedError:
                    continue
                return len(due)
            raise StoreError("The vault key keeps being changed.")

    async def _outcomes(
        self, due: list[tuple[DueRun, list[DueStep]]]
    ) -> tuple[VaultCipher | None, list[tuple[DueRun, list[NewOutcome]]]]:
        """Build the rows of runs; also return the key that sealed their values, if any were."""
        learned = [(run, steps, self._learned(run, steps)) for run, steps in due]
        opened: VaultCipher | None = None
        if any(values for _, _, found in learned for values in found.values()):
            try:
                opened = await self._vault_sync.for_sealing()
            except VaultLockedError as error:
                log.debug("nothing is learned while the vault is locked", reason=str(error))
        return opened, [(run, _rows(run, steps, found, opened)) for run, steps, found in learned]

    def _learned(self, run: DueRun, steps: list[DueStep]) -> dict[str, dict[LearnedField, str]]:
        """Return learned values by step id; the run's own inputs are under the empty string."""
        found: dict[str, dict[LearnedField, str]] = {}
        if run.state is RunState.SUCCEEDED:
            found[""] = self._values(run.inputs)
        if run.pack is None:
            for step in steps:
                if step.state == AttemptState.SUCCEEDED and step.input is not None:
                    found[step.step_id] = self._values(step.input)
        return found

    def _values(self, text: str) -> dict[LearnedField, str]:
        try:
            return learned_values(orjson.loads(text), self._redactor)
        except orjson.JSONDecodeError:
            return {}


_FIELDS = frozenset(LearnedField)


def _rows(
    run: DueRun, steps: list[DueStep], learned: dict[str, dict[LearnedField, str]], opened: VaultCipher | None
) -> list[NewOutcome]:
    def sealed(step_id: str) -> str | None:
        values = learned.get(step_id)
        if not values or opened is None:
            return None
        text = orjson.dumps({field.value: value for field, value in values.items()}).decode()
        return opened.cipher.seal(text, place_of(run.caller_id, run.id, step_id))

    began = run.started_at or run.ended_at
    rows = [
        NewOutcome(
            kind="pipeline" if run.pipeline_id else "pack",
            target=run.pipeline_id or run.pack or "",
            step_id="",
            at=run.ended_at,
            outcome=run.state,
            failure_code=_code(run.failure),
            duration_seconds=_seconds(began, run.ended_at),
            sealed=sealed(""),
        )
    ]
    if run.pack is not None:
        return rows
    for step in steps:
        ended = step.ended_at or run.ended_at
        rows.append(
            NewOutcome(
                kind="pack",
                target=step.pack,
                step_id=step.step_id,
                at=ended,
                outcome=_OUTCOMES.get(AttemptState(step.state), RunState.FAILED),
                failure_code=_code(step.failure),
                duration_seconds=_seconds(step.started_at, ended),
                sealed=sealed(step.step_id),
            )
        )
    return rows


def _seconds(began: datetime, ended: datetime) -> float:
    """Return a duration, at least 0 even when the clock was set back."""
    return max(0.0, (ended - began).total_seconds())


def _code(failure: str | None) -> str | None:
    if failure is None:
        return None
    code = orjson.loads(failure).get("code")
    return code if isinstance(code, str) else None
