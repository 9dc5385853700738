"""Agent steps through the front door: real server, real database, real processes."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from runner.agents.profiles import AgentProfile
from tests.support.product import Product, product
from tests.support.sandbox import NEEDS_SANDBOX

AGENT = Path(__file__).parents[2] / "support" / "agent_program.py"
#: What starts programs, and can be started with one as its argument.
LOADER = next(place for pattern in ("lib64/ld-*.so*", "lib/ld-*.so*") for place in Path("/").glob(pattern))

CREATE = """mutation($document: JSON!) { createPipeline(definition: {document: $document}) {
    __typename ... on PipelineSuccess { pipeline { id key } }
    ... on InvalidProblem { message issues { path rule message } } } }"""
RUN = """mutation($pipeline: ID!, $inputs: JSON!) {
    runPipeline(pipeline: $pipeline, inputs: $inputs, waitSeconds: 50) {
    __typename ... on StartRunSuccess { run { id state failure { code message hint }
        steps { key state warnings output { json } artifacts { name status sizeBytes }
                attempts { id number state packVersion models } } } }
    ... on InvalidProblem { message } ... on UnavailableProblem { message missing { kind name message hint } } } }"""


def program(*arguments: str, file: Path = AGENT, **more: Any) -> dict[str, Any]:
    return {"command": [sys.executable, "-I", str(file), *arguments], "read": [str(file.parent)], **more}


ATTEMPT = """query($id: ID!) { run(id: $id) { steps { agent packVersion step { __typename } attempts {
    isolation models cost { amountUsd usage { input output } } cacheReceipt { cacheKey madeBy { id } }
    transcript { nodes { sequence kind text data } } } } } }"""


def text_of(started: dict[str, Any]) -> str:
    """What the agent of a succeeded run said."""
    found = started["run"]
    assert (found["state"], found["failure"]) == ("SUCCEEDED", None)
    text = found["steps"][0]["output"]["json"]["text"]
    assert isinstance(text, str)
    return text


def processes_with(path: Path) -> list[str]:
    """Command lines of the processes there are that name a file."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            if str(path) in line:
                found.append(line)
    return found


async def run(
    it: Product, agent: dict[str, Any], inputs: dict[str, Any] | None = None, *, key: str = "ask", **step: Any
) -> dict[str, Any]:
    document = {
        "name": "Ask",
        "key": key,
        "steps": [{"id": "draft", "agent": {"prompt": "Draft it.", **agent}, **step}],
    }
    created = (await it.query(CREATE, {"document": document}))["createPipeline"]
    assert created["__typename"] == "PipelineSuccess", created
    return (await it.query(RUN, {"pipeline": created["pipeline"]["id"], "inputs": inputs or {}}))["runPipeline"]


async def test_a_mock_agent_answers_and_its_prompt_is_resolved(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        started = await run(it, {"use": "mock", "prompt": "Say ${{ inputs.word }}."}, {"word": "hello"})

    found = started["run"]
    assert (found["state"], found["failure"]) == ("SUCCEEDED", None)
    assert found["steps"][0]["output"]["json"] == {"text": "Say hello.", "artifacts": [], "exit_code": 0, "data": None}


async def test_a_program_gets_its_prompt_on_stdin_and_an_empty_environment(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"real": program("tell")}) as it:
        started = await run(it, {"use": "real", "stdout_to": "answer.md"})

    found = started["run"]
    assert (found["state"], found["failure"]) == ("SUCCEEDED", None)
    step = found["steps"][0]
    assert "prompt: Draft it." in step["output"]["json"]["text"]
    assert "variables: HOME LANG PATH PWD TERM" in step["output"]["json"]["text"]
    assert [(file["name"], file["status"]) for file in step["artifacts"]] == [("answer.md", "PROPOSED")]


@NEEDS_SANDBOX
async def test_what_a_program_may_spawn_is_held_by_the_kernel(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"spawner": program("spawn", "/usr/bin/id", "-u")}) as it:
        denied = await run(it, {"use": "spawner"})
        allowed = await run(it, {"use": "spawner", "commands": {"rules": [{"program": "id", "allow": True}]}}, key="b")
        any_of = await run(it, {"use": "spawner", "commands": {"fallback": "allow"}}, key="c")
        but = {"fallback": "allow", "rules": [{"program": "id", "allow": False}]}
        one_denied = await run(it, {"use": "spawner", "commands": but}, key="d")

    said = [text_of(one) for one in (denied, allowed, any_of, one_denied)]
    absent = "denied: No such file or directory\n"  # not even to be seen
    assert said == [absent, "ran: 0 0\n", "ran: 0 0\n", "denied: Permission denied\n"]


