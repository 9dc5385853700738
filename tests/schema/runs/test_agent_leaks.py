"""Secrets of an agent, said by it in every form and everywhere: they come out nowhere."""

from __future__ import annotations

import json
import logging
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.secrets.forms import forms_of
from tests.schema.runs.test_agent_steps import ATTEMPT, CREATE, program, run
from tests.support.front_door import RUN as EVERYTHING
from tests.support.front_door import ended, start
from tests.support.product import product
from tests.support.vaults import put

if TYPE_CHECKING:
    from tests.support.product import Product

HOSTILE = Path(__file__).parents[2] / "support" / "hostile_agent.py"
#: No shape tells that these are secrets.
STEP_SECRET = "the hidden/word?of the step"
PROFILE_SECRET = "first line of a profile's key\nsecond line of a profile's key"
GIVEN_SECRET = "given-in-the-settings"
VARIABLES = ("STEP_SECRET", "PROFILE_SECRET", "API_TOKEN")
SECRETS = (STEP_SECRET, PROFILE_SECRET, GIVEN_SECRET)


def told_secrets(data: bytes) -> list[str]:
    """Forms of the secrets that are in some bytes."""
    return [form for secret in SECRETS for form in forms_of(secret) if form.encode() in data]


def where_told(folder: Path) -> set[str]:
    """Columns and other files of a server's folder that hold a secret."""
    found = set()
    with closing(sqlite3.connect(folder / "packline.db")) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            rows = database.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in rows.description]
            found |= {
                f"{table}.{name}"
                for row in rows
                for name, value in zip(names, row, strict=True)
                if told_secrets(value if isinstance(value, bytes) else str(value).encode())
            }
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("packline.db"))
    return found | {str(file.relative_to(folder)) for file in files if told_secrets(file.read_bytes())}


async def leaked(it: Product, way: str, prompt: str, **agent: Any) -> dict[str, Any]:
    """A run of the step that leaks, with everything the API tells of it."""
    block = {"use": way, "prompt": prompt, "credentials": {"STEP_SECRET": "of_step.secret"}, **agent}
    document = {
        "name": "Leak",
        "key": f"leak-{way}",
        "inputs": {"type": "object", "properties": {"word": {"type": "string"}}},
        "steps": [{"id": "leak", "agent": block}],
    }
    created = (await it.query(CREATE, {"document": document}))["createPipeline"]
    assert created["__typename"] == "PipelineSuccess", created
    await put(it, "of_step", "generic", {"secret": STEP_SECRET}, addGrants=[created["pipeline"]["id"]])
    started = await start(it, f"leak-{way}", {"word": STEP_SECRET}, wait=20)
    assert "run" in started, started
    return await ended(it, started["run"]["id"])


async def everything_told(it: Product, run_id: str) -> bytes:
    """All that the doors tell: the run, its transcript as pages and as a file, its events and its log."""
    answers = [
        await it.query(f"query ($id: ID!) {{ run(id: $id) {{ {EVERYTHING} }} }}", {"id": run_id}),
        await it.query(ATTEMPT, {"id": run_id}),
        await it.query(
            "query ($id: ID!) { run(id: $id) { steps { attempts { id transcriptUrl } } } }",
            {"id": run_id},
        ),
    ]
    attempt = answers[-1]["run"]["steps"][0]["attempts"][0]
    output = "subscription ($id: ID!) { attemptOutput(id: $id) { __typename ... on AttemptOutputBatch { %s } } }"
    read = output % "entries { kind text data } lines { text }"
    events = [message async for message in it.subscribe(read, {"id": attempt["id"]})]
    file = await it.admin.http.get(it.url(attempt["transcriptUrl"]))
    assert file.status_code == 200
    assert len(file.content) > 200
    return json.dumps([answers, events], ensure_ascii=False).encode() + json.dumps(answers).encode() + file.content


