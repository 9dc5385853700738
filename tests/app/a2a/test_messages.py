"""Messages start runs; what is missing is asked back; both protocols, both bindings, with the SDK's client."""

from __future__ import annotations

import httpx
import pytest
from a2a.types import TaskState
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from tests.support.a2a_agent import a2a_agent, data_of
from tests.support.front_door import ended, look, save, statements, step

pytestmark = pytest.mark.asyncio(loop_scope="module")

WIRES = [("JSONRPC", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "1.0"), ("HTTP+JSON", "0.3")]


@pytest.mark.parametrize(("binding", "protocol"), WIRES)
async def test_a_data_part_starts_the_named_pipeline(house, binding, protocol):
    pipeline = await save(house, "echo", step("say", "test.echo", text="${{ inputs.text }}"))
    async with a2a_agent(house, binding=binding, protocol=protocol) as agent:
        task = await agent.send({"text": "tea"}, skill=pipeline)
        assert task.status.state == TaskState.TASK_STATE_COMPLETED
        assert (await look(house, task.id))["cause"] == "A2A"
        again = await agent.task(task.id)
        assert again.status.state == TaskState.TASK_STATE_COMPLETED
        assert data_of(again.artifacts[-1].parts)["text"] == "tea"
        assert again.context_id == task.context_id == task.id


async def test_missing_inputs_are_asked_back_and_the_next_message_goes_on(house):
    pipeline = await save(
        house,
        "styled",
        step("say", "test.echo", text="${{ inputs.text }}, ${{ inputs.name }}"),
        inputs={
            "type": "object",
            "required": ["text", "name"],
            "properties": {"text": {"type": "string"}, "name": {"type": "string"}},
        },
    )
    async with a2a_agent(house) as agent:
        task = await agent.send({"text": "tea"}, skill=pipeline, context="conversation-1")
        assert task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        asked = data_of(task.status.message.parts)
        assert (asked["skill"], asked["missing"], asked["inputs"]) == (pipeline, ["name"], {"text": "tea"})
        assert asked["issues"][0]["path"] == ["name"]
        assert asked["input_schema"]["required"] == ["text", "name"]
        assert (await agent.task(task.id)).status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        assert await look(house, task.id) is None
        listed = await agent.tasks(context_id="conversation-1")
        assert [each.id for each in listed.tasks] == [task.id]

        done = await agent.send("Ada", task=task.id)
        assert (done.id, done.context_id) == (task.id, "conversation-1")
        assert done.status.state == TaskState.TASK_STATE_COMPLETED
        assert data_of(done.artifacts[-1].parts)["text"] == "tea, Ada"
        assert (await agent.tasks(context_id="conversation-1")).tasks[0].status.state == done.status.state
        with pytest.raises(UnsupportedOperationError, match="takes no messages"):
            await agent.send("more", task=task.id)


async def test_text_is_routed_and_runs_only_once_confirmed(house):
    pipeline = await save(
        house,
        "brew-tea",
        step("say", "test.echo", text="${{ inputs.topic }}"),
        description="Brews a poem about a topic.",
        inputs={
            "type": "object",
            "required": ["topic"],
            "properties": {"topic": {"type": "string", "description": "Topic of the poem."}},
        },
        metadata={
            "accepts": ["text"],
            "produces": ["text"],
            "intent_keywords": ["poem", "brew"],
            "example_intents": ["Brew a poem about the sea"],
            "typical_use": "Brewing poems.",
            "limitations": ["Only poems."],
        },
    )
    async with a2a_agent(house) as agent:
        task = await agent.send("Brew a poem about the sea")
        assert task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, task
        asked = data_of(task.status.message.parts)
        assert asked["skill"] == pipeline
        assert await look(house, task.id) is None
        done = await agent.send({"topic": "rivers"}, task=task.id)
        assert (done.id, done.status.state) == (task.id, TaskState.TASK_STATE_COMPLETED)
        assert data_of(done.artifacts[-1].parts)["text"] == "rivers"

        task = await agent.send("Brew a poem about the sea")
        withdrawn = await agent.cancel(task.id)
        assert withdrawn.status.state == TaskState.TASK_STATE_CANCELED
        with pytest.raises(TaskNotFoundError):
            await agent.task(task.id)

        answer = await agent.send("Translate this whale song into Morse code on a steam organ")
        assert answer.DESCRIPTOR.name == "Message"
        assert data_of(answer.parts)["gap_warnings"][0]["missing_capability"]


