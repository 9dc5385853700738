"""A secret that stands where text is cut is masked before, so that no piece of it is shown or logged."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import random
import string
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
import structlog
from pydantic import BaseModel, Field
from sqlmodel import SQLModel

from app.logging import configure_logging
from packline import ModelNeed, Pack, PackContext, PackError, excerpt, pack, raise_for_status
from runner.excerpts import BODY_CHARACTERS
from runner.running.executor import GIVEN_CHARACTERS, MESSAGE_CHARACTERS, WORDS_CHARACTERS
from runner.tracebacks import MESSAGE_CHARACTERS as RAISED_CHARACTERS
from store.database.dialects import Sql
from tests.support.front_door import RUN, command
from tests.support.loopback_http import Reply, loopback_http
from tests.support.product import ADMIN_TOKEN, product
from tests.support.vaults import put
from tests.support.waiting import eventually
from tests.support.worker_functions import complain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from store.database.dialects import Connection
    from tests.support.loopback_http import LoopbackHttp
    from tests.support.product import Product

#: No pattern knows its shape, and no eight characters of it are a word.
SECRET = "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=124))
#: How much of it would be left of a text that is cut without looking.
LEFT = (8, 60, 100, 123)
MCP_SERVER = Path(__file__).resolve().parents[2] / "support" / "mcp_tool_server.py"
SHOWN = f"""{RUN}
    events(first: 500) {{ nodes {{ __typename
        ... on RunStateChanged {{ reason }} ... on StepStateChanged {{ reason }}
        ... on StepProgressed {{ milestone {{ message }} }} }} }}
    steps {{ failure {{ message hint field detail }}
        warnings attempts {{ failure {{ message hint field detail }} exception {{ message traceback }}
            log {{ nodes {{ text }} }} }} }}"""
FILES = "state artifacts(first: 9) { nodes { name mediaType } }"
pytestmark = pytest.mark.asyncio(loop_scope="module")


class Echo(BaseModel):
    """How to tell it."""

    way: str = Field(description="Where it is told.")
    before: int = Field(description="Characters that stand before it.")
    after: int = Field(default=0, description="Characters that stand after it.")


class Told(BaseModel):
    """What was told."""

    number: int = Field(description="A number.")


def echoing(service: LoopbackHttp) -> Pack:
    """A pack that meets a secret of the server's in a foreign text, and tells that text."""

    @pack("test.echoing", version="1.0.0", effects="none", repeatable=True, models=[ModelNeed("writer")])
    async def echo(ctx: PackContext, given: Echo) -> Told:
        """Tells it."""
        words = "x" * given.before + SECRET + "y" * given.after
        match given.way:
            case "raise":
                raise ValueError(words)
            case "pack-error":
                raise PackError("invalid_input", words, hint=words, field=words, detail={"said": words})
            case "excerpt":
                raise PackError("invalid_input", f"It said: {excerpt(words, 300)}.")
            case "status":
                service.routes["/status"] = Reply(words.encode(), 400)
                raise_for_status(await ctx.http.get(service.url("/status")))
            case "output":
                return words  # type: ignore[return-value]
            case "artifact":
                await ctx.save_artifact(f"{words}/a.txt", b"", "text/plain")
            case "media-type":
                await ctx.save_artifact("a.txt", b"", words + "\n")
            case "model":
                service.routes["/v1/chat/completions"] = Reply(
                    json.dumps({"error": {"message": words}}).encode(), 400, {"content-type": "application/json"}
                )
                await ctx.models.text("writer", "Say something.")
            case "cut":  # by the pack itself
                part = SECRET[: given.before]
                raise PackError(
                    "invalid_input", f"It said {part}.", hint=SECRET[-given.before :], detail={"body": part}
                )
            case "names":
                for name in (SECRET[:40], SECRET[9:29], SECRET[9:29].upper()):
                    await ctx.save_artifact(f"{name}.txt", b"1", "text/plain")
            case "parameter":
                await ctx.save_artifact("a.txt", b"1", f"text/plain; key={SECRET[9:29]}")
            case "wait":
                await asyncio.Event().wait()
            case "middle":  # by a parser, a line length, a window
                await say_pieces(ctx)
            case "validation":  # pydantic cuts it in the middle
                Told.model_validate({"number": words})
            case "said":
                ctx.log(words)
                ctx.progress(0.5, words)
                ctx.warn(words)
                structlog.get_logger().warning("said", words=words)
                raise PackError("invalid_input", "Said.")
            case worker:
                await ctx.run_in_process(complain, worker.removeprefix("worker-"), words)
        return Told(number=1)

    return echo


