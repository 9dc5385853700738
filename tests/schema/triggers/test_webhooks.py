"""Webhooks through the front door: created, delivered to, rotated, replayed."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest
import pytest_asyncio
from standardwebhooks import Webhook

from app.http import hooks
from tests.support.front_door import refusals, save, step
from tests.support.packs import Workbench
from tests.support.product import Product, product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "It's a Secret to Everybody"
_TRIGGER = """id kind enabled attention schedule { cron } nextFirings
    webhook { url preset events previousSecretUntil }"""
_FIRINGS = """query ($id: ID!) { trigger(id: $id) { attention enabled firings(first: 100) { nodes { id outcome reason
    run { id cause caller { subject } inputs }
    delivery { deliveryId event payload isCut sizeBytes receivedAt keptUntil } } } } }"""
_INPUTS = {"text": '${{ trigger.event | default("none") }}: ${{ trigger.payload.who }}'}


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
async def it(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    bench = Workbench()
    async with product(tmp_path_factory.mktemp("hooks"), bench.packs, database_url=request.param) as it:
        await save(it, "echo", step("only", "test.echo", text="${{ inputs.text }}"))
        yield it


class Hook:
    """A webhook of a test's, and its sender."""

    def __init__(self, it: Product, made: dict[str, Any]) -> None:
        self.id = made["trigger"]["id"]
        self.secret = made["secret"]
        self._it = it
        self.url = it.url(urlsplit(made["trigger"]["webhook"]["url"]).path)

    async def post(self, body: bytes, **headers: str | bytes) -> httpx2.Response:
        named = {key.replace("_", "-").encode(): text for key, text in headers.items()}
        given = {b"content-type": b"application/json"}
        given |= {key: text if isinstance(text, bytes) else text.encode() for key, text in named.items()}
        async with httpx2.AsyncClient(verify=False) as client:
            return await client.post(self.url, content=body, headers=given)

    async def github(self, payload: object, delivery: str, *, secret: str = "", event: str = "push") -> httpx2.Response:
        body = json.dumps(payload).encode()
        signature = hmac.new((secret or self.secret).encode(), body, hashlib.sha256).hexdigest()
        return await self.post(
            body, x_hub_signature_256=f"sha256={signature}", x_github_delivery=delivery, x_github_event=event
        )

    async def firings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self._it.query(_FIRINGS, {"id": self.id}))["trigger"]["firings"]["nodes"]
        return found


async def create(it: Product, preset: str = "GITHUB", *, token: str | None = None, **given: Any) -> dict[str, Any]:
    values = {"inputs": _INPUTS, "secret": None if preset == "STANDARD_WEBHOOKS" else SECRET, "events": None, **given}
    return await it.mutate(
        f"""mutation ($preset: WebhookPreset!, $inputs: JSON, $secret: String, $events: [String!])
        {{ createWebhook(pipeline: "echo", name: "Pushes", preset: $preset, inputs: $inputs, secret: $secret,
            events: $events) {{ __typename
            ... on WebhookSecretSuccess {{ secret trigger {{ {_TRIGGER} }} }} {refusals("createWebhook")} }} }}""",
        {"preset": preset, **values},
        token=token,
    )


async def act(it: Product, field: str, of: str, more: str = "", *, token: str | None = None) -> dict[str, Any]:
    success = {
        "replayFiring": "... on FireTriggerSuccess { run { id inputs } }",
        "rotateWebhookSecret": f"... on WebhookSecretSuccess {{ secret trigger {{ {_TRIGGER} }} }}",
    }.get(field, f"... on TriggerSuccess {{ trigger {{ {_TRIGGER} }} }}")
    return await it.mutate(
        f"mutation ($id: ID!) {{ {field}(id: $id{more}) {{ __typename {success} {refusals(field)} }} }}",
        {"id": of},
        token=token,
    )


