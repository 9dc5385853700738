"""The run engine without a server: a store, some packs, and questions about how runs fared.

async with laboratory(tmp_path, [ECHO]) as lab:
    run_id = await lab.start([step("a", "test.echo", text="hi")])
    run = await lab.ended(run_id)
    assert run.outputs == {"a": {"text": "hi", "call": 1}}
"""

from __future__ import annotations

import asyncio
import inspect
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson

from runner.egress.client import Egress
from runner.failures import FailureCode, PackError
from runner.gateway.gateway import Gateway
from runner.gateway.keys import StaticKeys
from runner.json_values import canonical_json, digest
from runner.packs.registry import PackSource, Registry
from runner.running.engine import Engine
from runner.running.resources import Resources, RunLimits
from runner.secrets.redaction import Redactor
from runner.watching.bus import wait_flag
from runner.watching.tail import Tails
from store.access.callers import ensure_caller
from store.database.dialects import Sql
from store.database.paging import PageWindow
from store.database.wakes import Topic
from store.files.blobs import BlobStore
from store.pipelines.commands import KeyTakenError, Saved, create_pipeline
from store.pipelines.rows import Definition, Heading
from store.runs.claim import snapshot
from store.runs.commands import request_cancel
from store.runs.events import list_events, run_state
from store.runs.reads import find_run_by_id
from store.runs.step_reads import attempt_payloads, steps_of_runs
from store.runs.unit_types import NewRun, NewStep, Resume, ResumeStep
from store.states import FINAL_RUN_STATES, RunState, StepState
from tests.support.databases import sqlite_store
from tests.support.run_rows import attempts_of_run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from packline import Pack
    from runner.failures import JSONValue
    from runner.packs.models import Models
    from runner.secrets.redaction import Redactor as RedactorType
    from store.access.callers import CallerRecord
    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.runs.events import EventRecord
    from store.runs.reads import RunRecord
    from store.runs.step_reads import AttemptRecord, StepRecord

#: Limits under which tests see what happens without waiting for it.
QUICK = RunLimits(rescue_seconds=0.1, abandon_seconds=0.2)
#: A retry that follows at once, for steps that are to be tried again.
AT_ONCE = {"initial_seconds": 0, "jitter": 0}
#: Longest any run of a test takes.
PATIENCE_SECONDS = 30.0


def step(
    key: str,
    pack: str,
    *,
    retry: dict[str, Any] | None = None,
    timeout_seconds: float | None = None,
    version: str | None = None,
    **given: Any,
) -> dict[str, Any]:
    """A step as a definition has it."""
    made: dict[str, Any] = {"id": key, "pack": pack, "input": given}
    if retry is not None:
        made["retry"] = retry
    if timeout_seconds is not None:
        made["timeout_seconds"] = timeout_seconds
    if version is not None:
        made["version"] = version
    return made


def named(unit: object) -> str:
    """The name of a unit of work, for tests that look into what is written."""
    return getattr(getattr(unit, "func", unit), "__name__", "")


