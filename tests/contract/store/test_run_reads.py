from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING

import pytest

from runner.json_values import canonical_json
from store.database.paging import PageWindow
from store.pipelines.usage import Usage, usage_of_packs, usage_of_pipelines
from store.runs.events import EVENTS_PER_ROW, events_after, list_events
from store.runs.idempotency_keys import find_earlier_start
from store.runs.ledger import Ledger
from store.runs.reads import (
    Ahead,
    RunFilter,
    count_held,
    count_queued,
    count_runs,
    find_payloads,
    find_run_by_id,
    find_runs,
    list_runs,
    newest_runs,
    queue_places,
)
from store.runs.step_reads import (
    attempt_payloads,
    attempts_of_steps,
    find_attempts,
    find_steps,
    milestones_of,
    steps_of_runs,
)
from store.states import AttemptState, EventType, RunCause, RunState, StepState
from tests.support.rows import START, attempt, caller, insert, pipeline, run, step
from tests.support.run_rows import attempts_of_run

if TYPE_CHECKING:
    from store.database.dialects import Connection
    from store.database.engine import Store

MINUTE = timedelta(minutes=1)


async def listed(store: Store, wanted: RunFilter, visible_to: str | None = None, **window: object) -> list[str]:
    page = PageWindow(**window)  # type: ignore[arg-type]
    found = [each.id for each in await list_runs(store, wanted, page, visible_to=visible_to)]
    if not window:
        assert await count_runs(store, wanted, visible_to=visible_to) == len(found)
    return found


async def test_runs_that_wait_and_runs_that_are_held_are_counted_for_all_callers(store: Store):
    assert (await count_queued(store), await count_held(store)) == (0, 0)
    owners = [await caller(store, subject) for subject in ("ada", "bob")]
    for number, (owner, state) in enumerate(product(owners, RunState)):
        await run(store, owner.id, number=number, state=state.value)
    assert (await count_queued(store), await count_held(store)) == (2, 4)


async def test_a_run_is_read_by_id_by_those_who_may_see_it(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    mine = await run(store, ada.id, cause="agent", failure='{"code":"timeout"}', state="failed")
    found = await find_runs(store, [mine, "run_x"])
    assert await find_runs(store, [mine], visible_to=bob.id) == {}
    assert await find_runs(store, [mine], visible_to=ada.id) == found
    payload = (await find_payloads(store, [mine]))[mine]
    (record,) = found.values()
    assert (record.state, record.cause) == (RunState.FAILED, RunCause.AGENT)
    assert record.created_at == START
    assert record.force is False
    assert payload.inputs == '{"topic":"lighthouses"}'
    assert not hasattr(record, "inputs")


async def test_filters_join_by_and_with_or_inside(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    deck, notes = await pipeline(store, ada.id), await pipeline(store, ada.id, "notes")
    a = await run(store, ada.id, START, 1, pipeline_id=deck.pipeline_id, version_id=deck.version_id)
    b = await run(store, ada.id, START + MINUTE, 2, pipeline_id=notes.pipeline_id, state="failed", cause="schedule")
    c = await run(store, bob.id, START + 2 * MINUTE, 3, pack="web.scrape", state="queued", search_text="100% tea")
    d = await run(store, bob.id, START + 3 * MINUTE, 4, state="running", rerun_of=a)

    assert await listed(store, RunFilter()) == [d, c, b, a]
    assert await listed(store, RunFilter(states=(RunState.FAILED, RunState.QUEUED))) == [c, b]
    assert await listed(store, RunFilter(states=(RunState.RUNNING,))) == [d]
    assert await listed(store, RunFilter(states=())) == []
    assert await listed(store, RunFilter(pipeline_ids=(deck.pipeline_id, notes.pipeline_id))) == [b, a]
    assert await listed(store, RunFilter(pipeline_ids=(deck.pipeline_id,), states=(RunState.FAILED,))) == []
    assert await listed(store, RunFilter(packs=("web.scrape",))) == [c]
    assert await listed(store, RunFilter(caller_ids=(ada.id, bob.id), states=tuple(RunState))) == [d, c, b, a]
    assert await listed(store, RunFilter(caller_ids=(bob.id,), causes=(RunCause.PERSON,))) == [d, c]
    assert await listed(store, RunFilter(rerun_of=a)) == [d]
    assert await listed(store, RunFilter(text="TEA 100%")) == [c]
    assert await listed(store, RunFilter(text="1%0")) == []
    assert await listed(store, RunFilter(text="1_0%")) == []
    assert await listed(store, RunFilter(created_from=START + MINUTE, created_before=START + 3 * MINUTE)) == [c, b]
    assert await listed(store, RunFilter(), visible_to=ada.id) == [b, a]
    assert await listed(store, RunFilter(caller_ids=(bob.id,)), visible_to=ada.id) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"', ["quoted", "quoted before"]),
        ('"tea"', ["quoted", "quoted before"]),
        ("c:\\tea", ["quoted", "quoted before"]),
        ("{", ["quoted"]),
        (",", []),
        ("}", []),
        ("said", ["quoted before", "before"]),
        ("green", ["plain", "quoted", "quoted before", "before"]),
        ("GREEN Tea", ["plain", "quoted", "quoted before", "before"]),
        ("50%_a/b", ["plain", "before"]),
        ("50%%a", []),
        ("50%/_a", []),
    ],
)
async def test_words_are_looked_for_in_what_inputs_say(store: Store, text: str, found: list[str]):
    """Runs of earlier releases keep their inputs as JSON: they are found by the same words, and by field names."""
    ada = await caller(store)
    plain, quoted = "green tea 50%_a/b", 'green "tea" c:\\tea'
    names = {
        await run(store, ada.id, START, 1, search_text=_json_text("deck", {"said": plain})): "before",
        await run(store, ada.id, START, 2, search_text=_json_text("deck", {"said": quoted})): "quoted before",
        await run(store, ada.id, START, 3, search_text=f"\ndeck\n{quoted} {{"): "quoted",
        await run(store, ada.id, START, 4, search_text=f"\ndeck\n{plain}"): "plain",
    }
    assert [names[run_id] for run_id in await listed(store, RunFilter(text=text))] == found