async def test_a_delivery_starts_a_run_as_the_owner_once(it: Product) -> None:
    token = await it.token_for("ada", "READ", "RUN", "WRITE")
    made = await create(it, token=token)
    assert made["trigger"]["kind"] == "WEBHOOK"
    assert (made["trigger"]["schedule"], made["trigger"]["nextFirings"], made["secret"]) == (None, [], SECRET)
    hook = Hook(it, made)
    accepted = await hook.github({"who": "Mona"}, "d-1")
    assert (accepted.status_code, accepted.json()["status"]) == (202, "accepted")
    repeats = await asyncio.gather(*(hook.github({"who": "Mona"}, "d-1") for _ in range(4)))
    assert [(one.status_code, one.json()) for one in repeats] == [
        (200, {"status": "duplicate", "run": accepted.json()["run"]})
    ] * 4
    (firing,) = await hook.firings()
    assert (firing["outcome"], firing["run"]["id"], firing["run"]["cause"]) == (
        "FIRED",
        accepted.json()["run"],
        "WEBHOOK",
    )
    assert (firing["run"]["caller"], firing["run"]["inputs"]) == ({"subject": "ada"}, {"text": "push: Mona"})
    delivery = firing["delivery"]
    assert (delivery["deliveryId"], delivery["event"], json.loads(delivery["payload"])) == (
        "d-1",
        "push",
        {"who": "Mona"},
    )
    assert delivery["sizeBytes"] == len(b'{"who": "Mona"}')
    kept = datetime.fromisoformat(delivery["keptUntil"]) - datetime.fromisoformat(delivery["receivedAt"])
    assert kept.days == 7


