"""The server: health, settings, and counts of its runs."""

from __future__ import annotations

import asyncio
import shutil
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from catalog.metadata import incomplete_packs
from resolvers.operations import operation
from resolvers.permissions import visible_to
from resolvers.server.admission import admission_pause
from resolvers.server.workers import known_queue, known_workers
from runner.excerpts import excerpt
from runner.packs.availability import pack_requirements
from store.database.errors import StoreError
from store.files.blob_port import BlobError
from store.runs import reads as run_reads
from store.runs.reads import RunFilter
from store.states import HELD_RUN_STATES, RunState, Scope
from store.triggers.reads import count_trigger_faults

if TYPE_CHECKING:
    from datetime import datetime

    from resolvers.context import Context, SettingInfo
    from runner.mounts.mounts import MountStatus

#: How long a schedule may be due before its health check fails; thousands may be due in the same second.
OVERDUE = timedelta(minutes=2)
#: Below this much free space the health check of the disk fails, in bytes.
LOW_DISK_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The state of one thing the server needs.

    Attributes:
        message: What was found and what to do, for those with the scope `manage`: it may name paths, counts and people.
        public: The same for everybody; None if only the state is for everybody.
    """

    name: str
    ok: bool
    message: str
    public: str | None = None

    def for_everybody(self) -> HealthCheck:
        """The check without what only the scope `manage` shows."""
        state = "Works." if self.ok else "Does not work. Callers with the scope `manage` see why."
        return HealthCheck(self.name, self.ok, self.public or state)


@operation("server", scope=None, kind="query")
async def get_server(context: Context) -> str:
    """Return the server's version."""
    return context.services.version


@operation("settings", scope=Scope.MANAGE, kind="query")
async def list_settings(context: Context) -> list[SettingInfo]:
    """List every setting, its value and source; secrets without their value."""
    return context.services.settings()


async def count_queued(context: Context) -> int:
    """Count the queued runs that the caller may see, up to 10,000."""
    if (caller_id := visible_to(context.caller)) is not None:
        wanted = RunFilter(states=(RunState.QUEUED,))
        return await run_reads.count_runs(context.services.store, wanted, visible_to=caller_id)
    return await run_reads.count_queued(context.services.store)


async def oldest_queued(context: Context) -> datetime | None:
    """Return since when the longest waiting queued run waits that the caller may see; None if none waits."""
    return await run_reads.oldest_queued(context.services.store, visible_to=visible_to(context.caller))


async def count_running(context: Context) -> int:
    """Count the runs held by workers that the caller may see, up to 10,000."""
    if (caller_id := visible_to(context.caller)) is not None:
        wanted = RunFilter(states=tuple(sorted(HELD_RUN_STATES)))
        return await run_reads.count_runs(context.services.store, wanted, visible_to=caller_id)
    return await run_reads.count_held(context.services.store)


def is_accepting(context: Context) -> bool:
    """Whether the worker takes new runs."""
    return context.services.engine.worker.accepting


async def health(context: Context) -> list[HealthCheck]:
    """Check everything the server needs; without the scope `manage` the messages name no paths, counts or people."""
    store = await _store(context)
    disk = await asyncio.to_thread(_disk, context)
    checks = [
        store,
        await _admission(context),
        await _workers(context),
        await _triggers(context),
        _vault(context),
        disk,
        await _artifacts(context),
        _packs(context),
        await asyncio.to_thread(_programs, context),
        *(_mounted(mounted) for mounted in context.services.mounts.servers()),
    ]
    return checks if context.caller.may(Scope.MANAGE) else [check.for_everybody() for check in checks]


async def _admission(context: Context) -> HealthCheck:
    try:
        pause = await admission_pause(context)
    except StoreError as error:
        return HealthCheck("admission", False, f"The database refuses reads: {str(error).rstrip('.')}.")
    if pause is None:
        return HealthCheck("admission", True, "Runs are admitted.")
    reason = f": {pause.reason}" if pause.reason else ""
    message = f"Paused by {pause.by} at {pause.at:%Y-%m-%d %H:%M} UTC{reason}. `packline unpause` admits runs again."
    return HealthCheck("admission", False, message, "Paused: no new run starts.")


async def _triggers(context: Context) -> HealthCheck:
    services = context.services
    try:
        faults = await count_trigger_faults(services.store, services.now(), OVERDUE)
    except StoreError as error:
        return HealthCheck("triggers", False, f"The triggers cannot be read: {str(error).rstrip('.')}.")
    words = []
    if faults.paused:
        words.append(
            f"Paused because they cannot start their pipeline: {faults.paused}. "
            "`packline trigger list --attention` lists them with the reason."
        )
    if faults.overdue:
        words.append(f"Due for minutes and not fired: {faults.overdue}. The server's log says why.")
    if faults.without_secret:
        words.append(
            f"Webhooks without a secret, which refuse every delivery: {faults.without_secret}. Rotate their secrets."
        )
    return HealthCheck("triggers", not words, " ".join(words) or "None is overdue or paused by an error.")


