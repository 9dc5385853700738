"""Transcripts through the front door: told live beside the log, and downloaded by those who may see the run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from resolvers.runs.watching import OutputPosition
from schema.base.cursors import LOG_LINES, OUTPUT, TRANSCRIPT, output_position
from schema.base.masking import PublicError
from schema.base.pagination import CursorKind
from store.runs.transcripts import Chunk, append_transcript
from tests.support.packs import Workbench
from tests.support.product import Product, product
from tests.support.waiting import eventually

AGENT = Path(__file__).parents[2] / "support" / "agent_program.py"
CREATE = """mutation($document: JSON!) { createPipeline(definition: {document: $document}) {
    __typename ... on PipelineSuccess { pipeline { id } } ... on InvalidProblem { message } } }"""
RUN = """mutation($pipeline: ID!, $wait: Int!) { runPipeline(pipeline: $pipeline, inputs: {}, waitSeconds: $wait) {
    __typename ... on StartRunSuccess { run { id } } } }"""
LOOK = """query($id: ID!) { run(id: $id) { state steps { attempts { id state transcriptUrl
    transcript { nodes { sequence kind } pageInfo { endCursor } } } } } }"""
OUTPUT_OF = """subscription($id: ID!, $after: Cursor) { attemptOutput(id: $id, after: $after) { __typename
    ... on AttemptOutputBatch { live cursor entries { sequence kind text } lines { text } }
    ... on AttemptOutputGap { cursor }
    ... on AttemptOutputEnd { cursor attempt { state } } } }"""
LINES_OF = """subscription($id: ID!, $after: Cursor) { attemptOutput(id: $id, after: $after) { __typename
    ... on AttemptOutputBatch { lines { text } } ... on AttemptOutputEnd { cursor } } }"""
CANCEL = "mutation($id: ID!) { cancelRun(id: $id) { __typename } }"


def program(*arguments: str) -> dict[str, Any]:
    return {"command": [sys.executable, "-I", str(AGENT), *arguments], "read": [str(AGENT.parent)]}


async def start(it: Product, use: str, *, wait: int = 20) -> str:
    document = {"name": "Ask", "key": "ask", "steps": [{"id": "draft", "agent": {"use": use, "prompt": "Draft it."}}]}
    created = (await it.query(CREATE, {"document": document}))["createPipeline"]
    started = (await it.query(RUN, {"pipeline": created["pipeline"]["id"], "wait": wait}))["runPipeline"]
    run = started["run"]["id"]
    assert isinstance(run, str)
    return run


async def attempt_of(it: Product, run: str) -> dict[str, Any]:
    steps = (await it.query(LOOK, {"id": run}))["run"]["steps"]
    found: dict[str, Any] = steps[0]["attempts"][0]
    return found


async def output(it: Product, attempt: str, after: str | None = None, query: str = OUTPUT_OF) -> list[dict[str, Any]]:
    return [message async for message in it.subscribe(query, {"id": attempt, "after": after})]


async def started_attempt(it: Product, run: str) -> str | None:
    attempts = (await it.query(LOOK, {"id": run}))["run"]["steps"][0]["attempts"]
    return attempts[0]["id"] if attempts else None


async def test_a_transcript_is_told_while_the_agent_works(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"staying": program("stay")}) as it:
        run = await start(it, "staying", wait=0)
        attempt = await eventually(lambda: started_attempt(it, run))
        kinds: list[tuple[int, str, str]] = []
        ended: dict[str, Any] = {}
        async for message in it.subscribe(OUTPUT_OF, {"id": attempt}):
            kinds += [(one["sequence"], one["kind"], one["text"]) for one in message.get("entries", ())]
            if len(kinds) > 1 and not ended:
                ended = await it.query(CANCEL, {"id": run})
        assert kinds[0] == (1, "PROMPT", "Draft it.")
        assert "".join(text for _, _, text in kinds[1:]) == "staying\nstaying\n"  # parent and child
        assert (message["__typename"], message["attempt"]["state"]) == ("AttemptOutputEnd", "CANCELLED")


async def test_output_goes_on_after_what_was_read_on_a_page(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"claude": {**program("claude"), "stream": "claude"}}) as it:
        attempt = await attempt_of(it, await start(it, "claude"))
        everything = await output(it, attempt["id"])
        after_one = await output(it, attempt["id"], OUTPUT.encode((attempt["id"], 0, 3)))
        after_page = await output(it, attempt["id"], attempt["transcript"]["pageInfo"]["endCursor"])
        only_lines = await output(it, attempt["id"], query=LINES_OF)

    assert [entry["sequence"] for message in everything for entry in message.get("entries", ())] == [1, 2, 3, 4, 5]
    assert [entry["sequence"] for message in after_one for entry in message.get("entries", ())] == [4, 5]
    assert [message["__typename"] for message in after_page] == ["AttemptOutputEnd"]
    assert [message["__typename"] for message in only_lines] == ["AttemptOutputEnd"]


async def test_what_was_left_out_is_told_as_a_gap(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        attempt = (await attempt_of(it, await start(it, "mock")))["id"]
        lines = "\n".join(json.dumps({"sequence": one, "kind": "output", "text": "x"}) for one in (8, 9))
        await it.services.store.write(append_transcript, attempt, Chunk(8, 9, lines), is_tail=True)
        counted = "query ($id: ID!) { node(id: $id) { ... on Attempt { transcript { totalCount nodes { kind } } } } }"
        listed = (await it.query(counted, {"id": attempt}))["node"]["transcript"]
        messages = await output(it, attempt)
        downloaded = (await fetch(it, (await it.query(LOOK_AT, {"id": attempt}))["node"]["transcriptUrl"])).text

    assert [message["__typename"] for message in messages] == [
        "AttemptOutputBatch",
        "AttemptOutputGap",
        "AttemptOutputBatch",
        "AttemptOutputEnd",
    ]
    assert [entry["sequence"] for entry in messages[2]["entries"]] == [8, 9]
    kinds = [json.loads(line)["kind"] for line in downloaded.splitlines()]
    assert (kinds[0], kinds[-3:]) == ("prompt", ["cut", "output", "output"])
    assert (len(listed["nodes"]), listed["totalCount"]) == (len(kinds), len(kinds))


async def test_a_transcript_is_downloaded_by_those_who_may_see_the_run_alone(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"claude": {**program("claude"), "stream": "claude"}}) as it:
        attempt = await attempt_of(it, await start(it, "claude"))
        stranger = await it.token_for("stranger", "READ")
        observer = await it.token_for("observer", "READ", "OBSERVE")
        address = attempt["transcriptUrl"]
        bare = address.partition("?")[0]
        signed = await fetch(it, address)
        own = await fetch(it, bare, it.token)
        observed = await fetch(it, bare, observer)
        refused = [
            (await fetch(it, bare)).status_code,
            (await fetch(it, bare, stranger)).status_code,
            (await fetch(it, f"{address}0")).status_code,
            (await fetch(it, address.replace("att_", "att_x"))).status_code,
            (await fetch(it, bare.replace("att_", "att_x"), it.token)).status_code,
        ]

    entries = [json.loads(line) for line in signed.text.splitlines()]
    assert [(entry["sequence"], entry["kind"]) for entry in entries] == [
        (1, "prompt"),
        (2, "message"),
        (3, "tool_call"),
        (4, "tool_result"),
        (5, "usage"),
    ]
    assert signed.content == own.content == observed.content
    assert signed.headers["content-type"] == "application/jsonl"
    assert signed.headers["content-disposition"] == f'attachment; filename="{attempt["id"]}.jsonl"'
    assert refused == [401, 404, 403, 403, 404]


async def test_a_pack_has_no_transcript_to_download(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it:
        run = await it.query(
            """mutation { runPack(pack: "test.echo", input: {text: "a"}, waitSeconds: 20) {
                ... on StartRunSuccess { run { steps { attempts { transcriptUrl } } } } } }"""
        )

    assert run["runPack"]["run"]["steps"][0]["attempts"] == [{"transcriptUrl": None}]


async def fetch(it: Product, address: str, token: str | None = None) -> httpx2.Response:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(verify=False) as http:
        return await http.get(it.url(address), headers=headers)


LOOK_AT = "query($id: ID!) { node(id: $id) { ... on Attempt { transcriptUrl } } }"


def test_positions_of_before_transcripts_are_still_read() -> None:
    old = CursorKind("output", (str, int)).encode(("att_1", 7))

    assert output_position(old, "att_1") == OutputPosition(lines=7)
    assert output_position(LOG_LINES.encode((3,)), "att_1") == OutputPosition(lines=3)
    assert output_position(TRANSCRIPT.encode((4,)), "att_1") == OutputPosition(entries=4)
    assert output_position(OUTPUT.encode(("att_1", 1, 2)), "att_1") == OutputPosition(1, 2)
    for wrong in (OUTPUT.encode(("att_2", 1, 2)), OUTPUT.encode(("att_1", -1, 2)), LOG_LINES.encode((-1,)), "nonsense"):
        with pytest.raises(PublicError):
            output_position(wrong, "att_1")
