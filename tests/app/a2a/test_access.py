"""Cards, callers and refusals: who sees what, and what a bad request is answered with."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from a2a.helpers import new_data_part, new_raw_part
from a2a.types import TaskState
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError, InvalidRequestError, TaskNotFoundError

from store.runs.a2a_tasks import QUESTIONS_MAX
from tests.support.a2a_agent import a2a_agent
from tests.support.front_door import save, start, step
from tests.support.packs import Workbench
from tests.support.product import product

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")


async def call(house, body, token=None, headers=None):
    """What `/a2a` answers to a body."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"content-type": "application/json", "a2a-version": "1.0", **(headers or {})}
    if token != "":
        sent["authorization"] = f"Bearer {token or house.token}"
    async with httpx.AsyncClient(trust_env=False, timeout=60, verify=False) as http:
        return await http.post(house.url("/a2a"), content=content, headers=sent)


async def test_the_public_card_names_no_pipeline_and_says_how_to_sign_in(house):
    pipeline = await save(house, "secret-plan", step("say", "test.echo", text="tea"))
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        answers = [await http.get(house.url(path)) for path in PATHS]
    assert answers[0].json() == answers[1].json()
    card = answers[0].json()
    assert pipeline not in answers[0].text
    assert "secret-plan" not in answers[0].text
    assert [skill["id"] for skill in card["skills"]] == ["runs"]
    assert card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"] == "bearer"
    assert {each["protocolVersion"] for each in card["supportedInterfaces"]} == {"1.0", "0.3"}
    assert card["url"] == card["supportedInterfaces"][0]["url"] == house.url("/a2a")


@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
async def test_the_extended_card_has_a_skill_for_each_pipeline_its_caller_may_run(house, protocol):
    metadata = {
        "accepts": ["text"],
        "produces": ["text"],
        "typical_use": "Poems.",
        "example_intents": ["Write a poem"],
        "limitations": ["Only poems."],
    }
    pipeline = await save(house, "poem", step("say", "test.echo", text="tea"), metadata=metadata)
    reader = await house.token_for("reader", "READ")
    async with a2a_agent(house, protocol=protocol) as agent, a2a_agent(house, token=reader) as other:
        skill = next(skill for skill in (await agent.card()).skills if skill.id == pipeline)
        assert (skill.name, list(skill.examples)) == ("Poem", ["Write a poem"])
        assert [skill.id for skill in (await other.card()).skills] == ["runs"]


async def test_another_callers_tasks_do_not_exist(house):
    pipeline = await save(
        house,
        "needy",
        step("say", "test.echo", text="${{ inputs.text }}"),
        inputs={"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
    )
    stranger = await house.token_for("stranger", "READ", "RUN")
    async with a2a_agent(house) as agent, a2a_agent(house, token=stranger) as other:
        done = await agent.send({"text": "tea"}, skill=pipeline, context="shared")
        asked = await agent.send({}, skill=pipeline, context="shared")
        for task in (done, asked):
            with pytest.raises(TaskNotFoundError):
                await other.task(task.id)
            with pytest.raises(TaskNotFoundError):
                await other.cancel(task.id)
            with pytest.raises(TaskNotFoundError):
                await other.send("Ada", task=task.id)
        assert not (await other.tasks(context_id="shared")).tasks
        assert not (await other.tasks()).tasks


async def test_scopes_hold_and_refusals_are_audited(house):
    pipeline = await save(house, "echo", step("say", "test.echo", text="tea"))
    reader = await house.token_for("reader", "READ")
    async with a2a_agent(house, token=reader) as agent:
        with pytest.raises(InvalidRequestError, match="`run`"):
            await agent.send({}, skill=pipeline)
    rows = await house.query("{ audit(first: 5) { nodes { action accepted actor { subject } } } }")
    assert {"action": "run_pipeline", "accepted": False, "actor": {"subject": "reader"}} in rows["audit"]["nodes"]
    refused = await call(house, {}, token="")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert "packline token create" in refused.json()["error"]["message"]
    assert (await call(house, {}, token="pkl_wrong")).status_code == 401


async def test_a_repeated_message_starts_one_run(house):
    pipeline = await save(house, "echo", step("say", "test.echo", text="tea"))
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"data": {}}], "metadata": {"skill": pipeline}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    answers = [(await call(house, body)).json()["result"]["task"]["id"] for _ in range(2)]
    assert answers[0] == answers[1]