async def until(condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Waits until something outside the engine is so; it is looked at every few milliseconds."""
    async with asyncio.timeout(seconds):
        while True:
            answer = condition()
            if inspect.isawaitable(answer):
                answer = await answer
            if answer:
                return
            await asyncio.sleep(0.005)


@dataclass(frozen=True)
class Fared:
    """How a run fared, everything of it."""

    record: RunRecord
    steps: list[StepRecord]
    attempts: dict[str, list[AttemptRecord]]
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    events: list[EventRecord]

    @property
    def state(self) -> RunState:
        """Where the run stands."""
        return RunState(self.record.state)

    @property
    def failure(self) -> dict[str, Any]:
        """Its failure, as it is stored."""
        assert self.record.failure is not None, f"the run is {self.state}"
        failure: dict[str, Any] = json.loads(self.record.failure)
        return failure

    def step(self, key: str) -> StepRecord:
        """The step of that key."""
        return next(found for found in self.steps if found.key == key)

    def told(self) -> list[str]:
        """The events in few words: `run running`, `step a succeeded`, `attempt a failed`, `progress a`."""
        keys = {found.id: found.key for found in self.steps}
        kinds = {"run_state": "run", "step_state": "step", "attempt_state": "attempt", "step_progress": "progress"}
        return [
            " ".join(
                part for part in (kinds.get(each.type, each.type), keys.get(each.step_id or ""), each.after) if part
            )
            for each in self.events
        ]

    def ends(self) -> list[str]:
        """Final events of the run, oldest first."""
        final = {state.value for state in FINAL_RUN_STATES}
        return [each.after or "" for each in self.events if each.type == "run_state" and each.after in final]


@dataclass
class Laboratory:
    """An engine on a store."""

    store: Store
    resources: Resources
    engine: Engine
    caller: CallerRecord
    _saved: dict[str, Saved] = field(default_factory=dict)

    @property
    def tails(self) -> Tails:
        """The events of runs."""
        return Tails(self.store, self.engine.bus)

    def install(self, *packs: Pack) -> None:
        """Has the registry know packs, and only these."""
        source = PackSource("user_folder", "tests")
        self.resources.registry.put(source, [(pack.name, pack) for pack in packs])

    async def pipeline(self, steps: Sequence[dict[str, Any]], inputs: dict[str, Any] | None = None) -> Saved:
        """A stored pipeline of these steps, made once."""
        document: dict[str, Any] = {"name": "A pipeline", "steps": list(steps)}
        if inputs is not None:
            document["inputs"] = inputs
        text = canonical_json(document)
        key = f"p{digest(text)[:20]}"
        if key not in self._saved:
            text = canonical_json({**document, "key": key})
            heading = Heading(key, key, "", "{}", key)
            definition = Definition(digest(text), text, "", '{"type":"object"}')
            try:
                made = await self.store.write(create_pipeline, heading, definition, owner_id=self.caller.id)
            except KeyTakenError:  # an earlier engine on the same store made it
                made = await self.store.write(_saved_pipeline, key)
            self._saved[key] = made
        return self._saved[key]

    async def new_run(
        self,
        steps: Sequence[dict[str, Any]],
        inputs: dict[str, Any] | None = None,
        *,
        schema: dict[str, Any] | None = None,
        **changes: Any,
    ) -> NewRun:
        """A run to be started."""
        saved = await self.pipeline(steps, schema)
        registry = self.resources.registry
        rows = []
        for position, each in enumerate(steps, 1):
            pack = registry.find(each["pack"], each.get("version"))
            rows.append(NewStep(each["id"], position, each["pack"], pack.version if pack else "1.0.0"))
        text = canonical_json(inputs or {})
        made = NewRun(
            caller_id=self.caller.id,
            title="A run",
            cause="person",
            inputs=text,
            inputs_digest=digest(text),
            deadline_seconds=60.0,
            steps=tuple(rows),
            pipeline_id=saved.pipeline_id,
            version_id=saved.version_id,
        )
        return replace(made, **changes)

    async def start(self, steps: Sequence[dict[str, Any]], inputs: dict[str, Any] | None = None, **changes: Any) -> str:
        """Starts a run of these steps."""
        return (await self.engine.submit(await self.new_run(steps, inputs, **changes))).run_id

    async def run(self, steps: Sequence[dict[str, Any]], inputs: dict[str, Any] | None = None, **changes: Any) -> Fared:
        """Starts a run and waits until it has ended."""
        return await self.ended(await self.start(steps, inputs, **changes))

    async def ended(self, run_id: str) -> Fared:
        """How a run fared, once it has ended."""
        assert await self.engine.wait_ended(run_id, PATIENCE_SECONDS), (await self.fared(run_id)).told()
        return await self.fared(run_id)

    async def reached(self, run_id: str, wanted: Callable[[Fared], bool]) -> Fared:
        """How a run fares, once it is as wanted; looks again whenever something changes."""
        with self.engine.bus.watch((Topic.RUN, run_id)) as flag:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while True:
                    flag.clear()
                    found = await self.fared(run_id)
                    if wanted(found):
                        return found
                    await wait_flag(flag, 0.5)

    async def in_state(self, run_id: str, state: RunState) -> Fared:
        """How a run fares, once it is in a state."""
        return await self.reached(run_id, lambda found: found.state is state)

    async def fared(self, run_id: str) -> Fared:
        """Everything about a run; its events must have no gap, and end where the run says."""
        while True:
            record = await find_run_by_id(self.store, run_id)
            steps = (await steps_of_runs(self.store, [run_id]))[run_id]
            attempts = await attempts_of_run(self.store, run_id)
            payloads = await attempt_payloads(self.store, [each.id for each in attempts])
            events = await list_events(self.store, run_id, PageWindow(limit=100_000))
            again = await find_run_by_id(self.store, run_id)
            if record is not None and again is not None and record.next_seq == again.next_seq:
                break
        assert [event.sequence for event in events] == list(range(1, record.next_seq)), "events have no gap"
        by_step = {found.id: found.key for found in steps}
        grouped: dict[str, list[AttemptRecord]] = {found.key: [] for found in steps}
        for each in attempts:
            grouped[by_step[each.step_id]].append(each)
        inputs: dict[str, Any] = {}
        outputs: dict[str, Any] = {}
        for found in steps:
            payload = payloads.get(found.attempt_id or "")
            if payload is not None and payload.input is not None:
                inputs[found.key] = orjson.loads(payload.input)
            if payload is not None and payload.output is not None and found.state is StepState.SUCCEEDED:
                outputs[found.key] = orjson.loads(payload.output)
        return Fared(record, steps, grouped, inputs, outputs, events)

    async def state(self, run_id: str) -> RunState | None:
        """Where a run stands."""
        return await run_state(self.store, run_id)

    async def resume(self, run_id: str, step_input: dict[str, Any] | None = None) -> None:
        """Resumes a run at its first step that has not succeeded; inputs given for steps earlier stay."""
        found = await self.store.write(snapshot, run_id)
        assert found is not None
        first = next((each.id for each in found.steps if each.state is not StepState.SUCCEEDED), None)
        override = canonical_json(step_input) if step_input is not None else None
        parts = tuple(
            ResumeStep(
                each.id,
                each.state,
                each.state is not StepState.SUCCEEDED,
                override if override is not None and each.id == first else each.input_override,
            )
            for each in found.steps
        )
        await self.store.write(self.engine.resume, Resume(run_id, found.resume_count, parts))

    async def cancel(self, run_id: str, reason: str | None = None) -> RunState:
        """Cancels a run; the state it is in then."""
        return await self.store.write(request_cancel, run_id, reason)

    async def crash(self) -> None:
        """What `kill -9` leaves: nothing more is written, leases stay as they are."""
        dispatcher = self.engine._dispatcher
        await dispatcher.stop()
        tasks = [*dispatcher.lanes.tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.engine.stop(0)

    async def restart(self, limits: RunLimits | None = None, *, start: bool = True) -> Engine:
        """A new engine on the same store, as after a restart of the server."""
        if limits is not None:
            self.resources = replace(self.resources, limits=limits)
        self.engine = Engine(self.resources)
        if start:
            await self.engine.start()
        return self.engine


def _saved_pipeline(conn: Connection, key: str) -> Saved:
    row = conn.one(_SAVED, {"key": key})
    assert row is not None
    return Saved(row[0], row[1], 1, changed=False)


_SAVED = Sql(
    "SELECT pipeline.id, version.id FROM pipeline JOIN pipeline_version AS version ON version.pipeline_id = pipeline.id"
    " WHERE pipeline.key = :key"
)


@asynccontextmanager
async def laboratory(
    folder: Path,
    packs: Sequence[Pack] = (),
    *,
    limits: RunLimits = QUICK,
    redactor: RedactorType | None = None,
    store: Store | None = None,
    start: bool = True,
) -> AsyncIterator[Laboratory]:
    """An engine on a new embedded store, or on the one given, stopped at the end."""
    if store is None:
        async with (
            sqlite_store(folder) as opened,
            laboratory(folder, packs, limits=limits, redactor=redactor, store=opened, start=start) as lab,
        ):
            yield lab
        return
    resources = make_resources(folder, store, limits, redactor)
    lab = Laboratory(store, resources, Engine(resources), await store.write(ensure_caller, "ada", "Ada"))
    lab.install(*packs)
    if start:
        await lab.engine.start()
    try:
        yield lab
    finally:
        await lab.engine.stop(0)
        await resources.egress.aclose()


class NothingRemembered:
    """A memory without rows, for engines without an application around them."""

    async def forget_for(self, caller_id: str, scope: str, *, dry_run: bool, run_id: str) -> int:
        return 0


class NoRoutes:
    """A catalog nobody routes by, for engines without an application around them."""

    async def route_for(self, caller_id: str, request: str, context: JSONValue, models: Models) -> dict[str, JSONValue]:
        raise PackError(FailureCode.UPSTREAM_UNAVAILABLE, "There is no application around this engine.")


def make_resources(folder: Path, store: Store, limits: RunLimits, redactor: RedactorType | None = None) -> Resources:
    """What an engine works with, in a folder."""
    egress = Egress()
    return Resources(
        store=store,
        blobs=BlobStore(folder),
        registry=Registry(),
        redactor=redactor or Redactor(),
        egress=egress,
        gateway=Gateway({}, {}, StaticKeys({}), egress),
        sessions_folder=folder / "sessions",
        memory=NothingRemembered(),
        router=NoRoutes(),
        release="0",
        limits=limits,
    )
