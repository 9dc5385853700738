"""Messages start runs; what is missing is asked back; both protocols, both bindings, with the SDK's client."""

from __future__ import annotations

import pytest
from a2a.types import TaskState

from tests.support.a2a_agent import a2a_agent, data_of
from tests.support.front_door import look, save, step

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