async def test_of_deliveries_at_the_same_time_one_starts_a_run(it: Product) -> None:
    hook = Hook(it, await create(it))
    answers = await asyncio.gather(*(hook.github({"who": "x"}, "same") for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [202]
    assert len({answer.json()["run"] for answer in answers}) == 1
    assert len(await hook.firings()) == 1


async def test_githubs_sample_is_verified_before_it_is_read(it: Product) -> None:
    hook = Hook(it, await create(it))
    digest = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    verified = await hook.post(b"Hello, World!", x_hub_signature_256=f"sha256={digest.upper()}")
    assert (verified.status_code, verified.json()["problem"]["message"]) == (400, "The body is not JSON in UTF-8.")
    for body, signature in (
        (b"Hello, World?", digest),
        (b"Hello, World!", digest[::-1]),
        (b"Hello, World!", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
    ):
        refused = await hook.post(body, x_hub_signature_256=f"sha256={signature}".encode())
        assert (refused.status_code, refused.json()["problem"]["code"]) == (401, "FORBIDDEN")
    assert (await hook.post(b"{}")).status_code == 401
    assert await hook.firings() == []


async def test_the_other_presets_start_runs(it: Product) -> None:
    standard = Hook(it, await create(it, "STANDARD_WEBHOOKS"))
    now = datetime.now(UTC)
    signed = {
        "webhook_id": "msg_1",
        "webhook_timestamp": str(int(now.timestamp())),
        "webhook_signature": Webhook(standard.secret).sign("msg_1", now, '{"type": "paid", "who": "a"}'),
    }
    assert (await standard.post(b'{"type": "paid", "who": "a"}', **signed)).status_code == 202
    assert (await standard.post(b'{"type": "paid", "who": "a"}', **signed)).status_code == 200
    assert (await standard.post(b'{"type": "paid", "who": "b"}', **signed)).status_code == 401
    stripe = Hook(it, await create(it, "TIMESTAMPED"))
    for at in (int(now.timestamp()), int(now.timestamp()) - 1):  # a repeat is signed again
        body = b'{"id": "evt_1", "type": "paid", "who": "a"}'
        digest = hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
        answer = await stripe.post(body, stripe_signature=f"t={at},v1={digest}")
        assert answer.status_code == (202 if at == int(now.timestamp()) else 200)
    bearer = Hook(it, await create(it, "BEARER"))
    form = {"content_type": "application/x-www-form-urlencoded", "authorization": f"Bearer {SECRET}"}
    assert (await bearer.post(b"who=a", **form)).status_code == 202
    assert (await bearer.post(b"who=a", **form)).status_code == 202, "no id, so it is another delivery"
    assert (await bearer.post(b"who=a", **form, idempotency_key="1")).status_code == 202
    assert (await bearer.post(b"who=a", **form, idempotency_key="1")).status_code == 200
    assert len(await bearer.firings()) == 3


async def test_other_events_and_pings_are_ignored(it: Product) -> None:
    hook = Hook(it, await create(it, events=["push"]))
    ignored = await hook.github({"who": "x"}, "d-1", event="star")
    assert (ignored.status_code, ignored.json()) == (200, {"status": "ignored"})
    changed = await act(it, "updateWebhook", hook.id, ', events: ["star"]')
    assert changed["trigger"]["webhook"]["events"] == ["star"]
    assert (await hook.github({"who": "x"}, "d-2", event="star")).status_code == 202
    assert (await act(it, "updateWebhook", hook.id, ", events: []"))["__typename"] == "TriggerSuccess"
    assert (await hook.github({"zen": "x"}, "d-3", event="ping")).json() == {"status": "ignored"}


async def test_a_payload_of_the_wrong_shape_is_kept_and_replayed(it: Product) -> None:
    hook = Hook(it, await create(it))
    refused = await hook.github({"whom": "Mona"}, "d-1")
    assert (refused.status_code, refused.json()["problem"]["code"]) == (422, "INVALID")
    again = await hook.github({"whom": "Mona"}, "d-1")
    assert (again.status_code, again.json()) == (422, refused.json()), "it must not look delivered to its sender"
    (firing,) = await hook.firings()
    assert (firing["outcome"], firing["run"]) == ("FAILED", None)
    assert "who" in firing["reason"]
    assert json.loads(firing["delivery"]["payload"]) == {"whom": "Mona"}
    assert (await act(it, "replayFiring", firing["id"]))["__typename"] == "InvalidProblem"
    changed = await it.mutate(
        """mutation ($id: ID!, $inputs: JSON) { updateTrigger(id: $id, inputs: $inputs) { __typename } }""",
        {"id": hook.id, "inputs": {"text": "${{ trigger.payload.whom }}"}},
    )
    assert changed["__typename"] == "TriggerSuccess"
    replayed = await act(it, "replayFiring", firing["id"])
    assert replayed["run"]["inputs"] == {"text": "Mona"}
    assert [one["outcome"] for one in await hook.firings()] == ["FIRED", "FAILED"]


@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        (None, "FAILED"),
        ([], "FAILED"),
        ([{"who": "x"}], "FAILED"),
        ("who", "FAILED"),
        (0, "FAILED"),
        ({}, "FAILED"),
        ({"who": None}, "FIRED"),
        ({"who": ["x"]}, "FIRED"),
        ({"WHO": "x"}, "FAILED"),
        ({"who": {"who": "x"}, "": "y"}, "FIRED"),
        ({"who": "a\0b"}, "FAILED"),
        ({"who": "\N{RIGHT-TO-LEFT OVERRIDE}\N{PILE OF POO}"}, "FIRED"),
        ({"who": "${{ trigger.payload.other }}", "other": "read"}, "FIRED"),
        ({"who": 2**64 - 1}, "FIRED"),
        ({"who": "x", "id": ["no text"], "type": {"no": "text"}}, "FIRED"),
        ({"__proto__": 1, "who": "x", "a.b": {"c d": 1}}, "FIRED"),
    ],
)
async def test_a_payload_of_any_shape_is_kept_and_answered(it: Product, payload: object, outcome: str) -> None:
    hook = Hook(it, await create(it))
    answer = await hook.github(payload, "d-1")
    assert answer.status_code == (202 if outcome == "FIRED" else 422), answer.text
    (firing,) = await hook.firings()
    assert firing["outcome"] == outcome
    assert (firing["reason"] is None) == (outcome == "FIRED")
    assert firing["delivery"]["deliveryId"] == "d-1"
    if outcome == "FIRED":
        assert "read" not in firing["run"]["inputs"]["text"], "what is delivered is no template"


async def test_a_delivery_is_replayed_and_its_repeat_known_after_its_secret_is_gone(it: Product) -> None:
    hook = Hook(it, await create(it))
    accepted = await hook.github({"who": "x"}, "d-1")
    assert accepted.status_code == 202
    captured = {"payload": {"who": "x"}, "delivery": "d-1", "secret": hook.secret}
    second = await act(it, "rotateWebhookSecret", hook.id, ", overlapSeconds: 0")
    assert (await hook.github(**captured)).status_code == 401
    assert (await hook.github({"who": "x"}, "d-1", secret=second["secret"])).json()["status"] == "duplicate"
    (firing,) = await hook.firings()
    replayed = await act(it, "replayFiring", firing["id"])
    assert replayed["run"]["inputs"] == {"text": "push: x"}
    assert replayed["run"]["id"] != accepted.json()["run"]


async def test_a_secret_is_rotated_with_overlap(it: Product) -> None:
    hook = Hook(it, await create(it))
    second = await act(it, "rotateWebhookSecret", hook.id)
    assert second["secret"] != SECRET
    assert second["trigger"]["webhook"]["previousSecretUntil"] is not None
    assert (await hook.github({"who": "x"}, "d-1")).status_code == 202
    assert (await hook.github({"who": "x"}, "d-1", secret=second["secret"])).status_code == 200, "the same delivery"
    third = await act(it, "rotateWebhookSecret", hook.id, ", overlapSeconds: 0")
    assert third["trigger"]["webhook"]["previousSecretUntil"] is None
    for secret, expected in ((SECRET, 401), (second["secret"], 401), (third["secret"], 202)):
        assert (await hook.github({"who": "x"}, "d-2", secret=secret)).status_code == expected


async def test_what_is_delivered_is_shown_masked_and_bounded(it: Product) -> None:
    hook = Hook(it, await create(it))
    assert (await hook.github({"who": "x", "quoted": f"<{SECRET}>", "long": "y" * 20_000}, "d-1")).status_code == 202
    (firing,) = await hook.firings()
    payload = firing["delivery"]["payload"]
    assert SECRET not in payload
    assert (len(payload), firing["delivery"]["isCut"]) == (10_000, True)


async def test_a_paused_webhook_and_unknown_addresses_refuse(it: Product) -> None:
    hook = Hook(it, await create(it))
    assert (await act(it, "pauseTrigger", hook.id))["__typename"] == "TriggerSuccess"
    paused = await hook.github({"who": "x"}, "d-1")
    assert (paused.status_code, paused.json()["problem"]["code"]) == (503, "UNAVAILABLE")
    assert (await act(it, "resumeTrigger", hook.id))["trigger"]["enabled"]
    assert (await hook.github({"who": "x"}, "d-1")).status_code == 202, "what was refused is not a repeat"
    known = hook.url
    for path in ("x", "%00", "x" * 5_000, hook.id):
        hook.url = it.url(f"/hooks/{path}")
        assert (await hook.github({}, "d-1")).status_code == 404
    hook.url = known
    await it.mutate("mutation ($id: ID!) { deleteTrigger(id: $id) { __typename } }", {"id": hook.id})
    assert (await hook.github({"who": "x"}, "d-2")).status_code == 404


async def test_bodies_are_bounded(it: Product) -> None:
    hook = Hook(it, await create(it, "BEARER"))
    bearer = {"authorization": f"Bearer {SECRET}"}
    fitting = json.dumps({"who": "x" * (hooks.BODY_BYTES - 11)}).encode()
    assert len(fitting) == hooks.BODY_BYTES
    assert (await hook.post(fitting + b" ", **bearer)).status_code == 413
    assert (await hook.post(b"{}", content_type="text/plain", **bearer)).status_code == 415

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536

    async with httpx2.AsyncClient(verify=False) as client:
        with suppress(httpx2.TransportError):  # the server closes the connection, and its answer may be lost
            answer = await client.post(hook.url, content=endless())
            assert (answer.status_code, answer.headers["connection"]) == (413, "close")


async def test_a_body_that_does_not_end_is_cut_after_a_while(it: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "BODY_SECONDS", 0.2)
    hook = Hook(it, await create(it, "BEARER"))
    reader, writer = await asyncio.open_connection("127.0.0.1", it.served.port, family=socket.AF_INET)
    path = urlsplit(hook.url).path
    writer.write(f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n".encode())
    async with asyncio.timeout(30):
        answer = await reader.read()  # to the end of the connection
    writer.close()
    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_too_many_deliveries_at_once_are_refused(it: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = Hook(it, await create(it))
    monkeypatch.setattr(hooks, "CONCURRENT_MAX", 0)
    busy = await hook.github({"who": "x"}, "d-1")
    assert (busy.status_code, busy.headers["retry-after"]) == (429, "1")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"secret": "short"}, "out_of_range"),
        ({"events": ["x" * 101]}, "out_of_range"),
        ({"inputs": {"text": "${{ trigger.scheduled_at }}"}}, "unresolved_reference"),
        ({"inputs": {"text": "${{ inputs.x }}"}}, "template_syntax"),
        ({"inputs": {"text": "${{ trigger.payload.who }}", "other": "${{ trigger.payload.x }}"}}, "undeclared_input"),
        ({"inputs": {"text": 1}}, "wrong_type"),
    ],
)
async def test_a_webhook_that_cannot_work_is_not_saved(it: Product, given: dict[str, Any], rule: str) -> None:
    refused = await create(it, **given)
    assert refused["__typename"] == "InvalidProblem", refused
    assert rule in [issue["rule"] for issue in refused["issues"]]