def _json_text(title: str, inputs: dict[str, str]) -> str:
    return f"{title}\n{canonical_json(inputs)}".lower()


async def test_needs_attention_until_acknowledged_or_succeeded_by_a_rerun_of_any_depth(store: Store):
    ada = await caller(store)
    lonely = await run(store, ada.id, number=1, state="failed")
    await run(store, ada.id, number=2, state="failed", acknowledged_at=START)
    await run(store, ada.id, number=3)
    first = await run(store, ada.id, number=4, state="failed")
    second = await run(store, ada.id, number=5, state="failed", rerun_of=first)
    assert await listed(store, RunFilter(needs_attention=True)) == [second, first, lonely]
    await run(store, ada.id, number=6, rerun_of=second)
    assert await listed(store, RunFilter(needs_attention=True)) == [lonely]
    assert len(await listed(store, RunFilter(needs_attention=False))) == 5
    assert await listed(store, RunFilter(needs_attention=True, states=(RunState.FAILED, RunState.QUEUED))) == [lonely]


@pytest.mark.parametrize(
    "wanted", [RunFilter(), RunFilter(states=(RunState.SUCCEEDED, RunState.FAILED)), RunFilter(text="run")]
)
async def test_lists_page_without_gap_or_repeat_both_ways(store: Store, wanted: RunFilter):
    ada = await caller(store)
    for number in range(9):
        await run(store, ada.id, number=number, state="failed" if number % 3 else "succeeded")
    whole = await listed(store, wanted, limit=50)
    assert whole == sorted(whole, reverse=True)
    assert len(whole) == 9
    forwards: list[str] = []
    while batch := (await listed(store, wanted, after=(forwards[-1],) if forwards else None, limit=2))[:2]:
        forwards += batch
    backwards: list[str] = []
    while batch := (await listed(store, wanted, before=(backwards[0],) if backwards else None, limit=2, reverse=True))[
        -2:
    ]:
        backwards = batch + backwards
    assert forwards == backwards == whole