@NEEDS_SANDBOX
async def test_neither_the_loader_nor_a_file_in_memory_runs_what_is_denied(tmp_path: Path) -> None:
    agents = {
        "loader": program("spawn", str(LOADER), "/usr/bin/id", "-u"),
        "memory": program("spawn_from_memory", "/usr/bin/id", "-u"),
    }
    denying = {"fallback": "allow", "rules": [{"program": "id", "allow": False}]}
    async with product(tmp_path, agents=agents) as it:
        said = [
            text_of(await run(it, {"use": use, **more}, key=f"{use}-{index}"))
            for use in ("loader", "memory")
            for index, more in enumerate(({}, {"commands": denying}))
        ]

    assert [text.startswith("ran: 0") for text in said] == [False] * 4
    assert said[2:] == ["denied: Function not implemented\n"] * 2


async def test_the_walls_cannot_be_opened_even_where_the_server_is_root(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"opener": program("open_walls", "/usr")}) as it:
        started = await run(it, {"use": "opener", "commands": {"fallback": "allow"}})

    assert text_of(started) == "refused: Operation not permitted\n"


async def test_a_profile_that_the_step_denies_is_never_started(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"real": program("write", "made")}) as it:
        rules = [{"program": Path(sys.executable).name, "args_prefix": ["-I"], "allow": False}]
        started = await run(it, {"use": "real", "commands": {"fallback": "allow", "rules": rules}})

    assert started["run"]["failure"]["code"] == "POLICY_DENIED"


@NEEDS_SANDBOX
async def test_an_agent_sees_neither_the_servers_files_nor_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_SERVER", "marked")
    beside = tmp_path / "beside.txt"
    beside.write_text("marked")
    database = tmp_path / "data" / "packline.db"
    agents = {
        "reader": program("search", "marked", str(database), str(beside), "/proc/1/environ", "/proc/self/environ")
    }
    async with product(tmp_path, agents=agents) as it:
        assert database.is_file()
        started = await run(it, {"use": "reader"})

    told = [line.split(" ", 1)[1] for line in text_of(started).splitlines()]
    assert told[:2] == ["No such file or directory"] * 2
    assert told[2] in {"Permission denied", "does not hold it"}  # the kernel decides who reads what leads the sandbox


@NEEDS_SANDBOX
async def test_an_agent_writes_into_its_workspace_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    agents = {"writer": program("write", "inside.txt", str(outside), "/usr/local/bin/planted", "../up.txt")}
    async with product(tmp_path, agents=agents) as it:
        started = await run(it, {"use": "writer", "outputs": ["inside.txt"]})

    step = started["run"]["steps"][0]
    assert [(file["name"], file["status"]) for file in step["artifacts"]] == [("inside.txt", "PROPOSED")]
    assert not outside.exists()
    assert text_of(started).count("ok") == 1


async def test_a_declared_output_behind_a_link_is_refused(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"linker": program("link", "/etc/passwd", "answer.txt")}) as it:
        started = await run(it, {"use": "linker", "outputs": ["answer.txt"]})

    failure = started["run"]["failure"]
    assert failure["code"] == "INVALID_OUTPUT"
    assert "behind a link" in failure["message"]


async def test_a_folder_is_no_output_and_a_zero_in_an_answer_is_replaced(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"maker": program("folder", "answer.txt")}) as it:
        refused = await run(it, {"use": "maker", "outputs": ["answer.txt"]})
        started = await run(it, {"use": "maker"}, key="b")

    failure = refused["run"]["failure"]
    assert (failure["code"], "`answer.txt` is not a regular file" in failure["message"]) == ("INVALID_OUTPUT", True)
    assert text_of(started) == "made\ufffdit\n"


async def test_a_missing_output_fails_the_step(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        started = await run(it, {"use": "mock", "outputs": ["draft.md"]})

    assert started["run"]["failure"]["code"] == "INVALID_OUTPUT"
    assert "`draft.md` does not exist" in started["run"]["failure"]["message"]


async def test_an_exit_code_is_a_failure_with_its_last_words(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"failing": program("fail", "3")}) as it:
        started = await run(it, {"use": "failing"})

    failure = started["run"]["failure"]
    assert (failure["code"], "exit code 3: No such model." in failure["message"]) == ("HANDLER_FAILED", True)


