"""Pack folders that change while the server runs, as an author edits them."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from runner.packs import reload
from runner.packs.registry import source_name
from runner.processes import pack_modules
from tests.support.front_door import command, ended, save, start, step
from tests.support.mcp_agent import agent
from tests.support.pack_folders import pack_source, write_pack_folder
from tests.support.product import Product, product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

_SHORTEN = '''
import asyncio
from pathlib import Path

from pydantic import BaseModel

from packline import Metadata, PackContext, pack

from ._words import head


class Input(BaseModel):
    text: str = ""
    gate: str = ""


class Output(BaseModel):
    {field}: str


@pack(
    "text.shorten", version="1.0.0", effects="none", repeatable=True,
    metadata=Metadata(typical_use="{use}", example_intents=["{use}"]),
)
async def shorten(ctx: PackContext, input: Input) -> Output:
    """{use}"""
    if input.gate:
        Path(input.gate, "entered").touch()
        while not Path(input.gate, "open").exists():
            await asyncio.sleep(0.01)
    return Output({field}="{word} " + await ctx.run_in_process(head, input.text))
'''


def shorten(word: str, *, field: str = "text", use: str = "Shorten a text") -> str:
    return _SHORTEN.format(word=word, field=field, use=use)


def head(length: int) -> str:
    return f"def head(text):\n    return text[:{length}]\n"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return write_pack_folder(tmp_path / "mine", {"text/shorten.py": shorten("one"), "text/_words.py": head(3)})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits for no further change."""
    monkeypatch.setattr(reload, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(reload, "QUIET_SECONDS", 0.05)


async def call(it: Product, pack: str = "text.shorten", **given: Any) -> Any:
    """The output of a call, or what it was refused with."""
    answer = await command(it, "runPack", pack=pack, input={"text": "abcdef", **given}, waitSeconds=20)
    if answer["__typename"] != "StartRunSuccess":
        return answer["code"]
    (done,) = answer["run"]["steps"]
    return done["output"]["json"]


async def until(it: Product, wanted: Any, pack: str = "text.shorten") -> None:
    async def is_so() -> bool:
        return await call(it, pack) == wanted

    await eventually(is_so)


async def load_errors(it: Product) -> list[str]:
    server = (await it.query("{server {packSources {loadErrors {message}}}}"))["server"]
    return [error["message"] for source in server["packSources"] for error in source["loadErrors"]]


async def test_an_edit_is_in_the_next_run_and_modules_of_the_last_ones_go(tmp_path: Path, mine: Path) -> None:
    file = mine / "packs" / "text" / "shorten.py"
    second = file.stat().st_mtime_ns // 10**9 * 10**9
    os.utime(file, ns=(second, second))
    async with product(tmp_path, pack_path=(mine,)) as it:
        assert await call(it) == {"text": "one abc"}
        for number, word in enumerate(("two", "six"), 1):  # of one size, and written in one second
            file.write_text(shorten(word))
            os.utime(file, ns=(second + number, second + number))
            await until(it, {"text": f"{word} abc"})
        (mine / "packs" / "text" / "_words.py").write_text(head(5))
        await until(it, {"text": "six abcde"})
        kept = [source for source, folder in pack_modules.sources() if folder == str(mine / "packs")]
        assert source_name(mine) not in kept
        assert all(f"{pack_modules.ROOT}.{source}.text.shorten" in sys.modules for source in kept)


@pytest.mark.usefixtures("quick")
async def test_a_broken_edit_keeps_the_last_good_version_until_it_is_mended(tmp_path: Path, mine: Path) -> None:
    file = mine / "packs" / "text" / "shorten.py"
    async with product(tmp_path, pack_path=(mine,)) as it:
        for broken, problem in (
            (shorten("worse") + "def broken(:\n", "Syntax error: invalid syntax (line 32)"),
            (shorten("odder").replace('text: str = ""', "text: type = str"), "has no JSON Schema"),
        ):
            file.write_text(broken)
            (message,) = await eventually(lambda: load_errors(it))
            assert problem in message
            assert message.endswith(". The version that was loaded before stays in use.")
            answer = await command(it, "runPack", pack="text.shorten", input={"text": "abcdef"}, waitSeconds=20)
            (done,) = answer["run"]["steps"]
            assert done["output"]["json"] == {"text": "one abc"}
            (warning,) = done["warnings"]
            assert warning == f"The pack `text.shorten` could not be loaded from packs/text/shorten.py: {message}"
            file.write_text(shorten("one"))

            async def is_mended() -> bool:
                return not await load_errors(it)

            await eventually(is_mended)
        answer = await command(it, "runPack", pack="text.shorten", input={"text": "abcdef"}, waitSeconds=20)
        (done,) = answer["run"]["steps"]
        assert (done["output"]["json"], done["warnings"]) == ({"text": "one abc"}, [])


@pytest.mark.usefixtures("quick")
async def test_files_come_and_go(tmp_path: Path, mine: Path) -> None:
    other = write_pack_folder(tmp_path / "other", {"text/echo.py": pack_source("text.echo")})
    async with product(tmp_path, pack_path=(mine, other)) as it:
        write_pack_folder(mine, {"more/last.py": pack_source("more.last"), "more/.#last.py": "an editor's file"})
        await until(it, {"text": "abcdef"}, "more.last")
        assert await load_errors(it) == []
        write_pack_folder(other, {"more/last.py": pack_source("more.last")})
        assert "already loaded" in (await eventually(lambda: load_errors(it)))[0]
        (mine / "packs" / "more" / "last.py").unlink()  # frees the name for the other folder

        async def is_free() -> bool:
            return not await load_errors(it)

        await eventually(is_free)
        await until(it, {"text": "abcdef"}, "more.last")
        (other / "packs" / "more" / "last.py").unlink()
        await until(it, "NOT_FOUND", "more.last")
        assert await call(it, "text.echo") == {"text": "abcdef"}


@pytest.mark.usefixtures("quick")
async def test_a_running_attempt_keeps_its_code(tmp_path: Path, mine: Path) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    async with product(tmp_path, pack_path=(mine,)) as it:
        begun = await command(it, "runPack", pack="text.shorten", input={"text": "abcdef", "gate": str(gate)})
        await eventually((gate / "entered").exists)
        for word in ("first", "second", "thirdly"):
            (mine / "packs" / "text" / "shorten.py").write_text(shorten(word))
            await until(it, {"text": f"{word} abc"})
        (gate / "open").touch()
        run = await ended(it, begun["run"]["id"])
        assert run["state"] == "SUCCEEDED", run["failure"]
        assert run["steps"][0]["output"]["json"] == {"text": "one abc"}


@pytest.mark.usefixtures("quick")
async def test_what_was_derived_from_a_pack_follows_it(tmp_path: Path, mine: Path) -> None:
    route = 'query { route(userIntent: "Translate the songs of whales") { recommendation { kind id } } }'
    search = 'query { catalog(filter: {text: "whales", kind: PACK}) { nodes { ... on Pack { id } } } }'
    async with product(tmp_path, pack_path=(mine,)) as it, agent(it, query="?packs=text.shorten") as client:
        await save(it, "twice", step("a", "text.shorten"), step("b", "text.shorten", text="${{ steps.a.output.text }}"))
        assert (await start(it, "twice", wait=20))["run"]["state"] == "SUCCEEDED"
        assert (await it.query(route))["route"]["recommendation"]["kind"] == "NONE"
        assert "Shorten a text" in str(await client.list_tools())

        use = "Translate the songs of whales"
        (mine / "packs" / "text" / "shorten.py").write_text(shorten("sung", field="song", use=use))
        await until(it, {"song": "sung abc"})
        assert (await start(it, "twice"))["code"] == "INVALID"  # `steps.a.output.text` no longer exists
        assert (await it.query(route))["route"]["recommendation"] == {"kind": "PACK", "id": "text.shorten"}
        assert (await it.query(search))["catalog"]["nodes"] == [{"id": "text.shorten"}]
        async with agent(it, query="?packs=text.shorten") as another:  # the first may use its list for a minute
            assert use in str(await another.list_tools())


@pytest.mark.usefixtures("quick")
async def test_a_library_that_was_missing_is_found_once_it_is_installed(
    tmp_path: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.setattr(reload.sysconfig, "get_path", lambda _: str(site))
    monkeypatch.syspath_prepend(str(site))
    write_pack_folder(mine, {"text/needs.py": pack_source("text.needs") + "import late_library\n"})
    async with product(tmp_path, pack_path=(mine,)) as it:
        assert "No module named 'late_library'" in (await load_errors(it))[0]
        (site / "late_library.py").touch()
        await until(it, {"text": "abcdef"}, "text.needs")


@pytest.mark.parametrize("on", [True, False])
async def test_the_reload_can_be_turned_off(tmp_path: Path, mine: Path, on: bool) -> None:
    async with product(tmp_path, pack_path=(mine,), pack_reload=on):
        assert ("packline-pack-reload" in {task.get_name() for task in asyncio.all_tasks()}) is on
    assert "packline-pack-reload" not in {task.get_name() for task in asyncio.all_tasks()}
