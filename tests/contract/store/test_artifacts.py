from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from store.database.ids import new_id
from store.database.paging import PageWindow
from store.files.artifacts import (
    ArtifactFilter,
    ArtifactOrder,
    add_upload,
    artifacts_of_attempts,
    change_status,
    count_artifacts,
    erase_artifacts,
    expire_artifacts,
    find_artifact,
    list_artifacts,
    pin_artifact,
    unpin_artifact,
    use_upload,
)
from store.states import ArtifactStatus
from tests.support.rows import START, attempt, caller, insert, pipeline, run, step

if TYPE_CHECKING:
    from store.database.engine import Store

LONG_AGO = START - timedelta(days=300)


async def artifact(store: Store, caller_id: str, **changes: object) -> str:
    values: dict[str, object] = {
        "id": new_id("art"),
        "caller_id": caller_id,
        "name": "notes.txt",
        "media_type": "text/plain",
        "size_bytes": 5,
        "digest": "a" * 64,
        "status": "stored",
        "pinned": False,
        "created_at": START,
    }
    values |= changes
    await store.write(insert, "artifact", values)
    return str(values["id"])


async def listed(store: Store, wanted: ArtifactFilter, visible_to: str | None = None) -> set[str]:
    rows = await list_artifacts(store, wanted, PageWindow(), visible_to=visible_to)
    assert await count_artifacts(store, wanted, visible_to=visible_to) == len(rows)
    return {row.name for row in rows}


async def test_pages_by_size_hold_each_artifact_once(store: Store):
    ada = await caller(store)
    sizes = [3, 9, 9, 1, 9, 2**40]
    made = [await artifact(store, ada.id, size_bytes=size) for size in sizes]
    wanted = sorted(zip(sizes, made, strict=True), reverse=True)
    for reverse in (False, True):
        found: list[tuple[int, str]] = []
        while len(found) < len(made):
            end = (found[0] if reverse else found[-1]) if found else None
            window = PageWindow(None if reverse else end, end if reverse else None, 2, reverse)
            rows = await list_artifacts(store, ArtifactFilter(), window, order=ArtifactOrder.LARGEST)
            page = [(row.size_bytes, row.id) for row in rows]
            found = page[-2:] + found if reverse else found + page[:2]
        assert found == wanted