async def test_a_program_that_stays_is_gone_after_its_time(tmp_path: Path) -> None:
    own = tmp_path / "bin" / AGENT.name  # others may run the program of all tests at the same time
    own.parent.mkdir()
    shutil.copy(AGENT, own)
    async with product(tmp_path, agents={"staying": program("stay", file=own)}) as it:
        started = await run(it, {"use": "staying"}, timeout_seconds=2)

        assert started["run"]["failure"]["code"] == "TIMEOUT"
        assert processes_with(own) == []


@NEEDS_SANDBOX
async def test_without_the_network_when_the_step_demands_it(tmp_path: Path) -> None:
    async with product(tmp_path) as it:
        address = it.url("/").removeprefix("http://").rstrip("/")
        command = tuple(program("connect", address)["command"])
        profile = AgentProfile("caller", command, read=(str(AGENT.parent),))
        it.services.engine.resources.agents.profiles["caller"] = profile
        with_network = await run(it, {"use": "caller"})
        without = await run(it, {"use": "caller", "isolation": "sandbox_offline"}, key="b")

    assert text_of(with_network) == "connected\n"
    assert text_of(without).startswith("no network")


@NEEDS_SANDBOX
async def test_json_lines_become_turns_tokens_and_cost(tmp_path: Path) -> None:
    async with product(tmp_path, agents={"claude": program("claude", stream="claude")}) as it:
        started = await run(it, {"use": "claude"})
        attempt = (await it.query(ATTEMPT, {"id": started["run"]["id"]}))["run"]["steps"][0]["attempts"][0]

    assert text_of(started) == "Answer to: Draft it."
    assert attempt["cost"] == {"amountUsd": 0.0042, "usage": {"input": 120, "output": 30}}
    assert attempt["models"] == ["claude:claude-test"]
    assert attempt["isolation"] == "SANDBOX"
    entries = [(entry["sequence"], entry["kind"], entry["text"]) for entry in attempt["transcript"]["nodes"]]
    assert entries == [
        (1, "PROMPT", "Draft it."),
        (2, "MESSAGE", "Let me look."),
        (3, "TOOL_CALL", "Read"),
        (4, "TOOL_RESULT", "# A"),
        (5, "USAGE", None),
    ]


@pytest.mark.parametrize("kind", ["claude", "gemini"])
async def test_a_stream_that_ends_without_its_result_is_told_of(tmp_path: Path, kind: str) -> None:
    agents = {"early": program("ends_early", kind, stream=kind), "whole": program("claude", stream="claude")}
    async with product(tmp_path, agents=agents) as it:
        early = await run(it, {"use": "early"})
        whole = await run(it, {"use": "whole"}, key="b")

    assert text_of(early) == "I will now look."
    (warning,) = early["run"]["steps"][0]["warnings"]
    assert f'without the result that ends a stream of the format `stream = "{kind}"`' in warning
    assert whole["run"]["steps"][0]["warnings"] == []


