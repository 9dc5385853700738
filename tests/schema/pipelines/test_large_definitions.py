"""Large definitions through the front door: read, checked and compiled without holding up anybody else."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from resolvers.pipelines import definitions
from runner.definitions import background_compile, definition_cache, inputs, parsing
from tests.support.front_door import command, ended, look, ran, save, start, step
from tests.support.packs import Workbench
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from tests.support.product import Product

_CHECK = "query ($d: PipelineDefinitionInput!) { checkPipeline(definition: $d) { valid steps { key } } }"
_CREATE = "mutation ($d: PipelineDefinitionInput!) { createPipeline(definition: $d) { __typename } }"
_APPLY = "mutation ($yaml: String!) { applyPipelines(yaml: $yaml, dryRun: true) { __typename } }"
_UPDATE = """mutation ($change: PipelineChangeInput!) {
    updatePipeline(pipeline: "shout", change: $change, ifVersion: 1) { __typename } }"""
LARGE = "word " * 2_000


def small(key: str) -> str:
    """A small definition; JSON is YAML as well."""
    steps = [{"id": "a", "pack": "test.echo", "input": {"text": "x"}}]
    return orjson.dumps({"key": key, "name": key, "steps": steps}).decode()


async def large(it: Product, key: str, *steps: dict[str, Any], note: str = "") -> None:
    """Saves a pipeline whose first step is given a long text."""
    await save(it, key, step("first", "test.echo", text=f"{key}{note} {LARGE}"), *steps)


@dataclass
class Reads:
    """The definitions that are read: parsed to be checked or compiled.

    Attributes:
        here: Large ones that were read on the event loop's thread.
        apart: Large ones that were read in another.
        go: While it is not set, the reading of large ones in threads does not begin.
    """

    here: int = 0
    apart: int = 0
    go: threading.Event = field(default_factory=threading.Event)

    def note(self, document: object) -> None:
        """A definition begins to be read."""
        if len(orjson.dumps(document)) <= background_compile.LARGE_BYTES:
            return
        if threading.current_thread() is threading.main_thread():
            self.here += 1
            return
        self.apart += 1
        self.go.wait(60)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While no large definition gets read in a thread."""
        self.go.clear()
        try:
            yield
        finally:
            self.go.set()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    noted = Reads()
    noted.go.set()
    read = parsing._Reader.definition

    def noting(self: Any, document: object) -> Any:
        noted.note(document)
        return read(self, document)

    monkeypatch.setattr(parsing._Reader, "definition", noting)
    return noted


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever needs a large definition has to make it ready anew, as after a restart."""
    monkeypatch.setattr(definition_cache.DefinitionCache, "_keep", lambda *_: None)


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


@pytest.fixture
async def it(tmp_path: Path, bench: Workbench) -> AsyncIterator[Product]:
    async with product(tmp_path, bench.packs) as running:
        yield running


def forget() -> None:
    """No large definition is compiled any more, as after a restart."""
    definition_cache.definitions._large.clear()
    definition_cache.definitions._characters = 0


async def answers(it: Product) -> bool:
    """Whether others are answered."""
    async with asyncio.timeout(20):
        return bool((await it.query("{ viewer { name } }"))["viewer"])


@pytest.mark.usefixtures("nothing_kept")
async def test_no_use_of_a_large_definition_reads_it_on_the_event_loop(
    it: Product, bench: Workbench, reads: Reads
) -> None:
    await large(it, "long", step("second", "test.switch", text="x"))
    run = await ran(it, "long", {})
    assert run["failure"]["stepKey"] == "second"
    told = await it.query(
        """query ($id: ID!) { run(id: $id) { resumePreview { allowed } rerunPreview { allowed }
            steps { step { key } } pipeline { availability { usable } steps { key } } } }""",
        {"id": run["id"]},
    )
    assert told["run"]["resumePreview"]["allowed"]
    assert told["run"]["rerunPreview"]["allowed"]
    assert [each["step"]["key"] for each in told["run"]["steps"]] == ["first", "second"]
    assert told["run"]["pipeline"] == {
        "availability": {"usable": True},
        "steps": [{"key": "first"}, {"key": "second"}],
    }
    again = await command(it, "rerunRun", id=run["id"], waitSeconds=20)
    assert again["run"]["failure"]["stepKey"] == "second"
    fields = {"steps": [step("first", "test.echo", text=f"changed {LARGE}"), step("second", "test.switch", text="x")]}
    change = await it.mutate(
        """mutation ($change: PipelineChangeInput!) { updatePipeline(pipeline: "long", change: $change, ifVersion: 1) {
            __typename } }""",
        {"change": {"fields": fields}},
    )
    assert change == {"__typename": "PipelineSuccess"}
    bench.failing = False
    after = await command(it, "resumeRun", id=run["id"], waitSeconds=20)
    assert after["run"]["state"] == "SUCCEEDED"
    newer = await command(it, "rerunRun", id=run["id"], definition="CURRENT", waitSeconds=20)
    assert newer["run"]["state"] == "SUCCEEDED"
    document = {"name": "x", "steps": fields["steps"]}
    told = await it.query(_CHECK, {"d": {"document": document}})
    assert told["checkPipeline"] == {"valid": True, "steps": [{"key": "first"}, {"key": "second"}]}
    assert reads.here == 0
    assert reads.apart > 10


async def test_others_are_answered_while_a_large_version_is_made_ready(
    it: Product, bench: Workbench, reads: Reads
) -> None:
    await large(it, "long", step("second", "test.switch", text="x"))
    with reads.held():
        begun = reads.apart
        starting = asyncio.create_task(ran(it, "long", {}))
        await eventually(lambda: reads.apart > begun)
        assert await answers(it)
        assert not starting.done()
    run = await starting
    bench.failing = False
    with reads.held():
        forget()
        begun = reads.apart
        resuming = asyncio.create_task(command(it, "resumeRun", id=run["id"], waitSeconds=20))
        await eventually(lambda: reads.apart > begun)
        assert await answers(it)
        assert not resuming.done()
    assert (await resuming)["run"]["state"] == "SUCCEEDED"


async def test_a_large_version_is_made_ready_once_however_many_start_it(it: Product, reads: Reads) -> None:
    await large(it, "long")
    tokens = [it.token, await it.token_for("ada", "READ", "RUN"), await it.token_for("bob", "READ", "RUN")]
    reads.apart = 0
    asked = 'mutation { runPipeline(pipeline: "long", force: true, waitSeconds: 20) { __typename } }'
    with reads.held():
        starts = [asyncio.create_task(it.mutate(asked, token=token)) for token in tokens for _ in range(3)]
        await eventually(lambda: reads.apart)
        starts[0].cancel()  # whoever it is done for may go
        assert await answers(it)
    told = await asyncio.gather(*starts, return_exceptions=True)
    assert [each for each in told[1:] if each != {"__typename": "StartRunSuccess"}] == []
    assert reads.apart == 2, "compiled, and held against the packs"
    assert reads.here == 0


async def test_a_run_taken_over_after_a_restart_holds_up_nobody(tmp_path: Path, reads: Reads) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it:
        await large(it, "long", step("second", "test.slow", text="x"))
        run = (await start(it, "long", {}))["run"]
        await bench.started.wait()
    forget()
    bench.release.set()
    with reads.held():
        begun = reads.apart
        async with product(tmp_path, bench.packs) as it:
            await eventually(lambda: reads.apart > begun)
            assert await answers(it)
        # It stopped while the definition was read, and did not wait for that.
        async with product(tmp_path, bench.packs) as it:
            assert (await look(it, run["id"]))["state"] in ("QUEUED", "RUNNING")
            reads.go.set()
            assert (await ended(it, run["id"]))["state"] == "SUCCEEDED"
    assert reads.here == 0


async def test_yaml_is_read_beside_the_event_loop(it: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest text takes seconds to read; meanwhile the others are answered."""
    readers: list[str] = []

    def noting(read: Callable[[str], Any]) -> Callable[[str], Any]:
        def noted(text: str) -> Any:
            readers.append(threading.current_thread().name)
            return read(text)

        return noted

    for name in ("load_document", "load_written"):
        monkeypatch.setattr(definitions, name, noting(getattr(definitions, name)))
    text = small("shout")
    await it.mutate(_CREATE, {"d": {"yaml": text}})
    await it.mutate(_APPLY, {"yaml": text})
    await it.query(_CHECK, {"d": {"yaml": text}})
    await it.mutate(_UPDATE, {"change": {"yaml": text}})
    assert len(readers) == 4
    assert {name.rpartition("_")[0] for name in readers} == {"definition-reader"}


