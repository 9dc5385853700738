"""Documents that are too much, through the front door: what is refused is told, and nobody waits for another's."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio

from tests.support import office_files, worker_functions
from tests.support.front_door import command, ended, until_state
from tests.support.pack_harness import SAMPLES
from tests.support.product import product
from tests.support.signs import Signs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tests.support.product import Product

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/><text>Words</text></svg>'

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux enforces the limits"),
]


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
async def it(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    async with product(folder, builtins=True, database_url=request.param, caller_concurrent_runs=100) as running:
        yield running


@pytest.fixture
def signs(tmp_path: Path) -> Iterator[Signs]:
    made = Signs(tmp_path / "signs")
    yield made
    made.close()


async def begun(it: Product, token: str, name: str, content: bytes, media_type: str = "text/plain") -> str:
    """A run that reads a document just uploaded."""
    headers = {"authorization": f"Bearer {token}", "content-type": media_type}
    async with httpx2.AsyncClient(base_url=it.url(""), headers=headers, timeout=60, verify=False) as client:
        answer = await client.post("/artifacts", params={"name": name}, content=content)
    assert answer.status_code == 201, answer.text
    given = {"artifact": answer.json()["artifact"]["id"]}
    made = await command(it, "runPack", token, pack="doc.parse", input=given, waitSeconds=0)
    assert made["__typename"] == "StartRunSuccess", made
    return str(made["run"]["id"])


@pytest.mark.parametrize(
    ("name", "content", "media_type", "message"),
    [
        ("all.pdf", None, "application/pdf", "`all.pdf` has 1,501 pages; at most 1,500 are read."),
        ("deep.html", b"<html>" + b"<div>" * 1_000_000, "text/html", "`deep.html` has more than 2,000 elements open"),
        ("marks.html", b"<html>" + b"<b>" * 1_000_000, "text/html", "`marks.html` has more than 2,000 elements open"),
        ("lamp.svg", SVG, "image/svg+xml", "`lamp.svg` is a picture (SVG), not a text."),
        ("lamp.html", SVG, "text/html", "`lamp.html` is a picture (SVG), not a text."),
        ("lamp.xml", SVG, "application/xml", "`lamp.xml` is a picture (SVG), not a text."),
    ],
)
async def test_what_cannot_be_read_is_refused_once_and_says_why(
    it: Product, name: str, content: bytes | None, media_type: str, message: str
) -> None:
    content = content or office_files.long_pdf((SAMPLES / "lighthouses.pdf").read_bytes(), pages=1501)

    run = await ended(it, await begun(it, it.token, name, content, media_type))

    failure: dict[str, Any] = run["failure"]
    assert run["state"] == "FAILED"
    assert failure["code"] == "INVALID_INPUT"
    assert failure["message"].startswith(message)
    assert failure["hint"]
    assert not failure["retryable"]
    assert len(run["steps"][0]["attempts"]) == 1


async def test_one_callers_heavy_documents_leave_a_worker_for_another(
    it: Product, signs: Signs, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A pack is loaded from its file: its module has no name to import it by. The worker has to be held by a document.
    monkeypatch.setattr(sys.modules["packline_packs.builtin.doc.parse"], "convert", worker_functions.convert_or_hang)
    one = await it.token_for("one", "READ", "RUN", "WRITE")
    other = await it.token_for("other", "READ", "RUN", "WRITE")
    heavy = [
        await begun(it, one, f"heavy-{number}.txt", signs.path.encode() + b"\n" * number) for number in range(CORES + 3)
    ]
    at_work = await signs.pids(CORES)

    for number in range(3):
        run = await ended(it, await begun(it, other, "small.txt", f"Text {number}.".encode()))
        assert run["state"] == "SUCCEEDED", run["failure"]

    assert await still_running(it, heavy) == len(heavy)
    waiting = heavy.pop()
    await asyncio.gather(*(cancelled(it, run_id) for run_id in [waiting, *heavy]))
    run = await ended(it, await begun(it, one, "small.txt", b"Mine again."))
    assert run["state"] == "SUCCEEDED", run["failure"]
    assert len(set(at_work)) == CORES


async def still_running(it: Product, runs: list[str]) -> int:
    states = [await until_state(it, run_id, "RUNNING") for run_id in runs]
    return len(states)


async def cancelled(it: Product, run_id: str) -> None:
    await command(it, "cancelRun", id=run_id)
    assert (await ended(it, run_id))["state"] == "CANCELLED"
