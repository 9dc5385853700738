"""Pack code that ends the process where no handler runs: what people get, and what becomes of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.pack_folders import write_pack_folder
from tests.support.servers import Fleet, held_calls

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import asyncio
import os
import sys

from pydantic import BaseModel, ConfigDict, Field, field_validator

from packline import PackContext, Service, pack

def fail() -> str:
    raise {error}


"""
MODELS = {
    "validator": """class Text(BaseModel):
    text: str = "tea"

    @field_validator("text", mode="before")
    def check(cls, value):
        return fail() if value == "bad" else value
""",
    "default": """class Text(BaseModel):
    text: str = "tea"
    at: str = Field(default_factory=fail)
""",
    "schema": """asked = []

def extra(schema):
    asked.append(schema)
    if len(asked) > 2:
        fail()

class Text(BaseModel):
    model_config = ConfigDict(json_schema_extra=extra)
    text: str = "tea"
""",
    "probe": """class Text(BaseModel):
    text: str = "tea"
""",
    "task": """class Text(BaseModel):
    text: str = "tea"

async def ending():
    fail()
""",
    "loading": """fail()
""",
}
PACK = '''
@pack("exit.{name}", version="1.0.0", effects="none", repeatable=True{more})
async def run(ctx: PackContext, input: Text) -> Text:
    """Exits."""
    {body}
    return input
'''
BODY = {"task": "asyncio.create_task(ending()); await asyncio.sleep(60)"}
MORE = {"probe": ', services=[Service("tea", fail)]'}
RUN = """mutation ($pack: ID!, $input: JSON!) { runPack(pack: $pack, input: $input, waitSeconds: 20) {
    __typename
    ... on StartRunSuccess { run { id state failure { code message } steps { attempts { failure { code }
        exception { type message file line } } } } }
    ... on Problem { message }
    ... on InvalidProblem { issues { message } }
    ... on UnavailableProblem { missing { message } } } }"""


def pack_folder(tmp_path: Path, error: str) -> Path:
    files = {
        f"exit/{name}.py": HEAD.replace("{error}", error)
        + model
        + PACK.format(name=name, body=BODY.get(name, "pass"), more=MORE.get(name, ""))
        for name, model in MODELS.items()
    }
    return write_pack_folder(tmp_path / "mine", files)


def place_in(tmp_path: Path, name: str) -> str:
    """Where `fail` raises."""
    file = tmp_path / "mine" / "packs" / "exit" / f"{name}.py"
    line = next(number for number, line in enumerate(file.read_text().splitlines(), 1) if "    raise " in line)
    return f"({file}, line {line})"


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt()", "RuntimeError('tea')"])
async def test_code_outside_a_handler_that_raises_anything_is_named(tmp_path: Path, error: str):
    shown = {"SystemExit(3)": "SystemExit: 3", "KeyboardInterrupt()": "KeyboardInterrupt"}.get(
        error, "RuntimeError: tea"
    )
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls, pack_path=pack_folder(tmp_path, error))
        try:
            server = await fleet.up("one")

            async def run(name: str, text: str = "tea") -> dict[str, Any]:
                return await server.command(RUN, pack=f"exit.{name}", input={"text": text})

            for name, text in (("validator", "bad"), ("default", "tea")):
                refused = await run(name, text)
                (issue,) = refused["issues"]
                place = place_in(tmp_path, name)
                assert issue["message"] == f"exit.{name} raised {shown} {place} while it checked its input."
            assert (await run("validator"))["run"]["state"] == "SUCCEEDED"

            assert (await run("schema"))["run"]["state"] == "SUCCEEDED", "its schemas are made once, when it is loaded"
            assert (await run("schema"))["run"]["state"] == "SUCCEEDED"

            missing = (await run("probe"))["missing"][0]["message"]
            assert missing == f"The probe of `tea` failed: {shown} {place_in(tmp_path, 'probe')}."

            unloaded = (await run("loading"))["missing"][0]["message"]
            assert "The pack `exit.loading` could not be loaded from packs/exit/loading.py: " in unloaded
            assert "(line " in unloaded
        finally:
            await fleet.down()
