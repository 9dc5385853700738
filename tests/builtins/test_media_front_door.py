"""Videos, episodes and pictures through the front door: real settings, real gateway, real workers, real voice."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.front_door import look, ran, save, start, step
from tests.support.product import Product, product
from tests.support.speech_server import KEY, SpeechServer, png, speech_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytest.importorskip("av")
needs_hibari = pytest.mark.skipif(importlib.util.find_spec("hibari") is None, reason="the `audio` extra is missing")

SLIDES = "# Lights\n\n---\n\n## The lens\n\n- It bends light\n\n<!-- notes: In 1823 a lens bent light into a beam. -->"
TEXT = "# Lights\n\nSailors steered by fires.\n\n## The lens\n\nIn 1823 a lens bent light into a beam."
COST = "cost { usage { input output } } steps { key warnings attempts { models } }"


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SpeechServer]:
    monkeypatch.setenv("TEST_MEDIA_KEY", KEY)
    async with speech_server() as running:
        yield running


def settings(server: SpeechServer, **roles: tuple[str, ...]) -> dict[str, Any]:
    return {
        "builtins": True,
        "model_providers": {
            "elevenlabs": {"base_url": server.elevenlabs_url, "api_key_env": "TEST_MEDIA_KEY"},
            "openai": {"base_url": server.openai_url, "api_key_env": "TEST_MEDIA_KEY"},
        },
        "model_roles": roles,
    }


async def content(it: Product, artifact: dict[str, Any]) -> bytes:
    answer = await it.admin.http.get(
        it.url(f"/artifacts/{artifact['artifact_id']}"), headers={"authorization": f"Bearer {it.token}"}
    )
    assert answer.status_code == 200, answer.text
    return answer.content


@needs_hibari
async def test_a_text_becomes_a_video_and_an_episode_without_any_key(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it:
        await save(
            it,
            "media",
            step("outline", "slides.outline", text="${{ inputs.text }}"),
            step("narrate", "slides.narrate", markdown=SLIDES, resolution="720p"),
            step("podcast", "podcast.generate", source_text="${{ inputs.text }}", duration_target_min=0.5),
        )

        run = await ran(it, "media", {"text": TEXT})

        assert run["state"] == "SUCCEEDED", run["failure"]
        outputs = {each["key"]: each["output"]["json"] for each in run["steps"]}
        warnings = {each["key"]: each["warnings"] for each in run["steps"]}
        assert outputs["narrate"]["voice"] == "offline:heart"
        assert warnings["narrate"] == []
        video = await content(it, outputs["narrate"]["artifact"])
        assert video[4:8] == b"ftyp"
        assert b"beam" in await content(it, outputs["narrate"]["captions_srt"])
        assert [each["voice"] for each in outputs["podcast"]["speakers"]] == ["offline:heart", "offline:heart-low"]
        assert (await content(it, outputs["podcast"]["artifact"])).startswith(b"ID3")


async def test_a_providers_voices_speak_and_both_speakers_differ(tmp_path: Path, server: SpeechServer) -> None:
    given = settings(server, voice=("elevenlabs:rachel", "openai:tts-1/alloy"))
    async with product(tmp_path, **given) as it:
        await save(it, "cast", step("podcast", "podcast.generate", source_text=TEXT, duration_target_min=0.5))

        run = await ran(it, "cast")

        assert run["state"] == "SUCCEEDED", run["failure"]
        output = run["steps"][0]["output"]["json"]
        assert [each["voice"] for each in output["speakers"]] == ["elevenlabs:rachel", "elevenlabs:domi"]
        assert output["loudness_lufs"] == pytest.approx(-16, abs=1)
        seen = await look(it, run["id"], select=COST)
        assert set(seen["steps"][0]["attempts"][0]["models"]) == {"elevenlabs:rachel", "elevenlabs:domi"}
        assert {text for _, text in server.spoken} >= {"Sailors steered by fires.", "First: The lens."}


async def test_a_voice_that_cannot_speak_now_is_replaced_and_that_is_a_warning(
    tmp_path: Path, server: SpeechServer
) -> None:
    server.faults["21m00Tcm4TlvDq8ikWAM"] = "quota"
    given = settings(server, voice=("elevenlabs:rachel", "openai:tts-1/alloy"))
    async with product(tmp_path, **given) as it:
        await save(it, "film", step("narrate", "slides.narrate", markdown=SLIDES, resolution="720p"))

        run = await ran(it, "film")

        assert run["state"] == "SUCCEEDED", run["failure"]
        assert run["steps"][0]["output"]["json"]["voice"] == "openai:tts-1/alloy"
        [warning] = run["steps"][0]["warnings"]
        assert "exceeds your quota" in warning
        assert "openai:tts-1/alloy spoke instead" in warning


@pytest.mark.parametrize(
    ("fault", "code", "kind"),
    [("401", "CREDENTIAL_INVALID", "CALLER_FIXABLE"), ("short", "INVALID_OUTPUT", "PACK_BUG")],
)
async def test_a_voice_that_is_refused_or_cut_off_is_not_papered_over(
    tmp_path: Path, server: SpeechServer, fault: str, code: str, kind: str
) -> None:
    server.faults["21m00Tcm4TlvDq8ikWAM"] = fault
    given = settings(server, voice=("elevenlabs:rachel", "offline:heart"))
    async with product(tmp_path, **given) as it:
        await save(
            it, "film", step("narrate", "slides.narrate", markdown=SLIDES, retry={"max_attempts": 1}, resolution="720p")
        )

        run = await ran(it, "film")

        assert run["state"] == "FAILED"
        assert (run["failure"]["code"], run["failure"]["class"]) == (code, kind)
        assert run["steps"][0]["artifacts"] == []


async def test_a_picture_is_made_and_its_cost_recorded(tmp_path: Path, server: SpeechServer) -> None:
    async with product(tmp_path, **settings(server, image=("openai:gpt-image-1",))) as it:
        await save(it, "draw", step("draw", "image.generate", prompt="${{ inputs.what }}", style="flat"))

        run = await ran(it, "draw", {"what": "A lamp ${{ steps.x }}"})

        assert run["state"] == "SUCCEEDED", run["failure"]
        output = run["steps"][0]["output"]["json"]
        assert (output["width"], output["height"], output["model"]) == (1536, 1024, "openai:gpt-image-1")
        assert await content(it, output["artifact"]) == png(1536, 1024)
        assert server.drawn[0]["prompt"].startswith("A lamp ${{ steps.x }} Flat vector")
        seen = await look(it, run["id"], select=COST)
        assert seen["cost"]["usage"] == {"input": 12, "output": 1056}


async def test_without_an_image_model_a_run_does_not_start(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it:
        await save(it, "draw", step("draw", "image.generate", prompt="${{ inputs.what }}"))

        refused = await start(it, "draw", {"what": "A lamp"})

        assert refused["__typename"] == "UnavailableProblem", refused
        assert [(each["kind"], each["name"]) for each in refused["missing"]] == [("MODEL", "image")]
