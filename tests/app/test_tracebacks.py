"""Where a pack's exception came from, as its author reads it on the command line and in the API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.pack_folders import write_pack_folder
from tests.support.servers import Fleet, RealServer, held_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SECRET = "correct-horse-battery-staple-77"
PACKS = '''
from dataclasses import dataclass

from pydantic import BaseModel

from packline import PackContext, PackError, pack


class Text(BaseModel):
    text: str = ""


class Unclear(BaseException):
    pass


@dataclass(frozen=True)
class Frozen(Exception):
    code: int


class Strange(Exception):
    def __getattr__(self, name):
        raise RuntimeError(name)

    def __str__(self):
        raise RuntimeError("no text")


class Ending(Exception):
    def __str__(self):
        raise SystemExit(9)


def ending() -> None:
    raise Ending("tea")


def noted() -> None:
    error = ValueError("Too hot.")
    error.add_note("in cup 3")
    raise error


def frozen() -> None:
    raise Frozen(7)


def strange() -> None:
    error = Strange("tea")
    error.__notes__ = None
    raise error


def quotient(text: str) -> float:
    try:
        return 1 / len(text)
    except ZeroDivisionError as error:
        raise ValueError("The text is empty.\\nGive it one.") from error


def unclear() -> None:
    raise Unclear("by a native library")


def deep(level: int) -> None:
    if level == 0:
        raise KeyError("bottom")
    deep(level - 1)


@pack("trace.{name}", version="1.0.0", effects="none", repeatable=True)
async def run(ctx: PackContext, input: Text) -> Text:
    """Raises."""
    {body}
    return input
'''
BODIES = {
    "inside": "quotient(input.text)",
    "process": "await ctx.run_in_process(quotient, input.text)",
    "unusual": "await ctx.run_in_process(unclear)",
    "library": 'import json; json.loads("{")',
    "deep": "deep(200)",
    "secret": f'token = "{SECRET}"; raise ValueError("{SECRET}")',
    "strange": "strange()",
    "ending": "ending()",
    "ending_in_process": "await ctx.run_in_process(ending)",
    "noted": "noted()",
    "noted_in_process": "await ctx.run_in_process(noted)",
    "frozen": "await ctx.run_in_process(frozen)",
    "late": 'raise TimeoutError("nobody answered")',
    "error": 'raise PackError("not_found", "It is not there.")',
}
RUN = """mutation ($pack: ID!) { runPack(pack: $pack, input: {}, waitSeconds: 50) {
    ... on StartRunSuccess { run { id state failure { detail message } steps { attempts { failure { code detail }
        exception { type message file line traceback frames { file line function source own } } } } } }
    ... on Problem { message } } }"""
STORE = """mutation ($fields: JSON!) { setCredential(key: "mine", kind: "generic", fields: $fields) {
    ... on CredentialSuccess { credential { key } } ... on Problem { message } } }"""


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    files = {f"trace/{name}.py": PACKS.format(name=name, body=body) for name, body in BODIES.items()}
    async with held_calls() as calls:
        made = Fleet(tmp_path, "sqlite", calls, pack_path=write_pack_folder(tmp_path / "mine", files))
        yield made
        await made.down()


def line_of(tmp_path: Path, name: str, text: str) -> int:
    lines = (tmp_path / "mine" / "packs" / "trace" / f"{name}.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


async def ran(server: RealServer, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run of a pack that fails, and its only attempt."""
    run = (await server.command(RUN, pack=f"trace.{name}"))["run"]
    assert run["state"] == "FAILED"
    return run, run["steps"][0]["attempts"][0]