async def test_large_definitions_are_checked_beside_the_event_loop(
    it: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkers: list[bool] = []
    check = definitions.check_definition

    def noted(*given: Any, **more: Any) -> Any:
        checkers.append(threading.current_thread() is threading.main_thread())
        return check(*given, **more)

    monkeypatch.setattr(definitions, "check_definition", noted)
    for words, here in ((10, True), (2_000, False)):
        steps = [step("a", "test.echo", text="word " * words)]
        for given in (
            {"yaml": orjson.dumps({"name": f"long {words}", "steps": steps}).decode()},
            {"document": {"name": f"x {words}", "steps": steps}},
        ):
            checkers.clear()
            told = await it.query(_CHECK, {"d": given})
            assert told == {"checkPipeline": {"valid": True, "steps": [{"key": "a"}]}}
            saved = await it.mutate(_CREATE, {"d": given})
            assert saved["__typename"] == "PipelineSuccess"
            assert checkers == [here, here], (words, list(given))


@pytest.mark.parametrize("padding", ["", LARGE], ids=["small", "large"])
async def test_slow_texts_of_one_caller_hold_up_nobody_else(
    it: Product, monkeypatch: pytest.MonkeyPatch, padding: str
) -> None:
    go, begun, load = threading.Event(), [], definitions.load_document

    def slow(text: str) -> Any:
        if "slow" in text:
            begun.append(text)
            go.wait(60)
        return load(text)

    monkeypatch.setattr(definitions, "load_document", slow)
    text = f"{small('slow')} # {padding}"
    alice, bob = [await it.token_for(name, "READ") for name in ("alice", "bob")]
    many = [asyncio.create_task(it.query(_CHECK, {"d": {"yaml": text}}, token=alice)) for _ in range(5)]
    try:
        await eventually(lambda: begun)
        async with asyncio.timeout(20):
            assert (await it.query(_CHECK, {"d": {"yaml": f"{small('quick')} # {LARGE}"}}, token=bob))["checkPipeline"][
                "valid"
            ]
        assert len(begun) == 1, "one text of a caller's at once"
        many[1].cancel()
    finally:
        go.set()
    told = await asyncio.gather(*many, return_exceptions=True)
    assert [isinstance(each, asyncio.CancelledError) for each in told] == [False, True, False, False, False]
    # The thread that did the last lets go of it after it has told that it is done.
    await eventually(lambda: not (background_compile.SMALL.turns or background_compile.LARGE.turns))


async def test_large_inputs_are_checked_beside_the_event_loop(it: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    look_through = inputs.forbidden_text

    def noted(value: Any) -> Any:
        threads.append(threading.current_thread())
        return look_through(value)

    monkeypatch.setattr(inputs, "forbidden_text", noted)
    await save(it, "say", step("a", "test.echo", text="${{ inputs.words }}"))
    for words, here in (("tea", True), (LARGE, False)):
        threads.clear()
        run = await ran(it, "say", {"words": words})
        again = await command(it, "rerunRun", id=run["id"], inputs={"words": f"{words}!"}, waitSeconds=20)
        assert again["run"]["output"]["json"]["text"] == f"{words}!"
        assert [thread is threading.main_thread() for thread in threads] == [here, here]


async def test_small_texts_do_not_wait_for_large_ones(it: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    go, begun, load = threading.Event(), [], definitions.load_document

    def slow(text: str) -> Any:
        if len(text) > background_compile.LARGE_BYTES:
            begun.append(text)
            go.wait(60)
        return load(text)

    monkeypatch.setattr(definitions, "load_document", slow)
    tokens = [await it.token_for(name, "READ") for name in ("ada", "bob", "eve")]
    text = f"{small('long')} # {LARGE}"
    asked = [asyncio.create_task(it.query(_CHECK, {"d": {"yaml": text}}, token=token)) for token in tokens[:2]]
    try:
        await eventually(lambda: len(begun) == 2)
        for token in (tokens[0], tokens[2]):  # neither one's own nor those of others
            async with asyncio.timeout(20):
                told = await it.query(_CHECK, {"d": {"yaml": small("quick")}}, token=token)
            assert told["checkPipeline"]["valid"]
    finally:
        go.set()
    assert [each["checkPipeline"]["valid"] for each in await asyncio.gather(*asked)] == [True, True]