async def test_lists_filter(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    deck = await pipeline(store, ada.id)
    run_id = await run(store, ada.id, pipeline_id=deck.pipeline_id)
    await artifact(store, ada.id, name="Deck_1.pdf", media_type="application/pdf", run_id=run_id)
    await artifact(store, ada.id, name="cover.png", media_type="image/png", status="proposed", pinned=True)
    await artifact(store, bob.id, name="old.txt", erased_at=START)
    await artifact(store, bob.id, name="photo.jpg", media_type="image/jpeg")
    assert await listed(store, ArtifactFilter()) == {"Deck_1.pdf", "cover.png", "photo.jpg"}
    assert await listed(store, ArtifactFilter(erased=True), visible_to=bob.id) == {"old.txt", "photo.jpg"}
    assert await listed(store, ArtifactFilter(text="DECK_")) == {"Deck_1.pdf"}
    assert await listed(store, ArtifactFilter(text="k_.")) == set()
    assert await listed(store, ArtifactFilter(media_types=("image/*", "application/pdf"))) == {
        "Deck_1.pdf",
        "cover.png",
        "photo.jpg",
    }
    assert await listed(store, ArtifactFilter(media_types=("image/png",))) == {"cover.png"}
    assert await listed(store, ArtifactFilter(statuses=(ArtifactStatus.PROPOSED,))) == {"cover.png"}
    assert await listed(store, ArtifactFilter(pipeline_ids=(deck.pipeline_id,))) == {"Deck_1.pdf"}
    assert await listed(store, ArtifactFilter(run_id=run_id)) == {"Deck_1.pdf"}
    assert await listed(store, ArtifactFilter(pinned=True)) == {"cover.png"}
    assert await listed(store, ArtifactFilter(pinned=False)) == {"Deck_1.pdf", "photo.jpg"}


async def test_an_upload_expires_and_a_pinned_one_does_not(store: Store):
    ada = await caller(store)
    one = await store.write(
        add_upload, caller_id=ada.id, name="a", media_type="t/p", size_bytes=1, digest="b" * 64, keep_days=-1
    )
    two = await store.write(
        add_upload, caller_id=ada.id, name="b", media_type="t/p", size_bytes=1, digest="b" * 64, keep_days=-1
    )
    assert await store.write(pin_artifact, two)
    assert not await store.write(pin_artifact, two)
    assert await store.write(expire_artifacts) == 1
    assert await store.write(expire_artifacts) == 0
    erased = await find_artifact(store, one)
    assert erased is not None
    assert erased.erased_at is not None
    assert not await store.write(pin_artifact, one), "what is erased cannot be pinned"


async def test_an_upload_that_is_used_stays_longer(store: Store):
    ada = await caller(store)

    async def until(artifact_id: str) -> datetime | None:
        found = await find_artifact(store, artifact_id)
        assert found is not None
        return found.expires_at

    soon, later = START + timedelta(minutes=1), datetime.now(UTC) + timedelta(days=6, hours=23)
    used = await artifact(store, ada.id, expires_at=soon)
    assert await store.write(use_upload, used, keep_days=7)
    expires_at = await until(used)
    assert expires_at is not None
    assert expires_at > later
    assert not await store.write(use_upload, used, keep_days=7), "an hour is near enough"
    for changes in ({"pinned": True, "expires_at": None}, {"run_id": new_id("run"), "expires_at": soon}):
        other = await artifact(store, ada.id, **changes)
        assert not await store.write(use_upload, other, keep_days=7)
        assert await until(other) == changes["expires_at"]


async def test_what_another_run_reuses_does_not_expire(store: Store):
    ada = await caller(store)
    origin = await run(store, ada.id, number=1)
    made_by = await attempt(store, origin, await step(store, origin))
    kept = await artifact(store, ada.id, run_id=origin, attempt_id=made_by, expires_at=LONG_AGO)
    again = await run(store, ada.id, number=2)
    await attempt(store, again, await step(store, again), reused_from=made_by)
    assert await store.write(expire_artifacts) == 0
    by_attempt = await artifacts_of_attempts(store, [made_by, "att_x"])
    (there,) = by_attempt[made_by]
    assert (there.id, there.erased_at) == (kept, None)
    assert by_attempt["att_x"] == []


async def test_unpinned_it_goes_by_its_run(store: Store):
    ada = await caller(store)
    ended = datetime.now(UTC) - timedelta(days=2)
    succeeded = await run(store, ada.id, number=1, ended_at=ended)
    failed = await run(store, ada.id, number=2, state="failed")
    of_succeeded = await artifact(store, ada.id, run_id=succeeded, pinned=True)
    of_failed = await artifact(store, ada.id, run_id=failed, pinned=True)
    of_none = await artifact(store, ada.id, run_id="run_gone", pinned=True)
    for each in (of_succeeded, of_failed, of_none):
        assert await store.write(unpin_artifact, each, keep_days=7)
        assert not await store.write(unpin_artifact, each, keep_days=7)
    first, second, third = [await find_artifact(store, each) for each in (of_succeeded, of_failed, of_none)]
    assert first is not None
    assert second is not None
    assert third is not None
    assert first.expires_at == ended + timedelta(days=7)
    assert second.expires_at is None
    assert third.expires_at is not None
    assert third.expires_at > datetime.now(UTC) + timedelta(days=6)


async def test_status_changes_from_what_it_is(store: Store):
    ada = await caller(store)
    made = await artifact(store, ada.id, status="proposed")
    assert await store.write(change_status, made, ArtifactStatus.PROPOSED, ArtifactStatus.VERIFIED)
    assert not await store.write(change_status, made, ArtifactStatus.PROPOSED, ArtifactStatus.VERIFIED)
    assert await store.write(erase_artifacts, [made, "art_x"]) == 1