async def test_the_newest_runs_of_each_pipeline(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    deck, notes = await pipeline(store, ada.id), await pipeline(store, ada.id, "notes")
    await run(store, ada.id, number=1, pipeline_id=deck.pipeline_id)
    of_ada = await run(store, ada.id, number=2, pipeline_id=deck.pipeline_id)
    of_bob = await run(store, bob.id, number=3, pipeline_id=deck.pipeline_id)
    ids = [deck.pipeline_id, notes.pipeline_id]
    newest = await newest_runs(store, ids, 2)
    visible = await newest_runs(store, ids, 1, visible_to=ada.id)
    assert await newest_runs(store, [], 1) == {}
    assert {key: [run.id for run in runs] for key, runs in newest.items()} == {deck.pipeline_id: [of_bob, of_ada]}
    assert {key: [run.id for run in runs] for key, runs in visible.items()} == {deck.pipeline_id: [of_ada]}


async def test_queued_runs_know_their_place(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    await run(store, ada.id, number=1, state="running")
    await run(store, ada.id, number=2, state="queued", admitted=True)
    theirs = await run(store, bob.id, number=3, state="queued", admitted=True)
    last = await run(store, ada.id, number=4, state="queued")
    rescued = await run(store, bob.id, number=5, state="queued", priority=-10, admitted=True)
    behind = await run(store, bob.id, number=6, state="queued", priority=-10)
    done = await run(store, ada.id, number=7)
    places = await queue_places(store, [last, rescued, theirs, behind, done])
    assert places == {
        last: Ahead(of_all=1, of_caller=1),
        rescued: Ahead(0, 0),
        theirs: Ahead(of_all=2, of_caller=1),
        behind: Ahead(of_all=2, of_caller=2),
    }


async def test_steps_and_attempts_are_read_for_many_at_once(store: Store):
    ada = await caller(store)
    one, two = await run(store, ada.id, number=1), await run(store, ada.id, number=2)
    late = await step(store, one, 2, state="failed")
    early = await step(store, one, 1, milestones='[{"message":"half"}]')
    first = await attempt(store, one, late, 1, state="lost", output=None)
    second = await attempt(store, one, late, 2)
    steps = await steps_of_runs(store, [one, two])
    assert [each.id for each in steps[one]] == [early, late]
    assert steps[two] == []
    assert steps[one][1].state is StepState.FAILED
    assert (await find_steps(store, [late]))[late] == steps[one][1]
    assert await milestones_of(store, [early, late]) == {early: '[{"message":"half"}]', late: "[]"}
    attempts = await attempts_of_steps(store, [early, late])
    assert attempts[early] == []
    assert [each.id for each in attempts[late]] == [first, second]
    assert attempts[late][0].state is AttemptState.LOST
    assert set(await find_attempts(store, [first])) == {first}
    assert {each.id for each in await attempts_of_run(store, one)} == {first, second}
    payloads = await attempt_payloads(store, [first, second])
    assert payloads[first].output is None
    assert payloads[second].output == '{"b":2}'


async def test_events_page_both_ways(store: Store):
    ada = await caller(store)
    run_id = await run(store, ada.id)
    for sequence in range(1, 8):
        await store.write(
            insert, "run_event", {"run_id": run_id, "sequence": sequence, "at": START, "type": "run_state"}
        )

    async def page(**window: object) -> list[int]:
        rows = await list_events(store, run_id, PageWindow(**window))  # type: ignore[arg-type]
        return [each.sequence for each in rows]

    assert await page(limit=3) == [1, 2, 3, 4]
    assert await page(after=(4,), limit=10) == [5, 6, 7]
    assert await page(before=(4,), limit=2, reverse=True) == [1, 2, 3]
    for beyond_all in (2**31 - 1, 2**63 - 1):  # of a cursor that nobody was given
        assert await page(before=(beyond_all,), limit=2, reverse=True) == [5, 6, 7]


async def test_events_that_share_rows_page_as_if_each_had_its_own(store: Store):
    """Every window, over rows of one event, of several, and of as many as one holds and one more."""
    ada = await caller(store)
    run_id = await run(store, ada.id)
    units = (1, 4, 2, EVENTS_PER_ROW + 1, 1, 1, 3)
    last = sum(units)

    def tell(conn: Connection) -> None:
        told = 0
        for count in units:
            ledger = Ledger(conn, run_id, conn.now(), next_seq=told + count + 1, reserved=count)
            for number in range(told + 1, told + count + 1):
                ledger.add(EventType.STEP_PROGRESS, step_id="step_a", reason=f"Nº {number}", data='{"a":"\\u0000"}')
            ledger.write()
            told += count

    await store.write(tell)
    everything = await events_after(store, run_id, 0, limit=last)
    assert [(each.sequence, each.reason) for each in everything] == [(n, f"Nº {n}") for n in range(1, last + 1)]
    assert {(each.run_id, each.type, each.step_id, each.data) for each in everything} == {
        (run_id, "step_progress", "step_a", '{"a":"\\u0000"}')
    }
    for after, before, limit, reverse in product(
        (None, *range(last)), (None, *range(1, last + 2)), (1, 2, 5), (False, True)
    ):
        window = PageWindow((after,) if after is not None else None, (before,) if before else None, limit, reverse)
        within = [each for each in everything if (after or 0) < each.sequence < (before or last + 1)]
        wanted = within[-limit - 1 :] if reverse else within[: limit + 1]
        assert await list_events(store, run_id, window) == wanted
    for limit in range(1, last + 2):
        assert await events_after(store, run_id, None, limit=limit) == everything[-limit:]
        for after in range(last + 1):
            assert await events_after(store, run_id, after, limit=limit) == everything[after : after + limit]


async def test_usage_counts_the_last_stretch_of_time(store: Store):
    ada = await caller(store)
    deck = await pipeline(store, ada.id)
    for number, seconds in enumerate((1, 2, 10, 300)):
        begun = START + number * MINUTE
        run_id = await run(
            store,
            ada.id,
            begun,
            number,
            pipeline_id=deck.pipeline_id,
            ended_at=begun + timedelta(seconds=seconds),
            state="failed" if seconds == 300 else "succeeded",
        )
        echo = await step(store, run_id, 1, started_at=begun, ended_at=begun + timedelta(seconds=seconds))
        # The first attempt failed, and the second one began with a resume.
        worked = timedelta(seconds=number + 0.5)
        await attempt(store, run_id, echo, 1, started_at=begun, ended_at=begun + worked)
        await attempt(store, run_id, echo, 2, started_at=begun + MINUTE / 2, ended_at=begun + MINUTE / 2 + worked)
        await attempt(store, run_id, echo, 3, ended_at=START + 60 * MINUTE, reused_from="att_x")
        await step(store, run_id, 2, pack="never.ran", state="pending")
    await run(store, ada.id, START - timedelta(days=40), pipeline_id=deck.pipeline_id)
    used = await usage_of_pipelines(store, [deck.pipeline_id, "pipe_x"], START)
    assert await usage_of_pipelines(store, None, START) == used
    packs = await usage_of_packs(store, None, START)
    assert await usage_of_packs(store, ["other"], START) == {}
    usage = used.pop(deck.pipeline_id)
    assert not used
    assert (usage.runs, usage.failed, usage.last_run_at) == (4, 1, START + 3 * MINUTE)
    assert usage.median_duration_seconds == pytest.approx(3, abs=0.001)
    assert set(packs) == {"demo.echo"}
    assert packs["demo.echo"] == Usage(4, 0, packs["demo.echo"].median_duration_seconds, START + 3 * MINUTE)
    assert packs["demo.echo"].median_duration_seconds == pytest.approx(4, abs=0.001)


async def test_ids_are_looked_up_whatever_their_number(store: Store):
    ada = await caller(store)
    ids = [await run(store, ada.id, number=number) for number in range(3)]
    for unknown in (0, 1, 30, 600):
        asked = [*(f"run_{number}" for number in range(unknown)), *ids]
        assert set(await find_payloads(store, asked)) == set(ids)
        assert await steps_of_runs(store, asked) == {run_id: [] for run_id in asked}
    assert await find_payloads(store, []) == {}


async def test_a_key_finds_its_callers_run_alone(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    mine = await run(store, ada.id, idempotency_key="k", request_digest="d")
    assert await find_earlier_start(store, ada.id, "k") == (mine, "d", START, False)
    assert await find_earlier_start(store, bob.id, "k") is None
    assert await find_earlier_start(store, ada.id, "other") is None


async def test_one_run_is_the_same_read_either_way(store: Store) -> None:
    ada, bob = await caller(store), await caller(store, "bob")
    plain = await run(store, ada.id, number=1, state="queued")
    later = START + timedelta(seconds=1)
    full = await run(
        store,
        ada.id,
        number=2,
        state="failed",
        force=True,
        failure='{"code":"timeout"}',
        not_before=later,
        lease_until=later,
        acknowledged_at=later,
        deadline_at=later,
        cancel_requested=True,
    )
    for run_id in (plain, full):
        assert {run_id: await find_run_by_id(store, run_id)} == await find_runs(store, [run_id])
        assert await find_run_by_id(store, run_id, visible_to=ada.id) is not None
        assert await find_run_by_id(store, run_id, visible_to=bob.id) is None
    assert await find_run_by_id(store, "run_nobody") is None