async def say_pieces(ctx: PackContext) -> None:
    """Says pieces of the secret that touch none of its ends, in all the ways a pack may say something."""
    inner, lines = SECRET[1:-1], "\n".join(textwrap.wrap(SECRET[1:-1], 30)[:-1])
    for piece in (inner, SECRET[9:29], inner.lower(), lines, base64.encodebytes(SECRET.encode() * 2).decode()[4:-10]):
        ctx.log(piece)
        ctx.warn(piece)
    ctx.progress(0.5, inner)
    structlog.get_logger().warning("said", words=inner)
    raise PackError("invalid_input", f"near {inner}", hint=lines, field=SECRET[9:29], detail={"body": [inner]})


def pieces(shown: str, length: int = 8) -> list[str]:
    """The pieces of the secret that a text shows."""
    every = (SECRET[start : start + length] for start in range(len(SECRET) - length + 1))
    encoded = base64.b64encode(SECRET.encode() * 2).decode()
    every = (*every, *(encoded[start : start + 16] for start in range(len(encoded) - 15)))
    return [piece for piece in every if piece in shown or piece.lower() in shown]


@dataclass
class House:
    """A product that knows the secret, and the folder its MCP server reads."""

    product: Product
    tools: Path


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
async def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    folder = tmp_path_factory.mktemp("house")
    tools = folder / "tools"
    tools.mkdir()
    async with loopback_http({}) as service:
        settings: dict[str, Any] = {
            "egress_allow": (f"127.0.0.1:{service.port}",),
            "model_providers": {"own": {"kind": "openai", "base_url": service.url("/v1")}},
            "model_roles": {"writer": ("own:any",)},
            "mcp_commands": ("python3", sys.executable),
            "mcp_servers": {"tools": {"command": [sys.executable, str(MCP_SERVER), "stdio", str(tools)]}},
        }
        async with product(folder, [echoing(service)], database_url=request.param, **settings) as running:
            stored = await put(running, "key", "generic", {"secret": SECRET})
            assert stored.get("fingerprint"), stored
            yield House(running, tools)


@pytest.fixture
def it(house: House) -> Product:
    return house.product


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """What the server has logged since."""
    root = logging.getLogger()
    handlers, level, ours = list(root.handlers), root.level, structlog.get_config()
    stream = io.StringIO()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", stream)
        configure_logging("debug", "json")
    yield stream.getvalue
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**ours)


async def shown_of(it: Product, way: str, before: int, after: int = 0) -> str:
    """All that is shown of a run that fails that way."""
    given = {"way": way, "before": before, "after": after}
    started = await command(it, "runPack", pack="test.echoing", input=given, waitSeconds=20)
    assert started["__typename"] == "StartRunSuccess", started
    data = await it.query(f"query ($id: ID!) {{ run(id: $id) {{ {SHOWN} }} }}", {"id": started["run"]["id"]})
    assert data["run"]["state"] == "FAILED", data
    return json.dumps(data)


#: Ways a text is cut at its end, with the characters that are kept of it.
CUT_AT_END = [
    ("raise", WORDS_CHARACTERS),
    ("raise", RAISED_CHARACTERS),
    ("pack-error", MESSAGE_CHARACTERS),
    ("excerpt", 300),
    ("status", BODY_CHARACTERS),
    ("output", GIVEN_CHARACTERS),
    ("artifact", 200),
    ("media-type", 80),
    ("model", BODY_CHARACTERS),
    ("said", 500),
    ("said", 1000),
    ("worker-value_error", WORDS_CHARACTERS),
    ("worker-value_error", RAISED_CHARACTERS),
    ("worker-panic", RAISED_CHARACTERS),
    ("worker-excerpt", 300),
]


@pytest.mark.parametrize(("way", "kept"), CUT_AT_END)
async def test_a_secret_at_the_end_of_what_is_kept_is_masked(
    it: Product, logged: Callable[[], str], way: str, kept: int
) -> None:
    for left in LEFT:
        shown = await shown_of(it, way, max(kept - left, 0), 200)
        assert pieces(shown) == []
        assert "[redacted:key.secret]" in shown or "xxxxxxxx" in shown
    assert pieces(logged()) == []


#: Ways a text is cut at its beginning, with the characters that are kept of its end.
CUT_AT_BEGINNING = [
    ("worker-stderr", 4000),
    ("worker-stderr", 64 * 1024),
    ("worker-end-excerpt", 300),
]


