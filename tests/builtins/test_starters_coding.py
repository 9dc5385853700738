"""Coding starters and `swe.solve` end to end: a real server, a real Git server behind a GitHub, a scripted agent."""

from __future__ import annotations

import re
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import command, look, start, until_state
from tests.support.git_server import git
from tests.support.github_server import TOKEN, GitHubDouble
from tests.support.product import product
from tests.support.sandbox import NEEDS_SANDBOX
from tests.support.scripted_http import serving
from tests.support.vaults import put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.product import Product

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]

AGENT = Path(__file__).parents[1] / "support" / "agent_program.py"
MORE = """output { json } artifacts(first: 20) { nodes { name mediaType status downloadUrl } }
    steps { attempts { isolation transcript { nodes { kind text } } } }"""


@dataclass
class World:
    """Packline and a GitHub of its own."""

    it: Product
    github: GitHubDouble
    folder: Path

    @property
    def bare(self) -> Path:
        return self.folder / "repositories" / "octo" / "lights.git"

    async def run(self, key: str, inputs: dict[str, Any], state: str = "SUCCEEDED", **more: Any) -> dict[str, Any]:
        started = await start(self.it, key, inputs, **more)
        assert started["__typename"] == "StartRunSuccess", started
        await until_state(self.it, started["run"]["id"], state)
        run: dict[str, Any] = await look(self.it, started["run"]["id"], select=MORE)
        return run

    async def content(self, run: dict[str, Any], name: str) -> bytes:
        node = next(node for node in run["artifacts"]["nodes"] if node["name"] == name)
        answer = await self.it.admin.http.get(self.it.url(node["downloadUrl"].removeprefix(self.it.url(""))))
        assert answer.status_code == 200
        return bytes(answer.content)

    def applied(self, patch: bytes) -> str:
        """What the lamp's file says after `git apply` in a fresh clone."""
        clone = self.folder / "applied"
        git(self.folder, "clone", "-q", str(self.bare), str(clone))
        (self.folder / "the.patch").write_bytes(patch)
        git(clone, "apply", str(self.folder / "the.patch"))
        return (clone / "lamp.py").read_text()


@asynccontextmanager
async def world(folder: Path, monkeypatch: pytest.MonkeyPatch, *script: str) -> AsyncIterator[World]:
    """With an agent that does what `tests/support/agent_program.py` says under that name."""
    tree = folder / "tree"
    tree.mkdir()
    git(tree, "init", "-q", "--initial-branch=main")
    (tree / "lamp.py").write_text("level = 1\n")
    (tree / ".gitignore").write_text("built/\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "First")
    bare = folder / "repositories" / "octo" / "lights.git"
    bare.parent.mkdir(parents=True)
    git(folder, "clone", "-q", "--bare", str(tree), str(bare))
    monkeypatch.setenv("PACKLINE_AGENT", "coder")
    command = [sys.executable, "-I", str(AGENT), *(script or ("solve",))]
    async with serving(GitHubDouble(folder / "repositories")) as github:
        lights = github.add("octo/lights")
        github.add_issue(lights, "The lamp is too dark", "Set `level` to 2.")
        async with product(
            folder,
            builtins=True,
            egress_allow=["127.0.0.1"],
            service_urls={"github": github.http.url("")},
            agents={"coder": {"command": command, "read": [str(AGENT.parent)]}},
        ) as it:
            grants = ["repo.push", "github.create_pr", "github.get_issue", "swe.solve"]
            await put(it, "github", "github", {"token": TOKEN}, grants=grants)
            yield World(it, github, folder)


@NEEDS_SANDBOX
async def test_an_issue_becomes_a_pull_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as here:
        run = await here.run("issue-to-pr", {"repo": "octo/lights", "issue_number": 1})

        pull = here.github.repositories["octo/lights"].issues[2]
        assert run["output"]["json"]["pr_url"] == pull["html_url"]
        assert (pull["title"], pull["draft"], pull["base"]["ref"]) == ("The lamp is too dark", True, "main")
        assert re.match(r"I turned the level up\.\n+Closes #1\.", pull["body"])
        branch = pull["head"]["ref"]
        assert git(here.bare, "show", f"{branch}:lamp.py") == "level = 2"
        assert git(here.bare, "log", "-1", "--format=%an|%s|%b", branch) == (
            "Packline|The lamp is too dark|I turned the level up."
        )
        assert git(here.bare, "rev-parse", f"{branch}~") == git(here.bare, "rev-parse", "main")
        solved = run["steps"][2]["attempts"][0]
        assert solved["isolation"] == "SANDBOX"
        prompt = solved["transcript"]["nodes"][0]
        assert prompt["kind"] == "PROMPT"
        assert "The lamp is too dark\n\nSet `level` to 2." in prompt["text"]


@NEEDS_SANDBOX
async def test_a_task_becomes_a_patch_that_applies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as here:
        address = here.github.http.url("/octo/lights")
        run = await here.run("repo-solve-patch", {"repo_url": address, "task": "Set `level` to 2."})

        output = run["output"]["json"]
        assert output["changed_files"] == [
            {"path": "lamp.py", "added": 1, "removed": 1},
            {"path": "new/light.txt", "added": 1, "removed": 0},
        ], "what .gitignore names is left out"
        assert here.applied(await here.content(run, "changes.patch")) == "level = 2\n"
        assert git(here.bare, "branch", "--list") == "* main"


@NEEDS_SANDBOX
async def test_a_task_becomes_a_branch_or_a_pull_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as here:
        given = {"repo_url": here.github.http.url("/octo/lights"), "task": "Set `level` to 2."}
        pushed = await here.run("repo-solve-branch", {**given, "branch": "brighter", "title": "Brighter"})
        assert pushed["output"]["json"]["branch"] == "brighter"
        assert git(here.bare, "show", "brighter:lamp.py") == "level = 2"
        assert here.github.writes == 0

        proposed = await here.run("repo-solve-pr", {**given, "branch": "brighter-2", "draft": False})
        assert proposed["output"]["json"]["head"] == "brighter-2"
        assert here.github.writes == 1

        again = await here.run("repo-solve-branch", {**given, "branch": "main"}, "FAILED")
        assert again["failure"]["code"] == "INVALID_INPUT"
        assert "is there already" in again["failure"]["message"]


@NEEDS_SANDBOX
async def test_an_agent_that_changes_nothing_has_not_solved_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch, "say", "Done!") as here:
        given = {"repo_url": here.github.http.url("/octo/lights"), "task": "Set `level` to 2."}
        for key in ("repo-solve-patch", "repo-solve-branch"):
            run = await here.run(key, given, "FAILED")
            assert (run["failure"]["code"], run["failure"]["message"]) == (
                "INVALID_INPUT",
                "Nothing was changed in the repository.",
            )
        assert git(here.bare, "branch", "--list") == "* main"