@pytest.mark.parametrize(("binding", "protocol"), WIRES)
async def test_a_stream_follows_the_run_to_its_end(house, bench, binding, protocol):
    pipeline = await save(
        house,
        f"slow-{binding[0].lower()}{protocol[0]}",
        step("wait", "test.slow", text="tea"),
        step("make", "test.artifact", name="note.txt"),
    )
    bench.started.clear()
    bench.release.clear()
    async with a2a_agent(house, binding=binding, protocol=protocol) as agent:
        stream = agent.stream({}, skill=pipeline)
        first = await anext(stream)
        assert first.task.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
        await bench.started.wait()
        other = agent.subscribe(first.task.id)
        assert (await anext(other)).task.id == first.task.id
        bench.release.set()
        events = [event async for event in stream]
        resumed = [event async for event in other]
    for seen in (events, resumed):
        kinds = [event.WhichOneof("payload") for event in seen]
        assert kinds[-1] == "status_update"
        assert seen[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
        files = [event.artifact_update.artifact for event in seen if event.WhichOneof("payload") == "artifact_update"]
        assert {file.name for file in files} == {"note.txt", "output"}
        file = next(file for file in files if file.name == "note.txt")
        async with httpx.AsyncClient(trust_env=False, verify=False) as http:
            assert (await http.get(file.parts[0].url)).status_code == 200


async def test_a_failure_says_what_to_do_and_a_run_can_be_cancelled(house, bench):
    failing = await save(house, "failing", step("fail", "test.fail", message="No luck."))
    slow = await save(house, "slow", step("wait", "test.slow", text="tea"))
    bench.started.clear()
    bench.release.clear()
    async with a2a_agent(house) as agent:
        task = await agent.send({}, skill=failing)
        assert task.status.state == TaskState.TASK_STATE_FAILED
        failure = data_of(task.status.message.parts)["failure"]
        assert (failure["code"], failure["message"]) == ("INVALID_INPUT", "No luck.")
        with pytest.raises(TaskNotCancelableError):
            await agent.cancel(task.id)

        running = await agent.send({}, skill=slow, now=True)
        await bench.started.wait()
        assert (await agent.cancel(running.id)).id == running.id
        await ended(house, running.id)
        assert (await agent.task(running.id)).status.state == TaskState.TASK_STATE_CANCELED
        listed = await agent.tasks(status=TaskState.TASK_STATE_CANCELED)
        assert running.id in [each.id for each in listed.tasks]


async def test_a_list_of_tasks_takes_a_fixed_number_of_statements_and_has_pages(house):
    pipeline = await save(house, "echo", step("say", "test.echo", text="${{ inputs.text }}"))
    async with a2a_agent(house) as agent:
        ids = [(await agent.send({"text": "tea"}, skill=pipeline, context="many")).id for _ in range(6)]
        for wanted in ({"context_id": "many"}, {}):
            counts = []
            for size in (2, 6):
                with statements() as seen:
                    listed = await agent.tasks(page_size=size, **wanted)
                assert [task.id for task in listed.tasks] == ids[::-1][:size]
                assert {task.context_id for task in listed.tasks} == {"many"}
                counts.append(len(seen))
            assert counts[0] == counts[1] <= 5, counts
            found, token = [], ""
            while len(found) < 6:
                page = await agent.tasks(page_size=4, page_token=token, **wanted)
                found += [task.id for task in page.tasks]
                token = page.next_page_token
            assert found[:6] == ids[::-1]
        for status, total in (("UNSPECIFIED", 6), ("COMPLETED", 6), ("FAILED", 0), ("INPUT_REQUIRED", 0)):
            wanted = TaskState.Value(f"TASK_STATE_{status}")
            page = await agent.tasks(context_id="many", page_size=2, status=wanted)
            assert (len(page.tasks), page.total_size) == (min(2, total), total), status


async def test_the_skill_for_runs_answers_with_its_tools(house):
    pipeline = await save(house, "echo", step("say", "test.echo", text="${{ inputs.text }}"))
    async with a2a_agent(house) as agent:
        task = await agent.send({"text": "tea"}, skill=pipeline)
        answer = await agent.send({"tool": "list_runs", "arguments": {"limit": 1}}, skill="runs")
        assert data_of(answer.parts)["items"][0]["run_id"] == task.id
        answer = await agent.send({"skill": "runs", "tool": "get_run", "arguments": {"run_id": "run_none"}})
        assert data_of(answer.parts)["error"]["code"] == "NOT_FOUND"
        with pytest.raises(InvalidParamsError, match="one of list_runs"):
            await agent.send({"tool": "delete_pipeline", "arguments": {}}, skill="runs")