async def test_an_exception_leaves_its_class_place_and_frames(fleet: Fleet, tmp_path: Path):
    server = await fleet.up("one")
    for name in ("inside", "process"):
        run, attempt = await ran(server, name)
        raised = attempt["exception"]
        assert (raised["type"], raised["message"]) == ("ValueError", "The text is empty.\nGive it one.")
        file = str(tmp_path / "mine" / "packs" / "trace" / f"{name}.py")
        assert (raised["file"], raised["line"]) == (file, line_of(tmp_path, name, "raise ValueError")), name
        frames = [(frame["file"], frame["function"], frame["own"]) for frame in raised["frames"]]
        assert frames == [(file, "run", True), (file, "quotient", True)], "nothing of Packline's"
        assert raised["frames"][0]["source"] == BODIES[name]
        lines = raised["traceback"]
        assert lines[0] == "Traceback (most recent call last):"
        assert lines[-1] == "ZeroDivisionError: division by zero"
        assert lines[lines.index("Caused by:") - 2 :][:2] == ["ValueError: The text is empty.", "Give it one."]
        assert not any("\n" in line for line in lines)
        assert attempt["failure"]["detail"] is None
        assert run["failure"]["detail"] is None

        status, shown = await fleet.run("one", "show", run["id"], "--step", "call", "--text")
        assert status == 0
        assert all(line in shown.splitlines() for line in lines), shown
        status, told = await fleet.run("one", "show", run["id"], "--step", "call", "--json")
        assert json.loads(told)["attempts"][0]["exception"]["traceback"] == lines

    events = [json.loads(line) for line in server.output if line.startswith("{")]
    failed = [line for line in events if line["event"] == "step failed"]
    assert [line["exception_class"] for line in failed] == ["ValueError", "ValueError"]
    assert failed[0]["raised_at"].endswith(f"inside.py:{line_of(tmp_path, 'inside', 'raise ValueError')}")
    assert "The text is empty" not in "".join(server.output)


async def test_an_exception_of_any_class_can_be_described(fleet: Fleet):
    server = await fleet.up("one")
    for name, kind in (
        ("strange", "Strange"),
        ("ending", "Ending"),
        ("ending_in_process", "Ending"),
        ("frozen", "Frozen"),
    ):
        _, attempt = await ran(server, name)
        raised = attempt["exception"]
        assert (raised["type"], raised["frames"][-1]["function"]) == (kind, name.partition("_")[0])
        assert attempt["failure"]["code"] == "HANDLER_FAILED"


async def test_notes_of_an_exception_belong_to_its_message(fleet: Fleet):
    server = await fleet.up("one")
    for name in ("noted", "noted_in_process"):
        _, attempt = await ran(server, name)
        assert attempt["exception"]["message"] == "Too hot.\nin cup 3"
        assert attempt["exception"]["traceback"][-2:] == ["ValueError: Too hot.", "in cup 3"]


async def test_other_exceptions_leave_theirs(fleet: Fleet, tmp_path: Path):
    server = await fleet.up("one")
    _, unusual = await ran(server, "unusual")
    assert (unusual["exception"]["type"], unusual["exception"]["message"]) == ("Unclear", "by a native library")
    assert unusual["exception"]["line"] == line_of(tmp_path, "unusual", "raise Unclear")

    _, library = await ran(server, "library")
    assert library["exception"]["type"] == "JSONDecodeError"
    assert library["exception"]["line"] == line_of(tmp_path, "library", "json.loads"), "the last line of the pack's own"
    assert [frame["own"] for frame in library["exception"]["frames"]][:2] == [True, False]

    _, deep = await ran(server, "deep")
    assert len(deep["exception"]["frames"]) == 24
    assert "  … 178 frames left out …" in deep["exception"]["traceback"]
    assert deep["exception"]["frames"][0]["function"] == "run"
    assert deep["exception"]["frames"][-1]["source"] == 'raise KeyError("bottom")'

    _, late = await ran(server, "late")
    assert (late["failure"]["code"], late["exception"]["type"]) == ("TIMEOUT", "TimeoutError")

    _, error = await ran(server, "error")
    assert (error["failure"]["code"], error["exception"]) == ("NOT_FOUND", None)


async def test_a_secret_in_an_exception_or_its_code_is_masked(fleet: Fleet):
    server = await fleet.up("one")
    stored = await server.command(STORE, fields={"secret": SECRET})
    assert stored.get("credential"), stored
    run, attempt = await ran(server, "secret")
    assert attempt["exception"]["message"] == "[redacted:mine.secret]"
    source = 'token = "[redacted:mine.secret]"; raise ValueError("[redacted:mine.secret]")'
    assert attempt["exception"]["frames"][0]["source"] == source
    _, shown = await fleet.run("one", "show", run["id"], "--step", "call", "--text")
    assert f"    {source}" in shown.splitlines()
    assert SECRET not in json.dumps(attempt) + json.dumps(run) + shown + "".join(server.output)
