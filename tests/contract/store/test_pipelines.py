from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from store.database.paging import PageWindow
from store.pipelines.aliases import Alias
from store.pipelines.commands import (
    KeyTakenError,
    NoPipelineError,
    ReadOnlyPipelineError,
    StaleVersionError,
    StarterNameError,
    delete_pipeline,
    save_version,
)
from store.pipelines.reads import (
    PipelineFilter,
    PipelineOrder,
    count_pipelines,
    current_versions,
    find_bodies,
    find_pipeline,
    find_pipelines,
    find_version,
    find_versions,
    list_pipelines,
    list_versions,
    names_that_begin,
)
from store.pipelines.starters import Starter, StarterChanges, upsert_starters
from tests.support.rows import caller, definition, heading, pipeline, run

if TYPE_CHECKING:
    from store.database.engine import Store

SINCE = datetime(2026, 4, 15, tzinfo=UTC)


async def names(store: Store, wanted: PipelineFilter, order: PipelineOrder = PipelineOrder.NAME) -> list[str]:
    listed = await list_pipelines(store, wanted, order, PageWindow(), used_since=SINCE)
    assert await count_pipelines(store, wanted) == len(listed)
    return [each.pipeline.key for each in listed]


async def test_a_save_makes_a_version_and_the_same_text_makes_none(store: Store):
    ada = await caller(store)
    first = await pipeline(store, ada.id)
    second = await store.write(
        save_version,
        first.pipeline_id,
        heading(name="Better deck"),
        definition("two"),
        based_on=1,
        saved_by=ada.id,
        note="clearer",
    )
    same = await store.write(
        save_version,
        first.pipeline_id,
        heading(name="Better deck"),
        definition("two"),
        based_on=2,
        saved_by=ada.id,
    )
    assert (second.number, second.changed) == (2, True)
    assert (same.number, same.changed, same.version_id) == (2, False, second.version_id)
    record = (await find_pipelines(store, [first.pipeline_id]))[first.pipeline_id]
    versions = await list_versions(store, first.pipeline_id, PageWindow())
    old = await find_version(store, first.pipeline_id, 1)
    bodies = await find_bodies(store, [first.version_id, second.version_id])
    current = await current_versions(store, [first.pipeline_id])
    assert set(await find_versions(store, [first.version_id])) == {first.version_id}
    assert (record.name, record.current_number, record.owner_id) == ("Better deck", 2, ada.id)
    assert [version.number for version in versions] == [2, 1]
    assert versions[0].note == "clearer"
    assert old is not None
    assert old.digest == "digest-deck"
    assert bodies[first.version_id].yaml == "name: deck\n"
    assert current[first.pipeline_id].id == second.version_id


async def test_of_two_saves_on_the_same_version_one_is_stale(store: Store):
    ada = await caller(store)
    saved = await pipeline(store, ada.id)
    answers = await asyncio.gather(
        *(
            store.write(save_version, saved.pipeline_id, heading(), definition(text), based_on=1, saved_by=ada.id)
            for text in ("two", "three", "four")
        ),
        return_exceptions=True,
    )
    stale = [answer for answer in answers if isinstance(answer, StaleVersionError)]
    assert len(stale) == 2
    assert {error.current for error in stale} == {2}
    assert len(await list_versions(store, saved.pipeline_id, PageWindow())) == 2


async def test_keys_of_users_are_unique_until_deleted(store: Store):
    ada = await caller(store)
    first = await pipeline(store, ada.id)
    with pytest.raises(KeyTakenError) as refused:
        await pipeline(store, ada.id)
    assert refused.value.pipeline_id == first.pipeline_id
    other = await pipeline(store, ada.id, "other")
    with pytest.raises(KeyTakenError):
        await store.write(save_version, other.pipeline_id, heading("deck"), definition(), based_on=1, saved_by=ada.id)
    assert await store.write(delete_pipeline, first.pipeline_id)
    assert not await store.write(delete_pipeline, first.pipeline_id)
    again = await pipeline(store, ada.id)
    found = await find_pipeline(store, "deck")
    hidden = await find_pipeline(store, first.pipeline_id)
    by_id = await find_pipelines(store, [first.pipeline_id])
    assert found is not None
    assert found.id == again.pipeline_id
    assert hidden is None
    assert by_id[first.pipeline_id].deleted_at is not None
    with pytest.raises(NoPipelineError):
        await store.write(save_version, first.pipeline_id, heading(), definition("x"), based_on=1, saved_by=ada.id)