@pytest.mark.parametrize("way", ["fail", "raw", "claude"])
async def test_what_an_agent_says_of_its_secrets_comes_out_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], way: str
) -> None:
    caplog.set_level(logging.INFO)
    profile = {
        "command": [sys.executable, "-I", str(HOSTILE), "leak", way, *VARIABLES],
        "credentials": {"PROFILE_SECRET": "of_profile.secret"},
        "variables": {"API_TOKEN": GIVEN_SECRET},
        "stream": "claude" if way == "claude" else "raw",
    }
    async with product(tmp_path, agents={way: profile}) as it:
        await put(it, "of_profile", "generic", {"secret": PROFILE_SECRET})
        found = await leaked(it, way, "Say ${{ inputs.word }} aloud.", outputs=["clean.txt"])
        told = await everything_told(it, found["id"])

    assert found["state"] == ("FAILED" if way == "fail" else "SUCCEEDED"), found["failure"]
    assert told_secrets(told) == []
    assert b"[redacted:of_step.secret]" in told, "it was said"
    assert b"[redacted:of_profile.secret]" in told
    assert b"[redacted:" + way.encode() + b".API_TOKEN]" in told
    if way == "fail":
        assert "[redacted:of_step.secret]" in found["failure"]["message"]
    # What a caller gave a run is kept as it came, since a resume resolves it again; it is shown masked.
    assert where_told(tmp_path / "data") == {"run.inputs"}
    out, err = capfd.readouterr()
    assert told_secrets((caplog.text + out + err).encode()) == []


async def test_a_secret_in_pieces_comes_out_by_less_than_half(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"spread": program("spread", "STEP_SECRET", stream="claude")}) as it:
        found = await leaked(it, "spread", "Tell it.")
        told = await everything_told(it, found["id"])
        nodes = (await it.query(ATTEMPT, {"id": found["id"]}))["run"]["steps"][0]["attempts"][0]["transcript"]["nodes"]
    assert found["state"] == "SUCCEEDED", found["failure"]
    assert len(nodes) > len(STEP_SECRET)
    half = (len(STEP_SECRET) + 1) // 2
    later = [STEP_SECRET[start : start + 6] for start in range(half, len(STEP_SECRET) - 5)]
    assert [piece for piece in later if piece.encode() in told] == []
    for kind in ("MESSAGE", "TOOL_RESULT"):
        texts = "".join(node["text"] for node in nodes if node["kind"] == kind)
        assert "[redacted:of_step.secret]" in texts
        assert STEP_SECRET[:half] not in texts


async def test_an_agent_gets_its_secrets_whole_and_no_other(tmp_path: Path) -> None:
    agents = {"shower": program("show", "STEP_SECRET", "OTHER", "PATH")}
    async with product(tmp_path, agents=agents) as it:
        await put(it, "other", "generic", {"secret": "another one entirely"})
        document = {
            "name": "Show",
            "key": "show",
            "steps": [
                {
                    "id": "a",
                    "agent": {
                        "use": "shower",
                        "prompt": "x",
                        "credentials": {"STEP_SECRET": "of_step.secret"},
                        "stdout_to": "said.txt",
                    },
                }
            ],
        }
        created = (await it.query(CREATE, {"document": document}))["createPipeline"]
        refused = await start(it, "show", wait=10)
        assert refused["missing"][0]["kind"] == "CREDENTIAL", "it is told of before anything runs"
        await put(it, "of_step", "generic", {"secret": STEP_SECRET}, addGrants=[created["pipeline"]["id"]])
        found = await ended(it, (await start(it, "show", wait=20))["run"]["id"])
        said = found["steps"][0]["output"]["json"]["text"].splitlines()
        spool = await whole_artifact(it, found["id"])
    assert said[:2] == ["[redacted:of_step.secret]", "(not set)"]
    assert spool.decode().splitlines()[0] == STEP_SECRET, "the artifact is what was printed, letter by letter"


