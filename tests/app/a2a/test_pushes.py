"""Push notifications: sent to the addresses callers give, kept through failures and restarts, and to no others."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from a2a.types import (
    AuthenticationInfo,
    StreamResponse,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import InvalidParamsError, InvalidRequestError, TaskNotFoundError
from google.protobuf.json_format import ParseDict

from app.a2a import pusher
from store.database.dialects import Sql
from store.runs.a2a_pushes import PUSHES_MAX, due_pushes, tasks_with_pushes
from store.secrets.vault_key import FILE_NAME
from tests.support.a2a_agent import a2a_agent
from tests.support.databases import ready_database
from tests.support.front_door import save, step
from tests.support.loopback_http import LoopbackHttp, Reply, loopback_http
from tests.support.packs import Workbench
from tests.support.product import Product, product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.engine import Store
    from store.runs.a2a_pushes import DuePush

pytestmark = pytest.mark.asyncio(loop_scope="module")

_NOW = Sql("UPDATE a2a_push SET not_before = NULL")
_AFRESH = Sql("UPDATE a2a_push SET not_before = NULL, failures = 0")
_FAILURES = Sql("SELECT failures FROM a2a_push")
_TRIED = Sql("SELECT task_id FROM a2a_push WHERE failures > 0 OR not_before IS NOT NULL")
WIRES = [("JSONRPC", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "1.0"), ("HTTP+JSON", "0.3")]
DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


def config(receiver: LoopbackHttp, task: str = "", **more: Any) -> TaskPushNotificationConfig:
    return TaskPushNotificationConfig(task_id=task, url=receiver.url("/hook"), **more)


def states(receiver: LoopbackHttp, protocol: str = "1.0") -> list[str]:
    """The states of the tasks it heard of, in order."""
    found = []
    for request in receiver.requests:
        body = json.loads(request.body)
        if protocol == "0.3":
            assert body["kind"] == "task"
            found.append(body["status"]["state"])
        else:
            task = ParseDict(body, StreamResponse()).task
            found.append(TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower())
    return found


async def heard(receiver: LoopbackHttp, state: str, protocol: str = "1.0") -> list[str]:
    """What it heard, once the last is this state."""

    def found() -> list[str]:
        seen = states(receiver, protocol)
        return seen if seen[-1:] == [state] else []

    return await eventually(found)


@pytest.mark.parametrize(("binding", "protocol"), WIRES)
async def test_a_receiver_hears_of_each_state(tmp_path: Path, binding: str, protocol: str) -> None:
    bench = Workbench()
    async with (
        loopback_http({"/hook": Reply()}) as receiver,
        product(tmp_path, bench.packs, egress_allow=("127.0.0.1",)) as it,
        a2a_agent(it, binding=binding, protocol=protocol) as agent,
    ):
        pipeline = await save(it, "slow", step("wait", "test.slow", text="tea"))
        given = config(receiver, token="t0p", authentication=AuthenticationInfo(scheme="Bearer", credentials="s3cret"))
        task = await agent.send({}, skill=pipeline, now=True, push=given)
        await heard(receiver, "working", protocol)
        stored = await agent.push(task.id, task.id)
        assert (stored.id, stored.url, stored.token) == (task.id, receiver.url("/hook"), "")
        if (binding, protocol) != ("HTTP+JSON", "0.3"):  # which the SDK's client does not list on
            assert list((await agent.pushes(task.id)).configs) == [stored]
        bench.release.set()
        assert (await heard(receiver, "completed", protocol))[-2:] == ["working", "completed"]
        for request in receiver.requests:
            assert request.headers["x-a2a-notification-token"] == "t0p"
            assert request.headers["authorization"] == "Bearer s3cret"
            assert "tea" not in request.body.decode(), "what a run made is read from the server"

        async def is_forgotten() -> bool:
            return not await it.services.store.rows(_FAILURES)

        assert await eventually(is_forgotten)


@pytest.mark.parametrize("database", DATABASES)
async def test_what_was_not_taken_is_sent_again_also_by_another_server(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pusher, "AGAIN_SECONDS", (0.0, 0.0, 3600.0))
    monkeypatch.setattr(pusher, "_BUSY_POLL_SECONDS", 0.05)
    bench = Workbench()
    bench.release.set()
    with ready_database() if database == "postgresql" else nullcontext("sqlite") as url:
        await _send_again(tmp_path, bench, url)


async def _send_again(tmp_path: Path, bench: Workbench, url: str) -> None:
    async with loopback_http({"/hook": Reply(b"later", 503)}) as receiver:
        async with (
            product(tmp_path, bench.packs, database_url=url, egress_allow=("127.0.0.1",)) as it,
            a2a_agent(it) as agent,
        ):
            pipeline = await save(it, "echo", step("only", "test.echo", text="tea"))
            task = await agent.send({}, skill=pipeline)
            await agent.set_push(config(receiver, task.id))

            async def failed_thrice() -> bool:
                return (await it.services.store.rows(_FAILURES))[0].failures == 3

            assert await eventually(failed_thrice)
            assert len((await agent.pushes(task.id)).configs) == 1
            receiver.routes["/hook"] = Reply()
        async with product(tmp_path, bench.packs, database_url=url, egress_allow=("127.0.0.1",)) as it:
            await it.services.store.write(lambda conn: conn.run(_NOW))
            await eventually(lambda: len(receiver.requests) == 4)
            assert states(receiver) == ["completed"] * 4


async def test_a_locked_vault_is_no_failure_of_the_receiver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pusher, "_BUSY_POLL_SECONDS", 0.05)
    looks = []

    async def looked(store: Store) -> set[str]:
        looks.append(found := await tasks_with_pushes(store))
        return found

    async with loopback_http({"/hook": Reply(b"later", 503)}) as receiver:
        async with product(tmp_path, Workbench().packs, egress_allow=("127.0.0.1",)) as it, a2a_agent(it) as agent:
            pipeline = await save(it, "echo", step("say", "test.echo", text="tea"))
            await agent.send({}, skill=pipeline, push=config(receiver))
            await eventually(lambda: receiver.requests)
        receiver.routes["/hook"] = Reply()
        receiver.requests.clear()
        (key,) = await asyncio.to_thread(lambda: list(tmp_path.rglob(FILE_NAME)))
        away = key.rename(key.with_suffix(".away"))
        monkeypatch.setattr(pusher, "tasks_with_pushes", looked)
        async with product(tmp_path, Workbench().packs, egress_allow=("127.0.0.1",)) as it:
            await it.services.store.write(lambda conn: conn.run(_AFRESH))
            looks.clear()
            await eventually(lambda: len(looks) >= 3)
            assert all(looks)
            assert not await it.services.store.rows(_TRIED)
        away.rename(key)
        async with product(tmp_path, Workbench().packs, egress_allow=("127.0.0.1",)):
            await heard(receiver, "completed")


async def test_a_run_resumed_before_its_end_was_sent_keeps_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def outdated(*given: Any, **more: Any) -> list[DuePush]:
        return [push._replace(state="failed") for push in await due_pushes(*given, **more)]

    monkeypatch.setattr(pusher, "due_pushes", outdated)
    bench = Workbench()
    async with (
        loopback_http({"/hook": Reply()}) as receiver,
        product(tmp_path, bench.packs, egress_allow=("127.0.0.1",)) as it,
        a2a_agent(it) as agent,
    ):
        pipeline = await save(it, "slow", step("wait", "test.slow", text="tea"))
        await agent.send({}, skill=pipeline, now=True, push=config(receiver))
        await heard(receiver, "working")
        bench.release.set()
        await heard(receiver, "completed")


async def test_a_message_gives_an_address_and_a_question_waits_with_it(tmp_path: Path) -> None:
    async with (
        loopback_http({"/hook": Reply()}) as receiver,
        product(tmp_path, Workbench().packs, egress_allow=("127.0.0.1",)) as it,
        a2a_agent(it) as agent,
    ):
        text = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
        pipeline = await save(it, "needy", step("say", "test.echo", text="${{ inputs.text }}"), inputs=text)
        asked = await agent.send({}, skill=pipeline, push=config(receiver, id="mine"))
        assert asked.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        assert [each.id for each in (await agent.pushes(asked.id)).configs] == ["mine"]
        done = await agent.send("Ada", task=asked.id)
        assert done.status.state == TaskState.TASK_STATE_COMPLETED
        await heard(receiver, "completed")
        waited = await agent.send({"text": "tea"}, skill=pipeline, push=config(receiver))
        assert waited.status.state == TaskState.TASK_STATE_COMPLETED, "it is answered after the run, as without"


#: Addresses that are refused when they are given: nothing is ever sent to them.
HOSTILE = {
    "the metadata service": "http://169.254.169.254/latest/meta-data/",
    "loopback": "http://localhost/hook",
    "loopback in hexadecimal": "http://0x7f000001/hook",
    "loopback as a number": "http://2130706433/hook",
    "loopback in IPv6": "http://[::1]/hook",
    "IPv4 in IPv6": "http://[::ffff:169.254.169.254]/",
    "a private network": "https://10.0.0.1/hook",
    "a file": "file:///etc/passwd",
    "another scheme": "gopher://example.org/",
    "a user": "http://user:secret@example.org@127.0.0.1/",
    "a password": "https://user:secret@192.0.9.1/hook",
    "no host": "http:///hook",
    "nothing": "",
    "a new line": "http://example.org/\r\nx-evil: 1",
    "too long": "http://example.org/" + "x" * 3_000,
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_an_address_that_may_not_be_reached_is_refused(house: Product, name: str) -> None:
    pipeline = await save(house, "echo", step("say", "test.echo", text="tea"))
    async with a2a_agent(house) as agent:
        task = await agent.send({}, skill=pipeline)
        hostile = TaskPushNotificationConfig(task_id=task.id, url=HOSTILE[name])
        with pytest.raises(InvalidParamsError):
            await agent.set_push(hostile)
        with pytest.raises(InvalidParamsError):
            await agent.send({}, skill=pipeline, push=hostile)
        assert not (await agent.pushes(task.id)).configs


async def test_a_redirect_to_a_private_address_is_not_followed(tmp_path: Path) -> None:
    async with loopback_http({"/hook": Reply()}) as private:
        elsewhere = Reply(b"", 307, {"location": private.url("/hook", host="localhost")})
        async with (
            loopback_http({"/hook": elsewhere}) as receiver,
            product(tmp_path, Workbench().packs, egress_allow=(f"127.0.0.1:{receiver.port}",)) as it,
            a2a_agent(it) as agent,
        ):
            pipeline = await save(it, "echo", step("say", "test.echo", text="tea"))
            task = await agent.send({}, skill=pipeline)
            await agent.set_push(config(receiver, task.id))
            await eventually(lambda: receiver.requests)

            async def failed() -> bool:
                rows = await it.services.store.rows(_FAILURES)
                return not rows or rows[0].failures > 0

            assert await eventually(failed)
            assert private.requests == []


async def test_addresses_belong_to_their_caller_and_are_few_and_audited(tmp_path: Path) -> None:
    bench = Workbench()
    async with (
        loopback_http({"/hook": Reply()}) as receiver,
        product(tmp_path, bench.packs, egress_allow=("127.0.0.1",)) as it,
        a2a_agent(it) as agent,
        a2a_agent(it, token=await it.token_for("stranger", "READ", "RUN")) as other,
        a2a_agent(it, token=await it.token_for("admin", "READ")) as reading,
    ):
        pipeline = await save(it, "slow", step("wait", "test.slow", text="tea"))
        task = await agent.send({}, skill=pipeline, now=True)
        public = config(receiver, task.id, token="t0p")
        for number in range(PUSHES_MAX):
            public.id = f"c-{number}"
            await agent.set_push(public)
        public.id = "one-more"
        with pytest.raises(InvalidParamsError, match="which is the limit"):
            await agent.set_push(public)
        public.id = "c-0"
        await agent.set_push(public)
        with pytest.raises(InvalidRequestError, match="`run`"):
            await reading.set_push(public)
        for ask in (other.push, other.unset):
            with pytest.raises(TaskNotFoundError):
                await ask(task.id, "c-0")
        with pytest.raises(TaskNotFoundError):
            await other.set_push(public)
        with pytest.raises(TaskNotFoundError):
            await other.pushes(task.id)
        await agent.unset(task.id, "c-0")
        await agent.unset(task.id, "c-0")
        with pytest.raises(TaskNotFoundError):
            await agent.push(task.id, "c-0")
        with pytest.raises(TaskNotFoundError):
            await agent.pushes("run_none")
        rows = (await it.query("{ audit(first: 50) { nodes { action target { id } } } }"))["audit"]["nodes"]
        bench.release.set()
    assert [row["action"] for row in rows].count("delete_push_notification") == 1
    assert [row["action"] for row in rows].count("set_push_notification") == PUSHES_MAX + 1


async def test_an_address_of_a_caller_who_may_no_longer_read_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pusher, "AGAIN_SECONDS", (0.05,) * 10_000)
    monkeypatch.setattr(pusher, "_BUSY_POLL_SECONDS", 0.05)
    async with (
        loopback_http({"/hook": Reply(b"later", 503)}) as receiver,
        product(tmp_path, Workbench().packs, egress_allow=("127.0.0.1",)) as it,
    ):
        pipeline = await save(it, "echo", step("say", "test.echo", text="tea"))
        made = await it.mutate(
            """mutation { createToken(name: "ada", subject: "ada", scopes: [READ, RUN]) {
                ... on CreateTokenSuccess { plaintext token { id } } } }"""
        )
        async with a2a_agent(it, token=made["plaintext"]) as agent:
            task = await agent.send({}, skill=pipeline, push=config(receiver))
        await eventually(lambda: receiver.requests)
        assert await it.services.store.rows(_FAILURES)
        await it.mutate(f'mutation {{ revokeToken(id: "{made["token"]["id"]}") {{ __typename }} }}')

        async def is_forgotten() -> bool:
            return not await it.services.store.rows(_FAILURES)

        assert await eventually(is_forgotten)
        assert set(states(receiver)) <= {"submitted", "working", "completed"}
        assert task.id
