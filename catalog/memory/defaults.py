"""Defaults learned from memory: pure functions that choose them, and a cache that keeps them up to date.

The cache counts a caller's rows once and stores the counts sealed: opening 10,000 rows takes 0.2 s of CPU
(`python -m tests.bench memory`), which should not recur for each caller after a restart.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from catalog.memory.learning import LearnedField
from catalog.memory.tally import LONG_AGO, Seen, Tally, tallies_of, tallies_text
from store.memory.entries import evidence
from store.memory.overrides import override_place, overrides_of
from store.memory.state import counts_place, find_counts, memory_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from catalog.memory.audit_memory import Memory
    from catalog.memory.tally import Target
    from runner.packs.needs import Missing
    from store.database.engine import Store
    from store.memory.entries import Evidence, TargetKind
    from store.memory.overrides import OverrideRecord
    from store.memory.state import MemoryState

#: Packs and pipelines whose defaults are listed.
TOP = 12
#: Uses after which a value becomes the default.
LEAST_USES = 2
#: Other values listed for a field.
OTHERS = 10
#: Newest successes of one caller that are counted.
EVIDENCE_MAX = 20_000
#: More rows than this are opened in a thread, off the event loop.
FEW = 100
#: Callers whose counts are kept.
KEPT_CALLERS = 256
#: Counts are stored again after this many new rows.
WORTH_KEEPING = 500
#: Longest counts that are stored, in characters.
COUNTS_CHARACTERS = 500_000


@dataclass(frozen=True, slots=True)
class DefaultValue:
    """The default of one field.

    Attributes:
        value: None when it is excluded.
        count: Uses of the value.
        share: Share of all uses of the field, recent ones weighted more; 0 to 1.
        last_used_at: None when it is only pinned.
        source: Where it came from, for people.
        others: Other values seen, the most used first.
    """

    field: LearnedField
    value: str | None
    count: int
    share: float
    last_used_at: datetime | None
    source: str
    pinned: bool = False
    excluded: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryDefaults:
    """A caller's defaults for one pack or pipeline.

    Attributes:
        uses: Successful ones.
        last_used_at: None when there are none.
    """

    kind: TargetKind
    target: str
    uses: int
    last_used_at: datetime | None
    values: tuple[DefaultValue, ...]

    @property
    def common_inputs(self) -> dict[str, DefaultValue]:
        """Values to suggest, by the name of the input."""
        return {value.field.value: value for value in self.values if value.value is not None}


@dataclass(frozen=True, slots=True)
class CallerDefaults:
    """A caller's defaults.

    Attributes:
        paused_at: When learning was paused; None while it is active.
        locked: Why learned values cannot be read, and what to do; None while they can.
        unreadable: Number of rows whose learned values cannot be decrypted.
        entries: By kind and id, most used first.
    """

    caller_id: str
    paused_at: datetime | None
    locked: Missing | None
    unreadable: int
    entries: Mapping[Target, EntryDefaults]

    def top(self, kind: TargetKind) -> list[EntryDefaults]:
        """Return the `TOP` most used entries, then others where the caller pinned or excluded a value."""
        own = [entry for entry in self.entries.values() if entry.kind == kind]
        overridden = (entry for entry in own[TOP:] if any(value.pinned or value.excluded for value in entry.values))
        return [*own[:TOP], *overridden]

    def of(self, kind: TargetKind, target: str) -> EntryDefaults:
        """Return the defaults of one target, even if it was never used."""
        return self.entries.get((kind, target)) or EntryDefaults(kind, target, 0, None, ())

    def only(self, kind: TargetKind, target: str) -> CallerDefaults:
        """Return a copy with one target only."""
        return replace(self, entries={(kind, target): self.of(kind, target)})


@dataclass(frozen=True, slots=True)
class FieldOverride:
    """A field that a caller pinned or excluded; `value` is None when it is excluded or cannot be read."""

    field: LearnedField
    excluded: bool
    value: str | None


def values_of(tally: Tally, overrides: Iterable[FieldOverride] = ()) -> tuple[DefaultValue, ...]:
    """Compute the defaults of one target from its successful uses and the caller's overrides."""
    own = {choice.field: choice for choice in overrides}
    found = (_value(name, tally.fields.get(name, {}), own.get(name)) for name in LearnedField)
    return tuple(value for value in found if value is not None)


def _value(name: LearnedField, seen: Mapping[str, Seen], own: FieldOverride | None) -> DefaultValue | None:
    if own is not None and own.excluded:
        return DefaultValue(name, None, 0, 0.0, None, "You chose never to learn it.", excluded=True)
    ranked = sorted(seen, key=lambda value: (-seen[value].weight, -seen[value].last.timestamp(), value))
    chosen: str | None
    if own is not None and own.value is not None:
        chosen = own.value
    else:
        chosen = next((value for value in ranked if seen[value].count >= LEAST_USES), None)
    if chosen is None:
        return None
    total = sum(each.weight for each in seen.values())
    uses = sum(each.count for each in seen.values())
    mine = seen.get(chosen, Seen())
    pinned = own is not None and own.value is not None
    return DefaultValue(
        name,
        chosen,
        mine.count,
        mine.weight / total if total else 0.0,
        mine.last if mine.count else None,
        "You pinned it." if pinned else f"{mine.count} of your {uses} successful uses, recent ones counting more.",
        pinned=pinned,
        others=tuple(value for value in ranked if value != chosen)[:OTHERS],
    )