RELEASE = """mutation ($id: ID!) { releaseArtifact(id: $id) { __typename
    ... on ArtifactSuccess { artifact { id status } } } }"""


async def whole_artifact(it: Product, run_id: str) -> bytes:
    """The only artifact of a run, released when it was held back."""
    document = "query ($id: ID!) { run(id: $id) { artifacts(first: 5) { nodes { id status downloadUrl } } } }"
    (one,) = (await it.query(document, {"id": run_id}))["run"]["artifacts"]["nodes"]
    assert one["status"] == "QUARANTINED"
    released = await it.mutate(RELEASE, {"id": one["id"]})
    assert released["__typename"] == "ArtifactSuccess", released
    (one,) = (await it.query(document, {"id": run_id}))["run"]["artifacts"]["nodes"]
    answer = await it.admin.http.get(it.url(one["downloadUrl"].removeprefix(it.url(""))))
    assert answer.status_code == 200
    return bytes(answer.content)


async def test_a_secret_that_is_a_common_word_corrupts_no_artifact(tmp_path: Path) -> None:
    text = "int main(void) { return domain_of(function); } // dysfunctional, FUNCTION\n"
    script = tmp_path / "script.yaml"
    script.write_text(json.dumps({"answers": [{"say": "The function is there.", "files": {"main.c": text}}]}))
    async with product(tmp_path, agents={"writer": {"preset": "mock", "script": str(script)}}) as it:
        await put(it, "word", "generic", {"secret": "function"})
        started = await run(it, {"use": "writer", "outputs": ["main.c"]})
        step = started["run"]["steps"][0]
        assert [(file["name"], file["status"]) for file in step["artifacts"]] == [("main.c", "QUARANTINED")]
        assert any("main.c" in warning for warning in step["warnings"])
        assert await whole_artifact(it, started["run"]["id"]) == text.encode()
    assert step["output"]["json"]["text"] == "The [redacted:word.secret] is there."


async def test_a_flood_is_kept_at_both_ends_and_whole_where_it_is_wanted(tmp_path: Path) -> None:
    """100 MB: the artifact is uncut, the transcript bounded, and the answer short."""
    async with product(tmp_path, agents={"flood": program("flood", "100")}, transcript_bytes=2 << 20) as it:
        started = await run(it, {"use": "flood", "stdout_to": "flood.txt"}, timeout_seconds=300)
        if started["run"]["state"] == "RUNNING":
            await ended(it, started["run"]["id"])
        document = """query ($id: ID!) { run(id: $id) { state artifacts(first: 5) { nodes { name sizeBytes } }
            steps { output { sizeBytes } attempts { transcriptUrl } } } }"""
        found = (await it.query(document, {"id": started["run"]["id"]}))["run"]
        url = found["steps"][0]["attempts"][0]["transcriptUrl"]
        kept = (await it.admin.http.get(it.url(url))).content
    assert found["state"] == "SUCCEEDED"
    assert [(file["name"], file["sizeBytes"]) for file in found["artifacts"]["nodes"]] == [("flood.txt", 100_000_000)]
    assert 2 << 20 < len(kept) < 5 << 20, "its beginning and its end, 2 MiB each"
    assert found["steps"][0]["output"]["sizeBytes"] < 300_000


@pytest.mark.parametrize(("megabytes", "setting"), [("3", "agent_output_bytes"), ("30", "agent_workspace_bytes")])
async def test_an_agent_that_prints_or_fills_too_much_is_stopped(tmp_path: Path, megabytes: str, setting: str) -> None:
    doing = "flood" if setting == "agent_output_bytes" else "fill"
    async with product(tmp_path, agents={"much": program(doing, megabytes)}, **{setting: 2 << 20}) as it:
        started = await run(it, {"use": "much"})
    assert started["run"]["failure"]["code"] == "RESOURCE_EXHAUSTED"
    assert "PACKLINE_AGENT_" in started["run"]["failure"]["hint"]