async def test_of_many_who_create_one_key_at_once_one_succeeds(store: Store):
    ada = await caller(store)
    answers = await asyncio.gather(*(pipeline(store, ada.id) for _ in range(6)), return_exceptions=True)
    assert sum(not isinstance(answer, BaseException) for answer in answers) == 1
    assert sum(isinstance(answer, KeyTakenError) for answer in answers) == 5


OLD_NAMES = (Alias("old-deck", (("then", "now"),), ("more",)), Alias("deck_2000"))
DECK = Starter("builtin.deck", heading("deck", aliases=OLD_NAMES), definition("starter"))
NOTES = Starter("builtin.notes", heading("notes"), definition("notes"))


async def test_starters_are_added_changed_and_removed_and_twice_is_once(store: Store):
    assert await store.write(upsert_starters, [DECK, NOTES]) == StarterChanges(added=(DECK.id, NOTES.id))
    assert await store.write(upsert_starters, [DECK, NOTES]) == StarterChanges()
    changed = replace(DECK, definition=definition("starter 2"))
    assert await store.write(upsert_starters, [changed, NOTES]) == StarterChanges(updated=(DECK.id,))
    renamed = replace(changed, heading=replace(DECK.heading, name="Slides"))
    assert await store.write(upsert_starters, [renamed, NOTES]) == StarterChanges(updated=(DECK.id,))
    record = (await find_pipelines(store, [DECK.id]))[DECK.id]
    assert (record.name, record.current_number, record.builtin, record.owner_id) == ("Slides", 2, True, None)
    assert record.aliases == OLD_NAMES

    ada = await caller(store)
    version = (await current_versions(store, [DECK.id]))[DECK.id]
    await run(store, ada.id, pipeline_id=DECK.id, version_id=version.id)
    gone = await store.write(upsert_starters, [])
    assert gone == StarterChanges(removed=(NOTES.id,), hidden=(DECK.id,))
    assert await store.write(upsert_starters, []) == StarterChanges()
    assert await names(store, PipelineFilter()) == []
    back = await store.write(upsert_starters, [renamed])
    assert back == StarterChanges(updated=(DECK.id,))
    assert await names(store, PipelineFilter()) == ["deck"]


async def test_starters_are_read_only(store: Store):
    ada = await caller(store)
    await store.write(upsert_starters, [DECK])
    with pytest.raises(ReadOnlyPipelineError):
        await store.write(save_version, DECK.id, heading(), definition("x"), based_on=1, saved_by=ada.id)
    with pytest.raises(ReadOnlyPipelineError):
        await store.write(delete_pipeline, DECK.id)


async def test_a_reference_finds_by_id_then_users_key_then_starters_key_then_alias(store: Store):
    ada = await caller(store)

    async def find(ref: str) -> str | None:
        found = await find_pipeline(store, ref)
        return None if found is None else found.id

    mine = await pipeline(store, ada.id, "notes")
    other = await pipeline(store, ada.id, "deck_2000")
    await store.write(upsert_starters, [DECK, NOTES])
    assert await find("deck") == DECK.id
    assert await find("old-deck") == await find("builtin.old-deck") == DECK.id
    record = await find_pipeline(store, "builtin.old-deck")
    assert record is not None
    assert record.alias("builtin.old-deck") == record.alias("old-deck") == OLD_NAMES[0]
    assert record.alias(DECK.id) is record.alias("deck") is None
    assert await find("builtin.deck_2000") == DECK.id, "the key is a caller's own"
    for nothing in ("builtin.old_deck", "builtin.", "builtin.builtin.old-deck", "builtin.old%"):
        assert await find(nothing) is None, nothing
    assert await find("old_deck") is None, "an underscore is no wildcard"
    assert await find("old") is None
    assert await find("notes") == mine.pipeline_id
    assert await find(NOTES.id) == NOTES.id
    assert await find("nothing") is None
    assert await find("deck_2000") == other.pipeline_id


async def test_names_are_found_by_how_they_begin(store: Store):
    ada = await caller(store)
    for key in ("deck_2", "deckx2", "old-decks", "deck-3"):
        await pipeline(store, ada.id, key)
    gone = await pipeline(store, ada.id, "deck-4")
    await store.write(upsert_starters, [DECK, NOTES])
    await store.write(delete_pipeline, gone.pipeline_id)
    assert await names_that_begin(store, "deck") == {"deck", "deck_2", "deckx2", "deck-3", "deck_2000"}
    assert await names_that_begin(store, "deck_") == {"deck_2", "deck_2000"}, "an underscore is no wildcard"
    assert await names_that_begin(store, "old-d") == {"old-deck", "old-decks"}