async def test_a_secret_in_parts_of_a_message_is_masked_and_the_parts_are_one_answer(tmp_path: Path) -> None:
    token = "ghp_" + "Ab3" * 12
    agents = {"gemini": program("gemini", "VALUE", stream="gemini", variables={"VALUE": token})}
    async with product(tmp_path, agents=agents) as it:
        started = await run(it, {"use": "gemini"})
        attempt = (await it.query(ATTEMPT, {"id": started["run"]["id"]}))["run"]["steps"][0]["attempts"][0]

    said = "".join(entry["text"] for entry in attempt["transcript"]["nodes"] if entry["kind"] == "MESSAGE")
    assert (said, text_of(started)) == ("[redacted:github_token]", "[redacted:github_token]")


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_a_result_is_replayed_with_a_receipt_and_made_anew_by_force(tmp_path: Path, database: str) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("answers:\n  - {say: fine, files: {draft.md: '# ${prompt}'}}\n")
    agent = {"use": "scripted", "outputs": ["draft.md"], "cache": True}
    profiles = {"scripted": {"preset": "mock", "script": str(script)}}
    async with product(tmp_path, database_url=database, agents=profiles) as it:
        first = await run(it, agent)
        again = await run(it, agent, key="again")
        asked = {"id": again["run"]["id"]}
        attempt = (await it.query(ATTEMPT, asked))["run"]["steps"][0]["attempts"][0]
        other = await run(it, {**agent, "prompt": "Another."}, key="other")
        fresh = (await it.query(ATTEMPT, {"id": other["run"]["id"]}))["run"]["steps"][0]["attempts"][0]
        script.write_text("answers:\n  - {say: changed, files: {draft.md: '# ${prompt}'}}\n")
        anew = await run(it, agent, key="anew")
        forced = await it.query(RUN.replace("inputs: $inputs", "inputs: $inputs, force: true"), again_of("again"))
        attempt_anew, attempt_forced = [
            (await it.query(ATTEMPT, {"id": one["run"]["id"]}))["run"]["steps"][0]["attempts"][0]
            for one in (anew, forced["runPipeline"])
        ]

    assert text_of(anew) == "changed", "the script is part of a mock's key"
    assert (attempt_anew["cacheReceipt"], attempt_forced["cacheReceipt"]) == (None, None)
    assert text_of(first) == text_of(again) == "fine"
    assert [file["name"] for file in again["run"]["steps"][0]["artifacts"]] == ["draft.md"]
    assert attempt["cacheReceipt"]["madeBy"]["id"] == first["run"]["steps"][0]["attempts"][0]["id"]
    assert fresh["cacheReceipt"] is None


