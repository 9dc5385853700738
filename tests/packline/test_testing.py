"""What authors' tests get from `packline.testing`: the checks of a server, without one."""

from __future__ import annotations

import asyncio
import os

import httpx2
import pytest
from pydantic import BaseModel, Field

from packline import (
    CredentialNeed,
    ModelNeed,
    PackContext,
    PackError,
    PostCondition,
    pack,
    raise_for_status,
)
from packline.testing import PackEnvironment, ScriptedModels, load_pack
from runner.packs.pack import PackDefinitionError
from tests.support.pack_folders import pack_source, write_pack_folder


class Input(BaseModel):
    text: str = Field("", max_length=40)


class Output(BaseModel):
    text: str


class Title(BaseModel):
    title: str


def declare(handler, **given):
    """A pack `test.it` that calls a coroutine function with its context and text."""

    @pack("test.it", version="1.0.0", effects="none", repeatable=True, **given)
    async def it(ctx: PackContext, input: Input) -> Output:
        return await handler(ctx, input.text)

    return it


def failing(environment, made, **given):
    with pytest.raises(PackError) as caught:
        environment.run(made, given)
    return caught.value


def test_the_output_is_what_the_next_step_gets(tmp_path):
    async def handler(ctx, text):
        ctx.progress(0.5, "half")
        ctx.log("read")
        ctx.warn("odd")
        return Output(text=text.upper())

    environment = PackEnvironment(tmp_path)
    assert environment.run(declare(handler), {"text": "hi"}) == {"text": "HI"}
    assert (environment.progress, environment.logs, environment.warnings) == (
        [(0.5, "half")],
        [("info", "read")],
        ["odd"],
    )


@pytest.mark.parametrize("given", [{"text": "x" * 41}, {"text": 3}, {"txt": "x"}], ids=["long", "type", "unknown"])
def test_an_input_that_does_not_fit_fails_before_the_handler(tmp_path, given):
    called = []

    async def handler(ctx, text):
        called.append(text)
        return Output(text=text)

    failure = failing(PackEnvironment(tmp_path), declare(handler), **given).failure
    assert (failure.code, failure.field) == ("invalid_input", next(iter(given)))
    assert called == []


def test_output_and_post_conditions_are_checked(tmp_path):
    async def unchecked(ctx, text):
        return Output.model_construct(text=3)

    async def empty(ctx, text):
        return Output(text="")

    environment = PackEnvironment(tmp_path)
    assert failing(environment, declare(unchecked)).failure.code == "invalid_output"
    condition = PostCondition("There is text.", lambda output, files: None if output.text else "It is empty.")
    assert "It is empty." in str(failing(environment, declare(empty, post_conditions=[condition])))


def test_failures_keep_their_code_and_bugs_their_exception(tmp_path):
    async def refuses(ctx, text):
        raise PackError("not_found", "There is no such text.", hint="Give another.")

    async def breaks(ctx, text):
        raise KeyError("lost")

    async def sleeps(ctx, text):
        await asyncio.Event().wait()

    environment = PackEnvironment(tmp_path)
    refused = failing(environment, declare(refuses))
    assert (refused.code, refused.failure.hint) == ("not_found", "Give another.")
    broken = failing(environment, declare(breaks))
    assert broken.failure.code == "handler_failed"
    assert isinstance(broken.__cause__, KeyError)
    assert failing(environment, declare(sleeps, timeout_seconds=0.01)).failure.code == "timeout"


def test_a_code_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(ValueError, match=r"'no_such_code' is not .* The codes are invalid_input, "):
        PackError("no_such_code", "It failed.")


def test_files_are_read_and_saved(tmp_path):
    async def handler(ctx, text):
        file = await ctx.open_artifact(text)
        saved = await ctx.save_artifact("copy.txt", file.path.read_bytes() * 2, "text/plain")
        return Output(text=saved.artifact_id)

    environment = PackEnvironment(tmp_path)
    made = declare(handler)
    given = environment.add_artifact("a.txt", b"ab")
    saved = environment.run(made, {"text": given.artifact_id})["text"]
    assert environment.read_artifact(saved) == b"abab"
    assert environment.artifacts[saved].ref.name == "copy.txt"
    assert failing(environment, made, text="art_none").failure.code == "artifact_failed"