@pytest.mark.parametrize("name", ["deck", "old-deck"])
async def test_a_starters_names_are_taken_but_not_from_those_who_had_them(store: Store, name: str):
    ada = await caller(store)
    first = await pipeline(store, ada.id, name)
    await store.write(upsert_starters, [DECK])
    kept = await store.write(
        save_version, first.pipeline_id, heading(name), definition("2"), based_on=1, saved_by=ada.id
    )
    assert kept.number == 2
    moved = await store.write(
        save_version, first.pipeline_id, heading("other"), definition("3"), based_on=2, saved_by=ada.id
    )
    assert moved.number == 3
    with pytest.raises(StarterNameError) as refused:
        await store.write(save_version, first.pipeline_id, heading(name), definition("4"), based_on=3, saved_by=ada.id)
    assert (refused.value.key, refused.value.pipeline_id, refused.value.starter) == (name, DECK.id, "deck")
    with pytest.raises(StarterNameError):
        await pipeline(store, ada.id, name)
    await store.write(upsert_starters, [])
    assert await pipeline(store, ada.id, name)


async def test_lists_filter_and_order(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    beta = await pipeline(store, ada.id, "beta", name="beta")
    alpha = await pipeline(store, bob.id, "alpha", name="Alpha")
    gamma = await pipeline(store, ada.id, "gamma", name="Gamma 100%")
    await store.write(upsert_starters, [DECK])
    for number in range(3):
        await run(store, ada.id, number=number, pipeline_id=beta.pipeline_id, version_id=beta.version_id)
    old = SINCE - timedelta(days=9)
    for number in range(5):
        await run(store, ada.id, old, number, pipeline_id=gamma.pipeline_id, version_id=gamma.version_id)
    await run(store, ada.id, number=9, pipeline_id=alpha.pipeline_id, version_id=alpha.version_id)

    assert await names(store, PipelineFilter()) == ["alpha", "beta", "deck", "gamma"]
    assert (await names(store, PipelineFilter(), PipelineOrder.MOST_USED))[:2] == ["beta", "alpha"]
    run_last = await names(store, PipelineFilter(), PipelineOrder.RECENTLY_RUN)
    assert (run_last[:3], sorted(run_last)) == (["alpha", "beta", "gamma"], ["alpha", "beta", "deck", "gamma"])
    recent = await names(store, PipelineFilter(builtin=False), PipelineOrder.RECENTLY_CHANGED)
    assert recent == ["gamma", "alpha", "beta"]
    assert await names(store, PipelineFilter(owner_id=bob.id)) == ["alpha"]
    assert await names(store, PipelineFilter(builtin=True)) == ["deck"]
    assert await names(store, PipelineFilter(text="100% GAMMA")) == ["gamma"]
    assert await names(store, PipelineFilter(text="1%0")) == []


@pytest.mark.parametrize("order", list(PipelineOrder))
async def test_every_order_pages_without_gap_or_repeat_forwards_and_backwards(store: Store, order: PipelineOrder):
    ada = await caller(store)
    made = [await pipeline(store, ada.id, f"p{n}", name="Same" if n % 2 else f"Name {n}") for n in range(7)]
    for number, saved in enumerate(made[:4]):
        await run(store, ada.id, number=number, pipeline_id=saved.pipeline_id, version_id=saved.version_id)

    async def page(window: PageWindow) -> list[tuple[str, tuple[object, ...]]]:
        rows = await list_pipelines(store, PipelineFilter(), order, window, used_since=SINCE)
        return [(row.pipeline.id, row.key) for row in rows]

    whole = await page(PageWindow(limit=50))
    forwards: list[tuple[str, tuple[object, ...]]] = []
    while batch := (await page(PageWindow(after=forwards[-1][1] if forwards else None, limit=2)))[:2]:
        forwards += batch
    backwards: list[tuple[str, tuple[object, ...]]] = []
    while batch := (await page(PageWindow(before=backwards[0][1] if backwards else None, limit=2, reverse=True)))[-2:]:
        backwards = batch + backwards
    assert len(whole) == 7
    assert forwards == whole
    assert backwards == whole