@pytest.mark.parametrize(("way", "kept"), CUT_AT_BEGINNING)
async def test_a_secret_at_the_beginning_of_what_is_kept_is_masked(
    it: Product, logged: Callable[[], str], way: str, kept: int
) -> None:
    for left in LEFT:
        shown = await shown_of(it, way, 100, kept - left)
        assert pieces(shown) == []
        assert "yyyyyyyy" in shown
    assert pieces(logged()) == []


@pytest.mark.parametrize(("tool", "kept"), [("refuse", 2000), ("fault", 2000)])
async def test_what_tools_of_mcp_servers_say_is_masked_before_it_is_cut(
    house: House, logged: Callable[[], str], tool: str, kept: int
) -> None:
    it = house.product

    async def is_there() -> object:
        return (await it.query("{ mcpServers { packs { id } } }"))["mcpServers"][0]["packs"]

    await eventually(is_there)
    for left in LEFT:
        (house.tools / "words").write_text("x" * (kept - left) + SECRET + "y" * 200)
        started = await command(it, "runPack", pack=f"mcp.tools.{tool}", input={}, waitSeconds=20)
        data = await it.query(f"query ($id: ID!) {{ run(id: $id) {{ {SHOWN} }} }}", {"id": started["run"]["id"]})
        assert "xxxxxxxx" in json.dumps(data)
        assert pieces(json.dumps(data)) == []
    assert pieces(logged()) == []


async def test_what_others_cut_is_masked_from_sixteen_characters_on(it: Product, logged: Callable[[], str]) -> None:
    for left in (16, 60, 123):
        shown = await shown_of(it, "cut", left)
        assert pieces(shown) == []
        assert "It said [redacted:key.secret]." in shown
    for way in ("middle", "validation"):
        shown = await shown_of(it, way, 0)
        assert pieces(shown) == []
        assert "[redacted:key.secret]" in shown
    assert pieces(logged()) == []


async def test_names_and_media_types_of_files_are_masked(it: Product, logged: Callable[[], str]) -> None:
    started = await command(it, "runPack", pack="test.echoing", input={"way": "names", "before": 0}, waitSeconds=20)
    data = await it.query(f"query ($id: ID!) {{ run(id: $id) {{ {FILES} }} }}", {"id": started["run"]["id"]})
    assert data["run"]["state"] == "SUCCEEDED"
    assert [file["name"] for file in data["run"]["artifacts"]["nodes"]] == ["[redacted:key.secret].txt"] * 3
    shown = await shown_of(it, "parameter", 0)
    assert "The media type 'text/plain; key=[redacted:key.secret]' of a.txt is not valid." in shown
    for way in ("whole", "piece"):
        name = f"{SECRET if way == 'whole' else SECRET[9:29]}.txt"
        headers = {"authorization": f"Bearer {ADMIN_TOKEN}", "content-type": f"text/{SECRET}"}
        async with httpx2.AsyncClient(base_url=it.url(""), headers=headers, verify=False) as http:
            answer = await http.post("/artifacts", params={"name": name}, content=b"Nothing.")
        assert answer.json()["artifact"]["name"] == "[redacted:key.secret].txt"
        assert answer.json()["artifact"]["mediaType"] == "text/plain"
    assert pieces(json.dumps(await it.query("{ artifacts(first: 50) { nodes { name mediaType } } }"))) == []
    assert pieces(logged()) == []


async def test_no_table_holds_a_piece_of_what_came_from_outside(it: Product) -> None:
    for way in ("raise", "pack-error", "said", "middle", "names", "parameter", "media-type", "model", "worker-panic"):
        await command(it, "runPack", pack="test.echoing", input={"way": way, "before": 30}, waitSeconds=20)
    slow = (await command(it, "runPack", pack="test.echoing", input={"way": "wait", "before": 0}))["run"]
    told = f"The key is {SECRET}, or {SECRET[9:29]}."
    cancelled = await command(it, "cancelRun", id=slow["id"], reason=told)
    assert cancelled["__typename"] == "RunSuccess", cancelled
    refused = await command(it, "runPack", pack=f"test.{SECRET[9:29]}", input={SECRET[9:29]: SECRET})
    assert pieces(json.dumps(refused)) == []

    def dump(conn: Connection) -> dict[str, str]:
        found = {name: conn.all(Sql(f'SELECT * FROM "{name}"'), {}) for name in SQLModel.metadata.tables}
        return {name: repr([tuple(row) for row in rows]) for name, rows in found.items()}

    tables = await it.services.store.write(dump)
    assert {name for name, rows in tables.items() if "[redacted:key.secret]" in rows} >= {
        "artifact",
        "attempt",
        "audit",
        "log_line",
        "run",
        "run_event",
        "run_step",
    }
    assert {name: found for name, rows in tables.items() if (found := pieces(rows, 16))} == {}