@dataclass(slots=True)
class _Kept:
    """A caller's counts up to a revision; `unsaved` rows were counted since the counts were stored."""

    state: MemoryState
    opened: object
    tallies: dict[Target, Tally]
    unreadable: int
    unsaved: int
    defaults: CallerDefaults


class DefaultsCache:
    """Defaults by caller: counted once, then updated with newer rows.

    Args:
        store: The database.
        memory: Decrypts sealed values and records ended runs.
    """

    def __init__(self, store: Store, memory: Memory) -> None:
        self._store = store
        self._memory = memory
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._counting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def of(self, caller_id: str) -> CallerDefaults:
        """Return a caller's defaults, counting every run that ended before the call."""
        await self._memory.catch_up()
        async with self._counting.setdefault(caller_id, asyncio.Lock()):
            return await self._up_to_date(caller_id)

    async def _up_to_date(self, caller_id: str) -> CallerDefaults:
        state = await memory_state(self._store, caller_id)
        kept = self._kept.get(caller_id)
        if kept is not None and kept.opened is not self._memory.opening:
            kept = None
        if kept is None or kept.state != state:
            kept = await self._counted(caller_id, state, kept)
            self._kept[caller_id] = kept
            while len(self._kept) > KEPT_CALLERS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(caller_id)
        return kept.defaults

    async def _counted(self, caller_id: str, state: MemoryState, kept: _Kept | None) -> _Kept:
        opening = self._memory.opening
        if kept is not None and state.removed <= kept.state.revision:
            after, tallies, unreadable, unsaved = kept.state.revision, kept.tallies, kept.unreadable, kept.unsaved
        else:
            after, tallies = await self._stored(caller_id, state)
            unreadable = unsaved = 0
        overrides = await overrides_of(self._store, caller_id)
        read = [
            row
            for row in await evidence(self._store, caller_id, after=after, limit=EVIDENCE_MAX)
            if row.revision <= state.revision
        ]
        few = len(read) <= FEW
        opened = self._opened(caller_id, read) if few else await asyncio.to_thread(self._opened, caller_id, read)
        for row, values in zip(read, opened, strict=True):
            tallies.setdefault((row.kind, row.target), Tally()).add(row.at, values or {})
            unreadable += values is None
        unsaved += len(read)
        if unsaved > WORTH_KEEPING and not unreadable:
            text = tallies_text(tallies)
            if len(text) <= COUNTS_CHARACTERS:
                await self._memory.keep_counts(caller_id, state.revision, text)
            unsaved = 0
        defaults = CallerDefaults(
            caller_id, state.paused_at, self._memory.locked, unreadable, self._entries(caller_id, tallies, overrides)
        )
        return _Kept(state, opening, tallies, unreadable, unsaved, defaults)

    async def _stored(self, caller_id: str, state: MemoryState) -> tuple[int, dict[Target, Tally]]:
        """Return the revision of stored counts that still hold, and the counts; revision 0 and none otherwise."""
        found = await find_counts(self._store, caller_id)
        if found is None or not state.removed <= found.revision <= state.revision:
            return 0, {}
        text = self._memory.open(found.sealed, counts_place(caller_id))
        return (0, {}) if text is None else (found.revision, tallies_of(text))

    def _opened(self, caller_id: str, rows: Sequence[Evidence]) -> list[Mapping[LearnedField, str] | None]:
        learned = self._memory.learned
        return [{} if row.sealed is None else learned(caller_id, row.run_id, row.step_id, row.sealed) for row in rows]

    def _entries(
        self, caller_id: str, tallies: Mapping[Target, Tally], overrides: Iterable[OverrideRecord]
    ) -> dict[Target, EntryDefaults]:
        by_target: dict[Target, list[FieldOverride]] = {}
        for row in overrides:
            place = override_place(caller_id, row.kind, row.target, row.field)
            value = None if row.sealed is None else self._memory.open(row.sealed, place)
            choice = FieldOverride(LearnedField(row.field), row.rule == "excluded", value)
            by_target.setdefault((row.kind, row.target), []).append(choice)
        found = [
            EntryDefaults(target[0], target[1], tally.uses, tally.last, values_of(tally, by_target.get(target, ())))
            for target in tallies.keys() | by_target.keys()
            for tally in (tallies.get(target, Tally()),)
        ]
        found.sort(key=lambda entry: entry.target)
        found.sort(key=lambda entry: entry.last_used_at or LONG_AGO, reverse=True)
        found.sort(key=lambda entry: entry.uses, reverse=True)
        return {(entry.kind, entry.target): entry for entry in found}