async def test_another_caller_sees_nothing(it: Product) -> None:
    hook = Hook(it, await create(it))
    await hook.github({"who": "x"}, "d-1")
    (firing,) = await hook.firings()
    other = await it.token_for("eve", "READ", "RUN", "WRITE")
    for field, of, more in (
        ("replayFiring", firing["id"], ""),
        ("rotateWebhookSecret", hook.id, ""),
        ("updateWebhook", hook.id, ", events: []"),
    ):
        assert (await act(it, field, of, more, token=other))["__typename"] == "NotFoundProblem"
    observer = await it.token_for("olga", "READ", "OBSERVE", "RUN", "WRITE")
    for field, of, more in (("replayFiring", firing["id"], ""), ("rotateWebhookSecret", hook.id, "")):
        assert (await act(it, field, of, more, token=observer))["__typename"] == "ForbiddenProblem"


async def test_a_webhook_whose_pipeline_is_deleted_is_paused(it: Product) -> None:
    await save(it, "gone", step("only", "test.echo", text="${{ inputs.text }}"))
    made = await it.mutate(
        f"""mutation ($inputs: JSON) {{ createWebhook(pipeline: "gone", name: "x", preset: BEARER, inputs: $inputs) {{
            ... on WebhookSecretSuccess {{ secret trigger {{ {_TRIGGER} }} }} }} }}""",
        {"inputs": {"text": "${{ trigger.payload.who }}"}},
    )
    hook = Hook(it, made)
    await it.mutate('mutation { deletePipeline(pipeline: "gone", confirmKey: "gone") { __typename } }')

    async def attention() -> str | None:
        answer = await hook.post(b'{"who": "x"}', authorization=f"Bearer {hook.secret}")
        assert answer.status_code in (404, 503)
        found = (await it.query(_FIRINGS, {"id": hook.id}))["trigger"]
        return None if found is None else found["attention"]

    assert "deleted" in str(await eventually(attention))


async def test_nothing_is_accepted_while_the_queue_is_full_or_the_vault_locked(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs, caller_concurrent_runs=1, queue_limit=1) as it:
        await save(it, "echo", step("only", "test.slow", text="${{ inputs.text }}"))
        made = await create(it)
        hook = Hook(it, made)
        for number in range(2):
            assert (await hook.github({"who": "x"}, f"d-{number}")).status_code == 202
        full = await hook.github({"who": "x"}, "d-2")
        assert (full.status_code, full.json()["problem"]["code"]) == (429, "LIMITED")
        bench.release.set()

        async def accepted() -> bool:
            return (await hook.github({"who": "x"}, "d-2")).status_code == 202

        assert await eventually(accepted), "what was refused is not a repeat"
    async with product(tmp_path, bench.packs, vault_key="00" * 32) as it:
        hook = Hook(it, made)
        locked = await hook.github({"who": "x"}, "d-3")
        assert (locked.status_code, locked.json()["problem"]["code"]) == (503, "UNAVAILABLE")
        assert {firing["delivery"]["payload"] for firing in await hook.firings()} == {None}
        assert (await act(it, "rotateWebhookSecret", hook.id))["__typename"] == "UnavailableProblem"
