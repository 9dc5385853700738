"""The book of defaults: what was counted is there after a start, and goes with what is forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from catalog.memory import defaults, tally
from catalog.memory.audit_memory import Memory
from catalog.memory.defaults import DefaultsCache
from catalog.memory.tally import Tally, tallies_of, tallies_text
from runner.secrets.redaction import Redactor
from runner.secrets.vault_sync import VaultSync
from store.access.callers import ensure_caller
from store.database.engine import open_store
from store.memory.entries import EVERYTHING, forget
from store.memory.state import find_counts
from store.secrets.vault_key import KeyFile
from tests.bench.memory import add

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from catalog.memory.learning import LearnedField

ROWS = 60


class Counting(Memory):
    """Counts the rows it opens."""

    opens = 0

    def learned(self, caller_id: str, run_id: str, step_id: str, sealed: str) -> Mapping[LearnedField, str] | None:
        self.opens += 1
        return super().learned(caller_id, run_id, step_id, sealed)


async def test_a_start_opens_only_what_came_since_the_counts_were_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(defaults, "WORTH_KEEPING", ROWS - 1)
    store = await open_store("sqlite", tmp_path, migrate=True)
    redactor = Redactor()
    keeper = VaultSync(store, KeyFile(tmp_path), redactor)
    await keeper.start()
    try:
        cipher = (await keeper.for_sealing()).cipher
        memory = Counting(store, keeper, redactor, keep_days=30)
        caller_id = (await store.write(ensure_caller, "ada", "Ada")).id
        await store.write(add, caller_id, cipher, range(ROWS), 1)
        whole = await DefaultsCache(store, memory).of(caller_id)
        assert memory.opens == ROWS

        await store.write(add, caller_id, cipher, [1, 2], 2)
        memory.opens = 0
        again = await DefaultsCache(store, memory).of(caller_id)
        assert memory.opens == 2
        assert {key: entry.uses for key, entry in again.entries.items()} != {
            key: entry.uses for key, entry in whole.entries.items()
        }
        monkeypatch.setattr(defaults, "find_counts", _none)
        counted = await DefaultsCache(store, memory).of(caller_id)
        assert list(again.entries) == list(counted.entries)
        for key, entry in again.entries.items():
            assert [
                (value.field, value.value, value.count, value.last_used_at, value.others) for value in entry.values
            ] == [
                (value.field, value.value, value.count, value.last_used_at, value.others)
                for value in counted.entries[key].values
            ]
            for one, other in zip(entry.values, counted.entries[key].values, strict=True):
                assert one.share == pytest.approx(other.share)

        found = await find_counts(store, caller_id)
        assert found is not None
        assert "reader" not in found[1], "what was learned is sealed"
        await store.write(forget, caller_id, EVERYTHING)
        assert await find_counts(store, caller_id) is None
        monkeypatch.setattr(defaults, "find_counts", find_counts)
        assert (await DefaultsCache(store, memory).of(caller_id)).entries == {}
    finally:
        await keeper.stop()
        await store.close()


async def _none(*_: object) -> None:
    return None


def test_counts_mean_the_same_to_a_server_that_started_at_another_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    counted = Tally()
    for days, persona in ((1, "executive"), (9, "engineer"), (40, "engineer")):
        counted.add(now - timedelta(days=days), {tally.LearnedField.PERSONA: persona})
    text = tallies_text({("pack", "test.style"): counted, ("pipeline", "pipe_1"): Tally()})
    monkeypatch.setattr(tally, "_ORIGIN", now + timedelta(days=25))

    found = tallies_of(text)

    style = found["pack", "test.style"]
    assert (style.uses, style.last, found["pipeline", "pipe_1"].last) == (3, counted.last, None)
    before, after = (each.fields[tally.LearnedField.PERSONA] for each in (counted, style))
    assert {name: (seen.count, seen.last) for name, seen in before.items()} == {
        name: (seen.count, seen.last) for name, seen in after.items()
    }
    ratio = before["executive"].weight / before["engineer"].weight
    assert after["executive"].weight / after["engineer"].weight == pytest.approx(ratio)
    style.add(now, {tally.LearnedField.PERSONA: "executive"})
    counted_anew = Tally()
    for days, persona in ((1, "executive"), (9, "engineer"), (40, "engineer"), (0, "executive")):
        counted_anew.add(now - timedelta(days=days), {tally.LearnedField.PERSONA: persona})
    for name, seen in counted_anew.fields[tally.LearnedField.PERSONA].items():
        assert after[name].weight == pytest.approx(seen.weight)
