"""Watching: what the operations that tell on promise."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import step
from tests.support.graphql_client import PATIENCE_SECONDS
from tests.support.surfaces import states

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def take(messages: AsyncIterator[Any]) -> Any:
    """The next message."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await anext(messages)


@states("watch_run", "run_pipeline")
async def test_events_come_in_order_from_any_position_until_the_end(api: Api) -> None:
    await api.save(step("say", "test.echo", text="hi"), step("hold", "test.slow"))
    run = (await api.me.call("run_pipeline", pipeline=api.key))["run"]
    await api.bench.started.wait()

    seen: list[dict[str, Any]] = []
    cursor = None
    async with aclosing(api.me.watch("watch_run", id=run["id"])) as messages:
        while True:
            batch = await take(messages)
            seen += batch["events"]
            if batch["live"] and any(event.get("attemptState") == "RUNNING" for event in batch["events"]):
                cursor = batch["cursor"]
                break
    api.bench.release.set()
    async with aclosing(api.me.watch("watch_run", id=run["id"], after=cursor)) as messages:
        rest = [message async for message in messages]
    seen += [event for message in rest[:-1] for event in message["events"]]

    assert rest[-1]["__typename"] == "RunEventsEnd"
    assert rest[-1]["run"]["state"] == "SUCCEEDED"
    assert [event["sequence"] for event in seen] == list(range(1, len(seen) + 1))
    assert [event["runState"] for event in seen if "runState" in event] == ["QUEUED", "RUNNING", "SUCCEEDED"]
    again = [message async for message in api.me.watch("watch_run", id=run["id"])]
    assert [event for message in again[:-1] for event in message["events"]] == seen


@states("watch_runs", "run_pipeline", "delete_run")
async def test_lists_are_told_of_runs_that_change_and_go(api: Api) -> None:
    await api.save(step("say", "test.echo", text="hi"))
    async with aclosing(api.me.watch("watch_runs", filter={"pipelines": [api.key]})) as messages:
        assert (await take(messages))["runs"] == []
        run = (await api.me.call("run_pipeline", pipeline=api.key, waitSeconds=20))["run"]
        state = None
        while state != "SUCCEEDED":
            for changed in (await take(messages))["runs"]:
                assert changed["id"] == run["id"]
                state = changed["state"]
        await api.me.call("delete_run", id=run["id"])
        gone: list[str] = []
        while not gone:
            gone = (await take(messages))["deletedIds"]
        assert gone == [run["id"]]


@states("watch_attempt", "run_pipeline")
async def test_what_an_attempt_logs_is_told_until_it_has_ended(api: Api) -> None:
    await api.save(step("tell", "test.progress", count=5))
    run = (await api.me.call("run_pipeline", pipeline=api.key, waitSeconds=20))["run"]
    attempt = run["steps"][0]["attempts"][0]["id"]

    messages = [message async for message in api.me.watch("watch_attempt", id=attempt)]

    assert [line["text"] for message in messages[:-1] for line in message["lines"]] == [f"did {n}" for n in range(1, 6)]
    assert messages[-1]["attempt"]["state"] == "SUCCEEDED"
    after = [message async for message in api.me.watch("watch_attempt", id=attempt, after=messages[-1]["cursor"])]
    assert [message["__typename"] for message in after] == ["AttemptOutputEnd"]