BAD = {
    "no JSON": (b"{", -32700),
    "no request": ([], -32600),
    "an unknown method": ({"jsonrpc": "2.0", "id": 1, "method": "Dance"}, -32601),
    "wrong parameters": ({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": 5}}, -32602),
    "an unknown task": ({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "run_none"}}, -32001),
    "deep nesting": (
        b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[{"data":'
        + b"[" * 5000
        + b"]" * 5000
        + b"}]}}}",
        -32700,
    ),
    "a number beyond all": (
        b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[{"data":'
        b'{"text": 1e300}}],"metadata":{"skill":"nowhere"}}}}',
        -32602,
    ),
    "half a surrogate pair": (
        b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"run_\\ud800"}}',
        -32700,
    ),
    "not a number": (
        b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[{"data":'
        b'{"text": NaN}}]}}}',
        -32700,
    ),
    "a batch": ([{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "run_none"}}] * 100, -32600),
    "a text with U+0000": (
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "SendMessage",
            "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a\0b"}]}},
        },
        -32700,
    ),
    "nesting deeper than an input may have": (
        b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[{"data":'
        + b"[" * 300
        + b"]" * 300
        + b"}]}}}",
        -32602,
    ),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_request_is_answered_as_the_protocol_says(house, name):
    body, code = BAD[name]
    answer = await call(house, body)
    assert answer.json()["error"]["code"] == code, answer.text


@pytest.mark.postgres
async def test_ids_that_postgresql_cannot_hold_are_refused(tmp_path):
    async with (
        product(tmp_path, database_url="postgresql") as it,
        httpx.AsyncClient(headers={"authorization": f"Bearer {it.token}", "a2a-version": "1.0"}, verify=False) as http,
    ):
        for method in ("GetTask", "CancelTask", "SubscribeToTask"):
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": "run_\0"}}
            assert (await call(it, body)).json()["error"]["code"] == -32700
        for path in ("tasks/run_%00", "tasks?contextId=%00", "tasks?contextId=x&pageToken=%00"):
            answer = await http.get(it.url(f"/a2a/{path}"))
            assert (answer.status_code, "U+0000" in answer.text) == (400, True), answer.text


async def test_bad_messages_name_the_part_and_the_remedy(house):
    pipeline = await save(house, "echo", step("say", "test.echo", text="tea"))
    async with a2a_agent(house) as agent:
        with pytest.raises(ContentTypeNotSupportedError, match="Part 0 is a file"):
            await agent.send([new_raw_part(b"x", "text/plain", "x.txt")], skill=pipeline)
        with pytest.raises(InvalidParamsError, match="not a JSON object"):
            await agent.send([new_data_part([1])], skill=pipeline)
        with pytest.raises(InvalidParamsError, match=r"There is no pipeline `nowhere`"):
            await agent.send({}, skill="nowhere")
        with pytest.raises(InvalidParamsError, match="no member `texts`"):
            await agent.send({"skill": pipeline, "texts": "tea"})
        with pytest.raises(InvalidParamsError, match="empty"):
            await agent.send("   ")
    large = await call(house, b" " * (2 << 20))
    assert large.status_code == 413
    assert "limit is 1,048,576 bytes" in large.json()["error"]["message"]


async def test_a_stream_ends_with_its_token_and_one_nobody_reads_holds_nobody_up(house, bench):
    pipeline = await save(house, "slow", step("wait", "test.slow", text="tea"))
    bench.started.clear()
    bench.release.clear()
    made = await house.mutate(
        """mutation { createToken(name: "short", subject: "short", scopes: [READ, RUN]) {
            ... on CreateTokenSuccess { plaintext token { id } } } }"""
    )
    message = {"messageId": "m-2", "role": "ROLE_USER", "parts": [{"data": {}}], "metadata": {"skill": pipeline}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}}
    headers = {"authorization": f"Bearer {made['plaintext']}", "a2a-version": "1.0"}
    async with (
        httpx.AsyncClient(trust_env=False, timeout=30, verify=False) as http,
        http.stream("POST", house.url("/a2a"), json=body, headers=headers) as unread,
        http.stream("POST", house.url("/a2a"), json=body, headers=headers) as read,
    ):
        assert unread.status_code == 200
        await bench.started.wait()
        lines = read.aiter_lines()
        assert (await anext(lines)).startswith("data:")
        assert (await start(house, "echo", {}, wait=20))["run"]["state"] == "SUCCEEDED"
        await house.mutate(f'mutation {{ revokeToken(id: "{made["token"]["id"]}") {{ __typename }} }}')
        async with asyncio.timeout(10):
            rest = [line async for line in lines if line.startswith("data:")]
        assert "revoked" in rest[-1]
    bench.release.set()


#: What a hostile client of the card sends: method, path, headers, and the statuses it may be answered with.
HOSTILE = {
    "another host": ("GET", PATHS[0], {"host": "evil.example"}, {200, 400, 421}),
    "a host that is markup": ("GET", PATHS[0], {"host": '"><script>alert(1)</script>'}, {200, 400, 421}),
    "a host with a user": ("GET", PATHS[0], {"host": "admin:x@127.0.0.1"}, {200, 400, 421}),
    "half an address": ("GET", PATHS[0], {"host": "[::1"}, {200, 400, 421}),
    "a port beyond all": ("GET", PATHS[0], {"host": "127.0.0.1:99999"}, {200, 400, 421}),
    "an empty host": ("GET", PATHS[0], {"host": ""}, {200, 400, 421}),
    "a forwarded host": (
        "GET",
        PATHS[0],
        {"x-forwarded-host": "evil.example", "forwarded": "host=evil.example"},
        {200},
    ),
    "a token that is none": ("GET", PATHS[0], {"authorization": "Bearer " + "x" * 5_000}, {200}),
    "a long header": ("GET", PATHS[0], {"x-long": "x" * 100_000}, {200, 400, 431}),
    "a range": ("GET", PATHS[0], {"range": "bytes=0-0"}, {200}),
    "an old version": ("GET", PATHS[1], {"a2a-version": "0.1"}, {200}),
    "a body": ("POST", PATHS[0], {}, {405}),
    "another method": ("DELETE", PATHS[1], {}, {405}),
    "a long query": ("GET", f"{PATHS[0]}?{'x' * 20_000}", {}, {200, 400}),
    "a path beyond it": ("GET", f"{PATHS[0]}/%2e%2e/%2e%2e/etc/passwd", {}, {404}),
    "a path with U+0000": ("GET", f"{PATHS[0]}%00", {}, {404}),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_client_of_the_card_learns_and_changes_nothing(house, name):
    pipeline = await save(house, "secret-plan", step("say", "test.echo", text="tea"))
    method, path, headers, statuses = HOSTILE[name]
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        answer = await http.request(method, house.url(path), headers=headers)
        assert answer.status_code in statuses, answer.text
        for text in (pipeline, "secret-plan", house.token, "Traceback"):
            assert text not in answer.text
        if answer.status_code == 200:
            assert answer.headers["cache-control"] == "no-cache", "what one client makes of it, no other gets"
            assert answer.headers["content-type"] == "application/json"
        again = (await http.get(house.url(PATHS[0]))).json()
    assert again["url"] == house.url("/a2a")


async def test_a_flood_of_words_is_answered_and_leaves_a_bounded_number_of_questions(house):
    await save(
        house,
        "brew-coffee",
        step("say", "test.echo", text="${{ inputs.topic }}"),
        description="Brews an ode about coffee.",
        inputs={"type": "object", "required": ["topic"], "properties": {"topic": {"type": "string"}}},
        metadata={
            "accepts": ["text"],
            "produces": ["text"],
            "intent_keywords": ["ode", "coffee"],
            "example_intents": ["Brew an ode about coffee"],
            "typical_use": "Odes.",
            "limitations": ["Only odes."],
        },
    )
    token = await house.token_for("flooder", "READ", "RUN")
    async with a2a_agent(house, token=token) as agent:
        answers = []
        for _ in range(6):
            said = [agent.send("Brew an ode about coffee", context="flood") for _ in range(20)]
            answers += await asyncio.gather(*said)
        assert len({task.id for task in answers}) == 120
        assert (await agent.task(answers[-1].id)).status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        kept = await agent.tasks(context_id="flood", page_size=100)
        assert len(kept.tasks) == QUESTIONS_MAX
        forgotten = {task.id for task in answers} - {task.id for task in kept.tasks}
        with pytest.raises(TaskNotFoundError):
            await agent.task(forgotten.pop())
    async with a2a_agent(house) as other:
        pipeline = await save(house, "echo", step("say", "test.echo", text="tea"))
        assert (await other.send({}, skill=pipeline)).status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_flood_of_starts_is_refused_beyond_the_queue_and_each_message_starts_one_run(tmp_path):
    bench = Workbench()
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1, queue_limit=3) as it:
        inputs = {"type": "object", "properties": {"n": {"type": "integer"}}}
        pipeline = await save(it, "slow", step("wait", "test.slow", text="tea"), inputs=inputs)

        def message(number):
            said = {"role": "ROLE_USER", "parts": [{"data": {"n": number}}], "metadata": {"skill": pipeline}}
            params = {"message": {**said, "messageId": f"m-{number}"}, "configuration": {"returnImmediately": True}}
            return {"jsonrpc": "2.0", "id": number, "method": "SendMessage", "params": params}

        flood = [answer.json() for answer in await asyncio.gather(*(call(it, message(each)) for each in range(40)))]
        taken = {answer["id"]: answer["result"]["task"]["id"] for answer in flood if "result" in answer}
        refused = [answer["error"] for answer in flood if "error" in answer]
        assert (len(taken), len(set(taken.values())), len(refused)) == (4, 4, 36)
        assert {"3 of your runs are already queued, which is the limit." in error["message"] for error in refused} == {
            True
        }
        again = [(await call(it, message(number))).json()["result"]["task"]["id"] for number in taken]
        assert again == list(taken.values())
        bench.release.set()


async def test_without_the_setting_there_is_no_a2a(tmp_path):
    async with product(tmp_path, a2a=False) as it, httpx.AsyncClient(trust_env=False, verify=False) as http:
        assert [(await http.get(it.url(path))).status_code for path in (*PATHS, "/a2a")] == [404, 404, 404]
