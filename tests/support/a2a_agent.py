"""An agent of somebody else's that speaks A2A, with the SDK's own client.

async with a2a_agent(it, binding="JSONRPC", protocol="1.0") as other:
    task = await other.send({"text": "tea"}, skill=pipeline)
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_data_part, new_text_part
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
)
from google.protobuf.json_format import MessageToDict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from a2a.client import Client
    from a2a.types import (
        AgentCard,
        ListTaskPushNotificationConfigsResponse,
        ListTasksResponse,
        StreamResponse,
        Task,
    )

    from tests.support.product import Product


def request(
    said: Any,
    *,
    skill: str = "",
    task: str = "",
    context: str = "",
    now: bool = False,
    push: TaskPushNotificationConfig | None = None,
) -> SendMessageRequest:
    """A message with text, data or parts; `now` asks to be answered before the run has ended."""
    match said:
        case list():
            parts = said
        case str():
            parts = [new_text_part(said)]
        case _:
            parts = [new_data_part(said)]
    message = Message(message_id=uuid4().hex, role=Role.ROLE_USER, parts=parts, task_id=task, context_id=context)
    if skill:
        message.metadata.update({"skill": skill})
    configuration = SendMessageConfiguration(return_immediately=now, task_push_notification_config=push)
    return SendMessageRequest(message=message, configuration=configuration)


class Agent:
    """One signed-in client."""

    def __init__(self, client: Client, streaming: Client) -> None:
        self._client = client
        self._streaming = streaming

    async def send(self, said: Any, **given: Any) -> Any:
        """The task or message that a message is answered with."""
        answers = [answer async for answer in self._client.send_message(request(said, **given))]
        assert len(answers) == 1, answers
        kind = answers[0].WhichOneof("payload")
        return getattr(answers[0], kind)

    async def stream(self, said: Any, **given: Any) -> AsyncIterator[StreamResponse]:
        async for answer in self._streaming.send_message(request(said, **given)):
            yield answer

    async def subscribe(self, task: str) -> AsyncIterator[StreamResponse]:
        async for answer in self._streaming.subscribe(SubscribeToTaskRequest(id=task)):
            yield answer

    async def task(self, id: str) -> Task:
        return await self._client.get_task(GetTaskRequest(id=id))

    async def tasks(self, **wanted: Any) -> ListTasksResponse:
        return await self._client.list_tasks(ListTasksRequest(**wanted))

    async def cancel(self, id: str) -> Task:
        return await self._client.cancel_task(CancelTaskRequest(id=id))

    async def set_push(self, config: TaskPushNotificationConfig) -> TaskPushNotificationConfig:
        return await self._client.create_task_push_notification_config(config)

    async def push(self, task: str, id: str) -> TaskPushNotificationConfig:
        wanted = GetTaskPushNotificationConfigRequest(task_id=task, id=id)
        return await self._client.get_task_push_notification_config(wanted)

    async def pushes(self, task: str) -> ListTaskPushNotificationConfigsResponse:
        wanted = ListTaskPushNotificationConfigsRequest(task_id=task)
        return await self._client.list_task_push_notification_configs(wanted)

    async def unset(self, task: str, id: str) -> None:
        wanted = DeleteTaskPushNotificationConfigRequest(task_id=task, id=id)
        await self._client.delete_task_push_notification_config(wanted)

    async def card(self) -> AgentCard:
        return await self._client.get_extended_agent_card(GetExtendedAgentCardRequest())


@asynccontextmanager
async def a2a_agent(
    it: Product, *, token: str | None = None, binding: str = "JSONRPC", protocol: str = "1.0"
) -> AsyncIterator[Agent]:
    """A client that has read the public card and chooses one of its interfaces."""
    async with httpx.AsyncClient(
        headers={"authorization": f"Bearer {token or it.token}"}, trust_env=False, timeout=60, verify=False
    ) as http:
        card = await A2ACardResolver(http, it.url("").rstrip("/")).get_agent_card()
        chosen = [
            each
            for each in card.supported_interfaces
            if (each.protocol_binding, each.protocol_version) == (binding, protocol)
        ]
        assert len(chosen) == 1, card.supported_interfaces
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(chosen)

        def client(*, streaming: bool) -> Client:
            config = ClientConfig(streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding])
            return ClientFactory(config).create(card)

        yield Agent(client(streaming=False), client(streaming=True))


def data_of(parts: Any) -> Any:
    """The data of the only data part."""
    found = [MessageToDict(part.data) for part in parts if part.WhichOneof("content") == "data"]
    assert len(found) == 1, parts
    return found[0]