def _mounted(mounted: MountStatus) -> HealthCheck:
    name = f"MCP server {mounted.spec.key}"
    if mounted.state == "connected":
        return HealthCheck(name, True, "Connected.")
    if mounted.state == "connecting" and mounted.last_error is None:
        return HealthCheck(name, True, "Connecting.")
    reason = (mounted.last_error or "it is still starting").rstrip(".")
    return HealthCheck(name, False, f"Not connected: {reason}. Packline keeps trying.")


def _vault(context: Context) -> HealthCheck:
    vault = context.services.vault
    if (locked := vault.locked) is not None:
        return HealthCheck("vault key", False, f"{locked.message} {locked.hint}", "The vault is locked.")
    return HealthCheck("vault key", True, f"The vault is unlocked and holds {vault.size} credentials.")


async def _store(context: Context) -> HealthCheck:
    began = time.perf_counter()
    try:
        await context.services.store.write(lambda conn: conn.now())
    except StoreError as error:
        return HealthCheck("store", False, f"The database refuses writes: {str(error).rstrip('.')}.")
    milliseconds = (time.perf_counter() - began) * 1000
    return HealthCheck("store", True, f"{context.services.store.dialect} answered in {milliseconds:.1f} ms.")


async def _artifacts(context: Context) -> HealthCheck:
    try:
        return HealthCheck("artifacts", True, await context.services.engine.resources.blobs.check())
    except BlobError as error:
        return HealthCheck("artifacts", False, excerpt(str(error), 1000))


async def _workers(context: Context) -> HealthCheck:
    try:
        workers = await known_workers(context)
    except StoreError as error:
        return HealthCheck("workers", False, f"The workers cannot be listed: {str(error).rstrip('.')}.")
    alive = [worker for worker in workers if worker.alive]
    words = [f"{len(alive)} alive." if alive else "None is alive, so no run starts. Start `packline worker`."]
    drained = [worker.id for worker in alive if worker.draining]
    if drained:
        words.append(f"Drained: {', '.join(drained)}.")
    takes_runs = len(drained) < len(alive)
    if alive and not takes_runs:
        words.append("No run starts until another one is started, or `packline worker drain --undo` ends that.")
    unserved = [queued for queued in await known_queue(context) if queued.missing]
    words += [
        f"No living worker offers {', '.join(queued.missing)}; runs that wait for it: {queued.runs}."
        for queued in unserved
    ]
    by_release: dict[str, list[str]] = {}
    for worker in alive:
        by_release.setdefault(worker.release, []).append(worker.id)
    if len(by_release) > 1:
        listed = "; ".join(f"{release}: {', '.join(names)}" for release, names in sorted(by_release.items()))
        words.append(f"They run different releases ({listed}).")
    unseen = [f"{worker.id} (seen {worker.unseen_seconds:.0f} s ago)" for worker in workers if not worker.alive]
    if unseen:
        words.append(f"Lost: {', '.join(unseen)}.")
        words.append(
            "Its runs continue on workers that have what they need, and else wait. Start it again if it crashed."
        )
    return HealthCheck("workers", takes_runs and not unseen and not unserved, " ".join(words))


def _disk(context: Context) -> HealthCheck:
    folder = context.services.engine.resources.sessions_folder.parent
    free = shutil.disk_usage(folder).free
    gibibytes = free / (1 << 30)
    if free < LOW_DISK_BYTES:
        return HealthCheck(
            "disk", False, f"{gibibytes:.1f} GiB are free at {folder}. Free disk space, or move PACKLINE_DATA_DIR."
        )
    return HealthCheck("disk", True, f"{gibibytes:.1f} GiB are free.")


def _packs(context: Context) -> HealthCheck:
    registry = context.services.registry
    errors = registry.load_errors()
    count = len(registry.names())
    if errors:
        return HealthCheck(
            "packs",
            False,
            f"{count} packs are loaded; {len(errors)} failed to load, first {errors[0].origin}: {errors[0].message}",
        )
    incomplete = sorted({name for name, _version in incomplete_packs(registry)})
    if incomplete:
        return HealthCheck(
            "packs",
            True,
            f"{count} packs are loaded. The metadata of {', '.join(incomplete)} is incomplete: they run, but "
            "searches find them by name only.",
        )
    return HealthCheck("packs", True, f"{count} packs are loaded.")


def _programs(context: Context) -> HealthCheck:
    registry = context.services.registry
    lacking: dict[str, str] = {}
    packs: list[str] = []
    for name in registry.names():
        pack = registry.find(name)
        if pack is not None and (missing := pack_requirements(pack)):
            packs.append(name)
            lacking |= {lack.name: str(lack.hint or lack.message) for lack in missing}
    if lacking:
        remedies = " ".join(dict.fromkeys(lacking.values()))
        return HealthCheck("programs", False, f"{', '.join(packs)} cannot run on this server. {remedies}")
    return HealthCheck("programs", True, "Everything the packs need is available.")
