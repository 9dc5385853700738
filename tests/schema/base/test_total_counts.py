"""`totalCount` of every list: as many as its pages hold, for whoever asks."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from packline import PackContext, pack
from store.runs.budgets import add_spending
from tests.support.front_door import GAP, ran, save, step
from tests.support.product import product
from tests.support.schema_walk import root_fields
from tests.support.vaults import put

if TYPE_CHECKING:
    from pathlib import Path

COUNTED = "totalCount pageInfo { hasNextPage } nodes { __typename }"
EVERYTHING = f"""query ($run: ID!, $pack: ID!, $trigger: ID!) {{
    audit {{ {COUNTED} }} credentials {{ {COUNTED} }} gapProposals {{ {COUNTED} }} memoryEntries {{ {COUNTED} }}
    artifacts {{ {COUNTED} }} runs {{ {COUNTED} }} catalog {{ {COUNTED} }} pipelines {{ {COUNTED} }}
    callers {{ {COUNTED} }} spending {{ {COUNTED} }}
    triggers {{ {COUNTED} }} trigger(id: $trigger) {{ firings {{ {COUNTED} }} }}
    viewer {{ tokens {{ {COUNTED} }} }}
    pack(id: $pack) {{ usedBy {{ {COUNTED} }} }}
    pipeline(id: "talk") {{ versions {{ {COUNTED} }} runs {{ {COUNTED} }} triggers {{ {COUNTED} }} }}
    run(id: $run) {{
        events {{ {COUNTED} }} artifacts {{ {COUNTED} }}
        steps {{ attempts {{ log {{ {COUNTED} }} transcript {{ {COUNTED} }} }} }} }} }}"""


class Talk(BaseModel):
    text: str


@pack("test.talk", version="1.0.0", effects="none", repeatable=True)
async def talk(ctx: PackContext, given: Talk) -> Talk:
    """Logs three lines and saves a file."""
    for number in range(3):
        ctx.log(f"{number}: {given.text}")
    await ctx.save_artifact("talk.txt", given.text.encode(), "text/plain")
    return given


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_each_list_counts_what_its_pages_hold(tmp_path: Path, database: str) -> None:
    async with product(tmp_path, [talk], database_url=database) as it:
        said = {"id": "said", "agent": {"use": "mock", "prompt": "Say something."}}
        await save(it, "talk", step("a", "test.talk", text="tea"), said)
        run = await ran(it, "talk", {})
        await put(it, "key", "generic", {"secret": "a value nobody knows"})
        await it.token_for("admin", "READ")
        me = (await it.query("{ viewer { id } }"))["viewer"]["id"]
        await it.services.store.write(add_spending, me, None, tokens=1, cost_micros=1)
        await it.mutate(
            'mutation ($gap: GapWarningInput!) { saveGapProposal(userIntent: "Sing", gap: $gap) { __typename } }',
            {"gap": GAP},
        )
        made = await it.mutate(
            """mutation { createTrigger(pipeline: "talk", name: "Yearly", schedule: {cron: "0 0 1 1 *"}) {
                ... on TriggerSuccess { trigger { id } } } }"""
        )
        trigger = made["trigger"]["id"]
        fired = await it.mutate(
            "mutation ($id: ID!) { fireTrigger(id: $id) { ... on FireTriggerSuccess { run { id } } } }", {"id": trigger}
        )
        wait = "query ($id: ID!) { waitRun(id: $id, waitSeconds: 20) { run { state } } }"
        assert (await it.query(wait, {"id": fired["run"]["id"]}))["waitRun"]["run"]["state"] == "SUCCEEDED"
        found = lists_in(await it.query(EVERYTHING, {"run": run["id"], "pack": "test.talk", "trigger": trigger}))
        assert {name for name, _, _ in found} >= lists_of_the_root()
        for name, count, nodes in found:
            assert count == len(nodes), name
        counts = Counter[str]()
        for name, count, _ in found:
            counts[name] += count
        assert min(counts.values()) > 0, counts
        assert (counts["log"], counts["versions"], counts["tokens"]) == (3, 1, 1)

        ben = await it.token_for("ben", "READ", "RUN")
        foreign = "query ($id: ID!) { runs { totalCount } artifacts { totalCount } run(id: $id) { id } }"
        nothing = {"runs": {"totalCount": 0}, "artifacts": {"totalCount": 0}, "run": None}
        assert await it.query(foreign, {"id": run["id"]}, token=ben) == nothing


def lists_in(value: object, name: str = "") -> list[tuple[str, int, list[object]]]:
    """The lists in an answer: the field, its count and its nodes."""
    if isinstance(value, list):
        return [found for part in value for found in lists_in(part, name)]
    if not isinstance(value, dict):
        return []
    if "totalCount" in value:
        assert not value["pageInfo"]["hasNextPage"], name
        return [(name, value["totalCount"], value["nodes"])]
    return [found for field, part in value.items() for found in lists_in(part, field)]


def lists_of_the_root() -> set[str]:
    return {name for name, field in root_fields("Query").items() if re.search("Connection!?$", str(field.type))}
