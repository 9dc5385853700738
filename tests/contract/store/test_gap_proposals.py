"""Kept gaps: kept, found, listed newest first, deleted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.paging import PageWindow
from store.pipelines.gaps import delete_gap, find_gaps, keep_gap, list_gaps
from tests.support.rows import caller

if TYPE_CHECKING:
    from store.database.engine import Store


async def test_a_gap_is_kept_word_for_word_until_it_is_deleted(store: Store) -> None:
    ada = await caller(store)
    gap = '{"missing_capability":"Post to LinkedIn","proposal":{"name":"linkedin.publish"}}'
    kept = await store.write(keep_gap, caller_id=ada.id, user_intent="post it to LinkedIn 🚀", gap=gap)
    assert kept.id.startswith("gap_")
    assert await find_gaps(store, [kept.id, "gap_none"]) == {kept.id: kept}
    assert await store.write(delete_gap, kept.id)
    assert not await store.write(delete_gap, kept.id)
    assert await find_gaps(store, [kept.id]) == {}


async def test_gaps_are_listed_newest_first_by_pages(store: Store) -> None:
    ada = await caller(store)
    kept = [await store.write(keep_gap, caller_id=ada.id, user_intent=f"{number}", gap="{}") for number in range(3)]
    newest_first = sorted((gap.id for gap in kept), reverse=True)
    first = await list_gaps(store, PageWindow(limit=2))
    rest = await list_gaps(store, PageWindow(after=(first[1].id,), limit=2))
    assert [gap.id for gap in first] == newest_first  # one more than asked for tells that the list goes on
    assert [gap.id for gap in rest] == newest_first[2:]
