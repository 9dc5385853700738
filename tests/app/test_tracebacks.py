"""Where a pack's exception came from, as its author reads it on the command line and in the API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.pack_folders import write_pack_folder
from tests.support.servers import Fleet, RealServer, held_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")

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
        exception { type message file line traceback foldedTraceback frames { file line function source own } } } } } }
    ... on Problem { message } } }"""
STORE = """mutation ($fields: JSON!) { setCredential(key: "mine", kind: "generic", fields: $fields) {
    ... on CredentialSuccess { credential { key } } ... on Problem { message } } }"""


@dataclass
class House:
    """A real server, and the folder its packs are in."""

    fleet: Fleet
    server: RealServer
    folder: Path

    def line_of(self, name: str, text: str) -> int:
        lines = (self.folder / f"{name}.py").read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)

    async def shown(self, run: dict[str, Any], form: str) -> str:
        """What `packline show` prints of the step of a run."""
        status, printed = await self.fleet.run("one", "show", run["id"], "--step", "call", form)
        assert status == 0
        return printed


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    folder = tmp_path_factory.mktemp("house")
    files = {f"trace/{name}.py": PACKS.format(name=name, body=body) for name, body in BODIES.items()}
    async with held_calls() as calls:
        fleet = Fleet(folder, "sqlite", calls, pack_path=write_pack_folder(folder / "mine", files))
        yield House(fleet, await fleet.up("one"), folder / "mine" / "packs" / "trace")
        await fleet.down()


async def ran(house: House, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run of a pack that fails, and its only attempt."""
    run = (await house.server.command(RUN, pack=f"trace.{name}"))["run"]
    assert run["state"] == "FAILED"
    return run, run["steps"][0]["attempts"][0]


async def test_an_exception_leaves_its_class_place_and_frames(house: House):
    run_ids = []
    for name in ("inside", "process"):
        run, attempt = await ran(house, name)
        run_ids.append(run["id"])
        raised = attempt["exception"]
        assert (raised["type"], raised["message"]) == ("ValueError", "The text is empty.\nGive it one.")
        file = str(house.folder / f"{name}.py")
        assert (raised["file"], raised["line"]) == (file, house.line_of(name, "raise ValueError")), name
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

        shown = await house.shown(run, "--text")
        assert all(line in shown.splitlines() for line in lines), shown
        assert json.loads(await house.shown(run, "--json"))["attempts"][0]["exception"]["traceback"] == lines

    events = [json.loads(line) for line in house.server.output if line.startswith("{")]
    failed = [line for line in events if line["event"] == "step failed" and line["run"] in run_ids]
    assert [line["exception_class"] for line in failed] == ["ValueError", "ValueError"]
    assert failed[0]["raised_at"].endswith(f"inside.py:{house.line_of('inside', 'raise ValueError')}")
    assert "The text is empty" not in "".join(house.server.output)


async def test_an_exception_of_any_class_can_be_described(house: House):
    for name, kind in (
        ("strange", "Strange"),
        ("ending", "Ending"),
        ("ending_in_process", "Ending"),
        ("frozen", "Frozen"),
    ):
        _, attempt = await ran(house, name)
        raised = attempt["exception"]
        assert (raised["type"], raised["frames"][-1]["function"]) == (kind, name.partition("_")[0])
        assert attempt["failure"]["code"] == "HANDLER_FAILED"


async def test_notes_of_an_exception_belong_to_its_message(house: House):
    for name in ("noted", "noted_in_process"):
        _, attempt = await ran(house, name)
        assert attempt["exception"]["message"] == "Too hot.\nin cup 3"
        assert attempt["exception"]["traceback"][-2:] == ["ValueError: Too hot.", "in cup 3"]


async def test_other_exceptions_leave_theirs(house: House):
    _, unusual = await ran(house, "unusual")
    assert (unusual["exception"]["type"], unusual["exception"]["message"]) == ("Unclear", "by a native library")
    assert unusual["exception"]["line"] == house.line_of("unusual", "raise Unclear")

    _, library = await ran(house, "library")
    assert library["exception"]["type"] == "JSONDecodeError"
    assert library["exception"]["line"] == house.line_of("library", "json.loads"), "the last line of the pack's own"
    assert [frame["own"] for frame in library["exception"]["frames"]][:2] == [True, False]
    _, pack_call, source, folded, error = library["exception"]["foldedTraceback"]
    assert (pack_call, source) == (library["exception"]["traceback"][1], library["exception"]["traceback"][2])
    calls = len(library["exception"]["frames"]) - 1
    assert (folded, error.partition(":")[0]) == (f"  … {calls} calls outside of the pack …", "JSONDecodeError")
    run, _ = await ran(house, "library")
    shown = await house.shown(run, "--text")
    assert folded in shown
    assert "json/decoder.py" not in shown

    _, deep = await ran(house, "deep")
    assert len(deep["exception"]["frames"]) == 24
    assert "  … 178 frames left out …" in deep["exception"]["traceback"]
    assert deep["exception"]["frames"][0]["function"] == "run"
    assert deep["exception"]["frames"][-1]["source"] == 'raise KeyError("bottom")'

    _, late = await ran(house, "late")
    assert (late["failure"]["code"], late["exception"]["type"]) == ("TIMEOUT", "TimeoutError")

    _, error = await ran(house, "error")
    assert (error["failure"]["code"], error["exception"]) == ("NOT_FOUND", None)


async def test_a_secret_in_an_exception_or_its_code_is_masked(house: House):
    stored = await house.server.command(STORE, fields={"secret": SECRET})
    assert stored.get("credential"), stored
    run, attempt = await ran(house, "secret")
    assert attempt["exception"]["message"] == "[redacted:mine.secret]"
    source = 'token = "[redacted:mine.secret]"; raise ValueError("[redacted:mine.secret]")'
    assert attempt["exception"]["frames"][0]["source"] == source
    shown = await house.shown(run, "--text")
    assert f"    {source}" in shown.splitlines()
    assert SECRET not in json.dumps(attempt) + json.dumps(run) + shown + "".join(house.server.output)
