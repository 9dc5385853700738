"""How runs walk: order, templates, what is recorded, and what makes a step fail."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from packline import PackContext, PackError, pack
from runner.failures import Failure, FailureCode
from runner.secrets.redaction import Redactor
from store.database.paging import PageWindow
from store.files.artifacts import artifacts_of_attempts
from store.runs.logs import CUT, MAX_LINES, list_log
from store.states import AttemptState, RunState, StepState
from tests.support.engine import AT_ONCE, QUICK, Laboratory, laboratory, step
from tests.support.engine_packs import Anything, Signals, Text, engine_packs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.packs import Workbench


@pytest.fixture
async def lab(tmp_path: Path, bench: Workbench, signals: Signals) -> AsyncIterator[Laboratory]:
    async with laboratory(tmp_path, [*bench.packs, *engine_packs(signals)], redactor=Redactor(known())) as made:
        yield made


def known() -> dict[str, str]:
    return {"mail": "correct horse battery"}


async def test_steps_run_in_order_each_fed_by_templates(lab: Laboratory, bench: Workbench):
    run = await lab.run(
        [
            step("one", "test.echo", text="${{ inputs.topic }}"),
            step("two", "test.echo", text="about ${{ steps.one.output.text }}, once more"),
            step("three", "test.echo", text="${{ steps.two.output.text }}"),
        ],
        {"topic": "tea"},
    )
    assert run.state is RunState.SUCCEEDED
    assert [call.step_key for call in bench.log] == ["one", "two", "three"]
    assert run.outputs["three"]["text"] == "about tea, once more"
    assert run.inputs["two"] == {"text": "about tea, once more"}
    assert run.record.progress == 1.0
    assert run.told() == [
        "run queued",
        "run running",
        "step one running",
        "attempt one running",
        "attempt one succeeded",
        "step one succeeded",
        "step two running",
        "attempt two running",
        "attempt two succeeded",
        "step two succeeded",
        "step three running",
        "attempt three running",
        "attempt three succeeded",
        "step three succeeded",
        "run succeeded",
    ]


async def test_the_run_stops_at_the_first_failure(lab: Laboratory, bench: Workbench):
    run = await lab.run([step("a", "test.echo"), step("b", "test.fail", code="not_found"), step("c", "test.echo")])
    assert run.state is RunState.FAILED
    assert [found.state for found in run.steps] == [StepState.SUCCEEDED, StepState.FAILED, StepState.PENDING]
    assert run.failure["code"] == "not_found"
    assert run.failure["step_key"] == "b"
    assert run.failure["hint"] == "Ask for another code."
    assert bench.calls("test.echo") == 1
    assert run.ends() == ["failed"]


@pytest.mark.parametrize("code", [code.value for code in FailureCode])
async def test_a_pack_fails_with_the_code_it_says(lab: Laboratory, code: str):
    run = await lab.run([step("a", "test.fail", code=code, message="as told", retry={"max_attempts": 1})])
    assert (run.failure["code"], run.failure["message"]) == (code, "as told")
    assert run.state is RunState.FAILED


async def test_an_input_that_does_not_resolve_fails_its_step_loudly(lab: Laboratory, bench: Workbench):
    run = await lab.run(
        [step("a", "test.echo", text="x"), step("b", "test.echo", text="${{ steps.a.output.nothing }}")]
    )
    assert run.state is RunState.FAILED
    assert run.failure["code"] == "invalid_input"
    assert "steps.a.output.nothing" in run.failure["message"]
    assert [attempt.state for attempt in run.attempts["b"]] == [AttemptState.FAILED]
    assert run.step("a").state is StepState.SUCCEEDED
    first = await lab.run([step("a", "test.echo", text="${{ inputs.gone }}")])
    assert first.failure["code"] == "invalid_input"
    assert len(first.attempts["a"]) == 1
    assert bench.calls("test.echo") == 1


async def test_an_omitted_optional_is_a_note_of_the_attempt_and_no_warning(lab: Laboratory):
    run = await lab.run([step("a", "test.echo", text="so ${{ inputs.maybe? }}")])
    assert run.outputs["a"]["text"] == "so "
    assert json.loads(run.attempts["a"][0].notes) == [
        "Not set, because they had no value: ${{ inputs.maybe? }} in text."
    ]
    assert run.step("a").warnings == "[]"


@pytest.mark.parametrize(
    ("given", "field"), [({"text": 5}, "text"), ({"text": "x", "colour": "red"}, "colour"), ({"text": None}, "text")]
)
async def test_an_input_that_does_not_fit_the_pack_names_the_field(lab: Laboratory, given: dict[str, Any], field: str):
    run = await lab.run([step("a", "test.echo", **given)])
    assert (run.failure["code"], run.failure["field"]) == ("invalid_input", field)


async def test_a_broken_validator_is_the_packs_fault(lab: Laboratory):
    run = await lab.run([step("a", "test.picky", text="x")])
    assert run.failure["code"] == "handler_failed"
    assert "the validator is broken" in run.failure["message"]


async def test_what_a_handler_raises_fails_the_step_with_its_traceback(lab: Laboratory):
    run = await lab.run([step("a", "test.raises", text="by nothing")])
    assert run.failure["code"] == "handler_failed"
    assert "ZeroDivisionError: by nothing" in run.failure["message"]
    assert "exception" not in run.failure, "it is the attempt's"
    (attempt,) = run.attempts["a"]
    raised = Failure.from_json(orjson.loads(attempt.failure or "")).exception
    assert raised is not None
    assert (raised.type, raised.message) == ("ZeroDivisionError", "by nothing")
    assert [(frame.function, frame.own) for frame in raised.frames] == [("raises", True)]
    assert (await lab.run([step("a", "test.exits")])).failure["code"] == "handler_failed"


async def test_an_exception_that_cannot_say_what_it_is(lab: Laboratory, signals: Signals):
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def body(ctx: PackContext, given: Anything) -> None:
        raise MuteError

    signals.body = body
    run = await lab.run([step("a", "test.scripted")])
    assert run.failure["code"] == "handler_failed"
    assert "MuteError" in run.failure["message"]


async def test_a_failure_is_stored_whatever_the_pack_puts_into_it(lab: Laboratory, signals: Signals):
    def body(ctx: PackContext, given: Anything) -> None:
        raise PackError(
            "rate_limited",
            "zero \0 half \ud800 secret correct horse battery " + "x" * 10_000,
            hint="h" * 10_000,
            retry_after_seconds="soon",  # type: ignore[arg-type]
            detail={"object": object()},  # type: ignore[dict-item]
        )

    signals.body = body
    run = await lab.run([step("a", "test.scripted", retry={"max_attempts": 1})])
    assert run.failure["code"] == "rate_limited"
    message = run.failure["message"]
    assert "\0" not in message
    assert "horse" not in message
    assert len(message) <= 2000
    assert len(run.failure["hint"]) <= 2000
    assert "retry_after_seconds" not in run.failure
    assert "object" in str(run.failure["detail"])


async def test_a_handler_that_cancels_itself_has_failed(lab: Laboratory, signals: Signals):
    async def body(ctx: PackContext, given: Anything) -> None:
        raise asyncio.CancelledError

    signals.body = body
    run = await lab.run([step("a", "test.scripted")])
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "handler_failed")


@pytest.mark.parametrize("how", ["wrong type", "missing", "another model", "nothing"])
async def test_an_output_that_is_not_what_the_pack_declares_is_refused(lab: Laboratory, how: str):
    run = await lab.run([step("a", "test.unchecked", text=how)])
    assert run.failure["code"] == "invalid_output"


@pytest.mark.parametrize("value", ["a\0b", "half \ud800", {"deep": [1 << 70]}, {"\0": 1}])
async def test_what_no_database_takes_is_refused_as_output(lab: Laboratory, signals: Signals, value: object):
    signals.body = lambda ctx, given: Anything(value=value)
    run = await lab.run([step("a", "test.scripted")])
    assert run.failure["code"] == "invalid_output"


async def test_a_text_that_only_looks_like_an_escape_is_fine(lab: Laboratory, signals: Signals):
    signals.body = lambda ctx, given: Anything(value="\\u0000")
    run = await lab.run([step("a", "test.scripted")])
    assert run.outputs["a"] == {"value": "\\u0000"}


async def test_an_output_beyond_a_mebibyte_is_refused_with_a_hint(lab: Laboratory):
    run = await lab.run([step("a", "test.huge")])
    assert run.failure["code"] == "resource_exhausted"
    assert "artifact" in run.failure["hint"]
    fitting = await lab.run([step("a", "test.huge", size_bytes=1000)])
    assert fitting.state is RunState.SUCCEEDED


async def test_a_resolved_input_beyond_a_mebibyte_is_refused(lab: Laboratory):
    run = await lab.run(
        [step("a", "test.huge", size_bytes=900_000), step("b", "test.echo", text="${{ steps.a.output.text }}" * 2)]
    )
    assert (run.failure["code"], run.failure["step_key"]) == ("invalid_input", "b")


async def test_success_is_earned(lab: Laboratory):
    good = await lab.run([step("a", "test.promising", text="ab")])
    assert good.state is RunState.SUCCEEDED
    short = await lab.run([step("a", "test.promising", text="a")])
    assert short.failure["code"] == "invalid_output"
    assert "the text has two letters" in short.failure["message"]
    broken = await lab.run([step("a", "test.promising", text="crash")])
    assert broken.failure["code"] == "handler_failed"
    leaving = await lab.run([step("a", "test.promising", text="exit")])
    assert leaving.failure["code"] == "handler_failed"
    assert "SystemExit" in leaving.failure["message"]


async def test_an_artifact_comes_with_its_attempt(lab: Laboratory):
    run = await lab.run([step("a", "test.artifact", name="note.txt", content="Hello.")])
    (artifact,) = (await artifacts_of_attempts(lab.store, [run.attempts["a"][0].id]))[run.attempts["a"][0].id]
    assert (artifact.name, artifact.size_bytes) == ("note.txt", 6)
    assert lab.resources.blobs.path(artifact.digest).read_text() == "Hello."
    assert "artifact a stored" in run.told()


@pytest.mark.parametrize("name", ["../up", "a/b", "", "x" * 201, "nul\0", "half\ud800", ".."])
async def test_an_artifact_has_a_plain_name(lab: Laboratory, signals: Signals, name: str):
    async def body(ctx: PackContext, given: Anything) -> str:
        await ctx.save_artifact(name, b"x", "text/plain")
        return "saved"

    signals.body = body
    run = await lab.run([step("a", "test.scripted")])
    assert run.failure["code"] == "invalid_output"


async def test_a_file_that_vanishes_is_an_artifact_that_failed(lab: Laboratory, signals: Signals, tmp_path: Path):
    async def missing(ctx: PackContext, given: Anything) -> str:
        await ctx.save_artifact("a.txt", tmp_path / "nowhere", "text/plain")
        return "saved"

    async def removed(ctx: PackContext, given: Anything) -> str:
        ref = await ctx.save_artifact("a.txt", b"soon gone", "text/plain")
        lab.resources.blobs.path(ref.digest).unlink()
        return "saved"

    for body in (missing, removed):
        signals.body = body
        run = await lab.run([step("a", "test.scripted")])
        assert run.failure["code"] == "artifact_failed"


async def test_secrets_are_masked_once_before_they_are_kept_or_used(lab: Laboratory, signals: Signals):
    seen: list[object] = []

    def body(ctx: PackContext, given: Anything) -> str:
        seen.append(given.value)
        ctx.log("password: correct horse battery")
        ctx.warn("x" * 990 + " correct horse battery")
        ctx.progress(0.5, "y" * 490 + " correct horse battery")
        return "it is correct horse battery"

    signals.body = body
    run = await lab.run([step("a", "test.scripted"), step("b", "test.scripted", value="${{ steps.a.output.value }}")])
    assert "horse" not in str(seen[1])
    assert run.outputs["a"]["value"] == seen[1]
    lines = await list_log(lab.store, run.attempts["a"][0].id, PageWindow(limit=10))
    assert lines
    assert "horse" not in lines[0].text
    assert "correct" not in run.step("a").warnings, "cut only after it was masked"
    assert not [event for event in run.events if "correct" in (event.data or "")]


async def test_progress_is_coalesced_and_its_last_word_kept(lab: Laboratory):
    run = await lab.run([step("a", "test.progress", count=1000)])
    told = [event for event in run.events if event.type == "step_progress"]
    assert 1 <= len(told) <= 20
    assert "1000 of 1000" in (told[-1].data or "")
    order = [event.sequence for event in run.events if event.type == "attempt_state" and event.after == "succeeded"]
    assert told[-1].sequence < order[0], "nothing is told of a step that has ended"


async def test_a_flood_of_log_lines_is_cut(lab: Laboratory):
    run = await lab.run([step("a", "test.flood", lines=MAX_LINES + 5000)])
    assert run.state is RunState.SUCCEEDED
    lines = await list_log(lab.store, run.attempts["a"][0].id, PageWindow(limit=MAX_LINES + 10))
    assert len(lines) == MAX_LINES + 1
    assert lines[-1].text == CUT


async def test_warnings_are_kept_without_repeats(lab: Laboratory, signals: Signals):
    def body(ctx: PackContext, given: Anything) -> str:
        for _ in range(3):
            ctx.warn("half \ud800 and \0")
        return "done"

    signals.body = body
    run = await lab.run([step("a", "test.scripted")])
    assert run.step("a").warnings == '["half ? and \ufffd"]'


async def test_a_pack_call_runs_like_a_run_of_one_step(lab: Laboratory):
    document = '{"call":{"pack":"test.echo","version":"1.0.0"}}'
    base = await lab.new_run([step("call", "test.echo")], {"text": "${{ inputs.text }}"})
    new = replace(base, pack="test.echo", document=document, pipeline_id=None, version_id=None)
    run = await lab.ended((await lab.engine.submit(new)).run_id)
    assert run.outputs["call"]["text"] == "${{ inputs.text }}", "taken word for word"


async def test_the_idempotency_key_follows_run_step_and_input(lab: Laboratory, bench: Workbench):
    steps = [step("a", "test.flaky", times=1, text="x", retry=AT_ONCE), step("b", "test.echo", text="x")]
    first, second = await lab.run(steps), await lab.run(steps)
    assert first.state is second.state is RunState.SUCCEEDED
    keys = [call.idempotency_key for call in bench.calls_of("test.flaky")]
    assert keys[0] == keys[1], "the same over retries"
    assert len({*keys, *(call.idempotency_key for call in bench.calls_of("test.echo"))}) == 4
    assert [attempt.idempotency_key for attempt in first.attempts["a"]] == keys[:2]


async def test_another_version_of_the_same_major_stands_in_and_says_so(lab: Laboratory):
    @pack("test.moved", version="1.3.0", effects="none", repeatable=True)
    async def newer(ctx: PackContext, given: Text) -> Text:
        return Text(text=given.text)

    steps = [step("a", "test.moved", text="x"), step("b", "test.moved", text="${{ steps.a.output.text }}")]
    lab.install(newer)
    base = await lab.new_run(steps)
    old = replace(base, steps=tuple(each._replace(pack_version="1.2.0") for each in base.steps))
    run = await lab.ended((await lab.engine.submit(old)).run_id)
    assert run.state is RunState.SUCCEEDED
    assert run.attempts["a"][0].notes == '["runs on 1.3.0 instead of 1.2.0"]'
    assert run.attempts["a"][0].pack_version == "1.3.0"


async def test_a_version_that_does_not_fit_is_refused(lab: Laboratory):
    @pack("test.moved", version="1.3.0", effects="none", repeatable=True)
    async def without_text(ctx: PackContext, given: Text) -> Anything:
        return Anything()

    @pack("test.moved", version="2.0.0", effects="none", repeatable=True)
    async def next_major(ctx: PackContext, given: Text) -> Text:
        return Text()

    steps = [step("a", "test.moved", text="x"), step("b", "test.echo", text="${{ steps.a.output.text }}")]
    base = await lab.new_run(steps)
    for version, installed in (("1.2.0", without_text), ("1.2.0", next_major)):
        lab.install(installed)
        old = replace(base, steps=tuple(each._replace(pack_version=version) for each in base.steps))
        run = await lab.ended((await lab.engine.submit(old)).run_id)
        assert run.failure["code"] == "schema_mismatch"


async def test_a_definition_that_no_longer_reads_fails_the_run(lab: Laboratory):
    base = await lab.new_run([step("a", "test.echo")])
    odd = replace(base, pack="test.echo", document='{"steps": 5}', pipeline_id=None, version_id=None)
    run = await lab.ended((await lab.engine.submit(odd)).run_id)
    assert run.failure["code"] == "internal"
    stray = replace(base, steps=(base.steps[0]._replace(key="elsewhere"),))
    run = await lab.ended((await lab.engine.submit(stray)).run_id)
    assert run.failure["code"] == "internal"


async def test_a_cached_value_is_made_once_for_a_caller_and_force_skips_it(lab: Laboratory, signals: Signals):
    made: list[str] = []

    async def body(ctx: PackContext, given: Anything) -> object:
        async def make() -> str:
            made.append("x")
            return f"value {len(made)}"

        return await ctx.cached("key", 60, make)

    signals.body = body
    steps = [step("a", "test.scripted")]
    assert (await lab.run(steps)).outputs["a"]["value"] == "value 1"
    assert (await lab.run(steps)).outputs["a"]["value"] == "value 1"
    assert (await lab.run(steps, force=True)).outputs["a"]["value"] == "value 2"
    assert (await lab.run(steps)).outputs["a"]["value"] == "value 2"


def test_the_default_limits():
    assert (QUICK.step_output_bytes, QUICK.step_input_bytes, QUICK.steps) == (1 << 20, 1 << 20, 64)
    assert (QUICK.concurrent_runs, QUICK.queued_runs, QUICK.step_timeout_seconds) == (8, 1000, 600)
    assert (QUICK.deadline_seconds, QUICK.lease_seconds) == (1800, 30)