async def test_a_name_that_no_artifact_can_have_is_refused(tmp_path):
    with pytest.raises(PackError, match="not a plain file name"):
        await PackEnvironment(tmp_path).context().save_artifact("a/b.txt", b"", "text/plain")


def test_only_declared_credentials_are_given_and_their_values_masked(tmp_path):
    async def handler(ctx, text):
        return Output(text="key " + (await ctx.credential("weather"))["api_key"])

    environment = PackEnvironment(tmp_path, credentials={"weather": {"api_key": "sesame-open-123"}})
    assert "does not declare" in str(failing(environment, declare(handler)))
    needs = [CredentialNeed("weather", "generic")]
    assert environment.run(declare(handler, credentials=needs), {}) == {"text": "key [redacted:weather.api_key]"}
    missing = failing(PackEnvironment(tmp_path), declare(handler, credentials=needs))
    assert missing.failure.code == "credential_invalid"


def test_models_answer_as_scripted_in_declared_roles(tmp_path):
    async def handler(ctx, text):
        answer = await ctx.models.structured("writer", Title, text)
        return Output(text=answer.value.title)

    environment = PackEnvironment(tmp_path, models=ScriptedModels(writer=[{"title": "Tea"}, {"name": "?"}]))
    made = declare(handler, models=[ModelNeed("writer")])
    assert environment.run(made, {"text": "On tea"}) == {"text": "Tea"}
    assert environment.models.calls == [("writer", "On tea")]
    assert failing(environment, made).failure.code == "invalid_output"
    assert "does not declare" in str(failing(environment, declare(handler)))
    assert failing(PackEnvironment(tmp_path), made).failure.code == "invalid_input"


def test_nothing_is_requested_from_the_network_unless_the_test_answers(tmp_path):
    async def handler(ctx, text):
        return Output(text=raise_for_status(await ctx.http.get("https://weather.example/now")).text)

    made = declare(handler)
    refused = failing(PackEnvironment(tmp_path), made)
    assert refused.failure.code == "policy_denied"
    assert "https://weather.example/now" in str(refused)
    answering = PackEnvironment(tmp_path, http=lambda request: httpx2.Response(200, text=f"{request.method} ok"))
    assert answering.run(made, {}) == {"text": "GET ok"}
    busy = PackEnvironment(tmp_path, http=lambda request: httpx2.Response(429))
    assert failing(busy, made).failure.code == "rate_limited"


def test_a_session_is_left_and_found_by_packs_that_declare_it(tmp_path):
    async def opens(ctx, text):
        ((await ctx.start_session()).path / "note").write_text(text, "utf-8")
        return Output(text="")

    async def reads(ctx, text):
        return Output(text="none" if ctx.session is None else (ctx.session.path / "note").read_text("utf-8"))

    environment = PackEnvironment(tmp_path)
    assert failing(environment, declare(opens)).failure.code == "handler_failed"
    environment.run(declare(opens, preserves_session=True), {"text": "tea"})
    environment.session = environment.sessions[-1]
    assert environment.run(declare(reads), {}) == {"text": "none"}
    assert environment.run(declare(reads, uses_session=True), {}) == {"text": "tea"}


def test_functions_run_in_processes(tmp_path):
    async def handler(ctx, text):
        return Output(text=str(await ctx.run_in_process(os.getpid)))

    assert PackEnvironment(tmp_path).run(declare(handler), {})["text"] != str(os.getpid())


def test_packs_are_loaded_from_files_as_on_a_server(tmp_path):
    files = {"text/echo.py": pack_source("text.echo"), "text/wrong.py": pack_source("text.wrong", "one")}
    folder = write_pack_folder(tmp_path / "mine", files)
    assert load_pack(folder / "packs/text/echo.py").name == "text.echo"
    assert load_pack(str(folder / "packs/text/echo.py"), "text.echo").name == "text.echo"
    with pytest.raises(PackDefinitionError, match="expected the pack text"):
        load_pack(folder / "packs/text/echo.py", "text.other")
    with pytest.raises(PackDefinitionError, match=r"packs/text/wrong\.py:\d+: .*version is 'one'"):
        load_pack(folder / "packs/text/wrong.py")