async def test_a_result_one_of_whose_contents_is_gone_is_made_anew_and_whole(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("answers:\n  - {say: fine, files: {a.md: 'one', b.md: 'other'}}\n")
    agent = {"use": "scripted", "outputs": ["a.md", "b.md"], "cache": True}
    async with product(tmp_path, agents={"scripted": {"preset": "mock", "script": str(script)}}) as it:
        await run(it, agent)
        digest = hashlib.sha256(b"other").hexdigest()
        (it.folder / "blobs" / digest[:2] / digest[2:]).unlink()
        again = await run(it, agent, key="again")
        attempt = (await it.query(ATTEMPT, {"id": again["run"]["id"]}))["run"]["steps"][0]["attempts"][0]

    assert attempt["cacheReceipt"] is None
    assert [file["name"] for file in again["run"]["steps"][0]["artifacts"]] == ["a.md", "b.md"]


def again_of(pipeline: str) -> dict[str, Any]:
    return {"pipeline": pipeline, "inputs": {}}


async def test_what_an_agent_proposes_is_verified_by_the_step_that_reads_it(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("answers: [{files: {draft.md: '# A draft'}}]\n")
    steps = [
        {"id": "draft", "agent": {"use": "scripted", "prompt": "Write.", "outputs": ["draft.md"]}},
        {
            "id": "look",
            "pack": "doc.parse",
            "input": {"artifact": "${{ steps.draft.output.artifacts[0].artifact_id }}"},
        },
    ]
    async with product(tmp_path, builtins=True, agents={"scripted": {"preset": "mock", "script": str(script)}}) as it:
        document = {"name": "Ask", "key": "ask", "steps": steps}
        created = (await it.query(CREATE, {"document": document}))["createPipeline"]
        assert created["__typename"] == "PipelineSuccess", created
        started = (await it.query(RUN, {"pipeline": created["pipeline"]["id"], "inputs": {}}))["runPipeline"]

    draft = started["run"]["steps"][0]
    assert (started["run"]["state"], draft["artifacts"][0]["status"]) == ("SUCCEEDED", "VERIFIED")


CHOOSE = """mutation($pipeline: ID!, $agent: String) {
    runPipeline(pipeline: $pipeline, agent: $agent, waitSeconds: 20) { __typename
    ... on StartRunSuccess { run { id state steps { agent output { json } } } }
    ... on InvalidProblem { message hint issues { path rule } }
    ... on UnavailableProblem { message missing { kind name message } } } }"""
AGAIN = """mutation($id: ID!) { rerunRun(id: $id, waitSeconds: 20) { __typename
    ... on StartRunSuccess { run { id steps { agent } } } } }"""


async def test_a_start_chooses_among_the_agents_a_step_may_use_and_a_rerun_keeps_the_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_AGENT", "careful")
    agents = {"quick": program("say", "quick"), "slow": program("say", "slow"), "other": program("say", "other")}
    use = {"env": "TEAM_AGENT", "default": "quick", "map": {"careful": "slow", "hasty": "quick"}}
    document = {"name": "Ask", "key": "ask", "steps": [{"id": "draft", "agent": {"use": use, "prompt": "Draft."}}]}
    async with product(tmp_path, agents=agents) as it:
        pipeline = (await it.query(CREATE, {"document": document}))["createPipeline"]["pipeline"]["id"]
        by_variable = (await it.query(CHOOSE, {"pipeline": pipeline}))["runPipeline"]["run"]
        chosen = (await it.query(CHOOSE, {"pipeline": pipeline, "agent": "quick"}))["runPipeline"]["run"]
        repeated = (await it.query(AGAIN, {"id": chosen["id"]}))["rerunRun"]["run"]
        by_word = (await it.query(CHOOSE, {"pipeline": pipeline, "agent": "careful"}))["runPipeline"]["run"]
        again = (await it.query(AGAIN, {"id": by_word["id"]}))["rerunRun"]["run"]
        refused = [
            (await it.query(CHOOSE, {"pipeline": pipeline, "agent": wrong}))["runPipeline"]
            for wrong in ("other", "", "nobody" * 5_000)
        ]

    assert (by_variable["steps"][0]["agent"], by_variable["steps"][0]["output"]["json"]["text"]) == ("slow", "slow")
    assert (chosen["steps"][0]["agent"], chosen["steps"][0]["output"]["json"]["text"]) == ("quick", "quick")
    assert repeated["steps"][0]["agent"] == "quick"
    assert by_word["steps"][0]["agent"] == again["steps"][0]["agent"] == "slow", "a word of the map is a choice, too"
    for problem in refused:
        assert problem["__typename"] == "InvalidProblem"
        assert [(issue["path"], issue["rule"]) for issue in problem["issues"]] == [(["agent"], "unknown_agent")]
        assert len(problem["message"]) < 200
        assert "`quick`, `slow`, `careful`, `hasty`" in problem["hint"]
    assert refused[0]["message"] == 'The step draft does not accept the agent "other".'


async def test_the_worked_example_drafts_verifies_and_replays(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it:
        asked = {"pipeline": "agent-propose-verify", "inputs": {"changes": "- One thing\n- Another thing"}}
        first = (await it.query(RUN, asked))["runPipeline"]["run"]
        again = (await it.query(RUN, asked))["runPipeline"]["run"]
        receipts = (await it.query(ATTEMPT, {"id": again["id"]}))["run"]["steps"][0]["attempts"]

    assert (first["state"], first["failure"], first["steps"][0]["warnings"]) == ("SUCCEEDED", None, [])
    assert [(file["name"], file["status"]) for file in first["steps"][0]["artifacts"]] == [
        ("release-notes.md", "VERIFIED")
    ]
    assert first["steps"][1]["output"]["json"] == {"checked": 2, "word_count": 9, "heading": "Release notes"}
    assert again["state"] == "SUCCEEDED"
    assert receipts[0]["cacheReceipt"]["madeBy"]["id"] == first["steps"][0]["attempts"][0]["id"]


PAGE = Path(__file__).parents[3] / "docs" / "agent-steps.md"


def in_the_page(language: str, having: str) -> str:
    """The block of the page about agent steps that holds a text."""
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (block,) = [text for text in found if having in text]
    assert isinstance(block, str)
    return block


@pytest.mark.parametrize("script", ["shipped", "of the page"])
async def test_the_example_of_the_page_runs_as_it_stands(tmp_path: Path, script: str) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(in_the_page("yml", "answers:"))
    agents = {} if script == "shipped" else {"mock": {"preset": "mock", "script": str(file)}}
    async with product(tmp_path, builtins=True, agents=agents) as it:
        saved = await it.mutate(
            CREATE.replace("$document: JSON!", "$yaml: String!").replace("document: $document", "yaml: $yaml"),
            {"yaml": in_the_page("yaml", "key: notes")},
        )
        assert saved["__typename"] == "PipelineSuccess", saved
        asked = {"pipeline": saved["pipeline"]["id"], "inputs": {"changes": "- Runs resume\n- Agents are bounded"}}
        found = (await it.mutate(RUN, asked))["run"]
        assert (found["state"], found["failure"]) == ("SUCCEEDED", None)
        (file_made,) = found["steps"][0]["artifacts"]
        assert (file_made["name"], file_made["status"]) == ("release-notes.md", "VERIFIED")