@NEEDS_SANDBOX
@pytest.mark.parametrize("key", ["repo-solve-patch", "repo-solve-branch"])
async def test_what_an_agent_plants_in_the_clone_is_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    planted = tmp_path / "planted"
    async with world(tmp_path, monkeypatch, "plant", str(planted)) as here:
        given = {"repo_url": here.github.http.url("/octo/lights"), "task": "Set `level` to 2."}
        run = await here.run(key, given)

        assert not planted.exists(), "a hook, filter, driver or program of the agent's ran outside of its sandbox"
        paths = [file["path"] for file in run["output"]["json"]["changed_files"]]
        assert paths == [".gitattributes", "inner/file.txt", "lamp.py", "out"]
        assert "root:" not in str(run)
        asked = [request.path for request in here.github.http.requests]
        assert not any("stolen" in path for path in asked), "an address of the agent's was asked"


async def test_without_an_agent_it_is_refused_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, monkeypatch) as here:
        monkeypatch.delenv("PACKLINE_AGENT")
        given = {"repo_url": here.github.http.url("/octo/lights"), "task": "Set `level` to 2."}
        refused = await start(here.it, "repo-solve-patch", given)
        assert refused["__typename"] == "UnavailableProblem"
        assert "PACKLINE_AGENT" in str(refused["missing"])
        assert here.github.http.requests == []


@NEEDS_SANDBOX
async def test_the_credential_goes_to_no_other_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as here, serving(GitHubDouble(tmp_path / "repositories")) as other:
        run = await here.run(
            "repo-solve-branch", {"repo_url": other.http.url("/octo/lights"), "task": "Set `level` to 2."}, "FAILED"
        )
        assert run["failure"]["code"] == "CREDENTIAL_INVALID"
        assert all("authorization" not in request.headers for request in other.http.requests)


@NEEDS_SANDBOX
async def test_swe_solve_does_it_in_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, monkeypatch) as here:
        given = {"repo_url": here.github.http.url("/octo/lights"), "task": "Set `level` to 2."}
        for mode in ("patch", "branch", "pull_request"):
            answer = await command(here.it, "runPack", pack="swe.solve", input={**given, "mode": mode})
            assert answer["__typename"] == "StartRunSuccess", answer
            await until_state(here.it, answer["run"]["id"], "SUCCEEDED")
            run = await look(here.it, answer["run"]["id"], select=MORE)
            output = run["output"]["json"]
            assert (output["summary"], output["agent"]) == ("I turned the level up.", "coder")
            assert (output["branch"] is None, output["pr_url"] is None) == (mode == "patch", mode != "pull_request")
            attempt = run["steps"][0]["attempts"][0]
            assert attempt["isolation"] == "SANDBOX"
            assert "Set `level` to 2." in attempt["transcript"]["nodes"][0]["text"]
            assert TOKEN not in str(run)
        assert here.applied(await here.content(run, "changes.patch")) == "level = 2\n"
