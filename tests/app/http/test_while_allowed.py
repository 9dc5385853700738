"""A request that waits is answered as long as its token is good, and then as anybody is who has none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

CREATE = """mutation { createToken(name: "waiter", subject: "waiter", scopes: [READ, RUN]) {
    __typename ... on CreateTokenSuccess { plaintext token { id } } ... on Problem { message } } }"""
RUN_PACK = """mutation ($wait: Int!) { runPack(pack: "test.slow", input: {text: "x"}, waitSeconds: $wait) {
    __typename ... on StartRunSuccess { run { id state } } ... on Problem { message } } }"""
WAIT = "query ($id: ID!) { waitRun(id: $id, waitSeconds: 50) { timedOut run { state } } }"
REVOKE = "mutation ($id: ID!) { revokeToken(id: $id) { __typename } }"


async def test_a_wait_over_http_ends_with_its_token(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, packs=bench.packs) as it:
        made = await it.mutate(CREATE)
        token = made["plaintext"]
        run = (await it.mutate(RUN_PACK, {"wait": 0}, token=token))["run"]["id"]
        await bench.started.wait()
        waits = [
            asyncio.create_task(it.answer(WAIT, {"id": run}, token=token)),
            asyncio.create_task(it.answer(RUN_PACK, {"wait": 50}, token=token)),
        ]
        kept = asyncio.create_task(it.answer(WAIT, {"id": run}))
        authenticator = it.application.authenticator
        assert authenticator is not None
        await eventually(lambda: len(authenticator._watchers) == 2)
        assert not any(task.done() for task in (*waits, kept))
        await it.mutate(REVOKE, {"id": made["token"]["id"]})
        for answer in await asyncio.wait_for(asyncio.gather(*waits), 30):
            assert answer.status == 401
            assert answer.body == {
                "errors": [
                    {
                        "message": "The token is invalid, expired or revoked, or its caller is disabled.",
                        "extensions": {"code": "UNAUTHENTICATED"},
                    }
                ]
            }
            assert answer.headers["www-authenticate"].startswith('Bearer realm="packline", error="invalid_token"')
        assert not kept.done(), "another's wait goes on"
        bench.release.set()
        assert (await asyncio.wait_for(kept, 30)).data["waitRun"]["run"]["state"] == "SUCCEEDED"
