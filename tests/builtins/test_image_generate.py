"""`image.generate`: the picture is decoded, measured and named; without a model nothing is spent."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from packline import PackError, picture_size
from tests.support.offline_models import OfflineModels
from tests.support.pack_harness import Harness, load_module, load_pack
from tests.support.speech_server import png

if TYPE_CHECKING:
    from pathlib import Path

generate = load_pack("image/generate.py")
pictures = load_module("image/_pictures.py")


@pytest.fixture
def models() -> OfflineModels:
    return OfflineModels(lacking=frozenset(), draw=lambda _, width, height: (png(width, height), "image/png"))


@pytest.fixture
def harness(tmp_path: Path, models: OfflineModels) -> Harness:
    return Harness(tmp_path, models=models)


async def test_a_picture_of_the_size_asked_for(harness: Harness) -> None:
    output = await harness.call(generate, {"prompt": "A lamp  at sea", "width": 320, "height": 256, "style": "flat"})
    assert (output["width"], output["height"], output["media_type"]) == (320, 256, "image/png")
    assert output["artifact"]["name"] == "a-lamp-at-sea.png"
    assert output["prompt"].startswith("A lamp at sea Flat vector style")
    assert output["model"] == "double:painter"
    assert harness.warnings == []
    assert harness.read_artifact(output["artifact"]["artifact_id"]) == png(320, 256)


async def test_another_shape_is_told(harness: Harness, models: OfflineModels) -> None:
    models.draw = lambda *_: (png(300, 300), "image/png")
    output = await harness.call(generate, {"prompt": "A lamp", "width": 600, "height": 300})
    assert (output["width"], output["height"]) == (300, 300)
    assert harness.warnings == ["`double:painter` does not draw 600 by 300; the picture is 300 by 300."]


@pytest.mark.parametrize("content", [png(300, 300)[:-40], b"<svg/>", b"\x89PNG\r\n\x1a\n"])
async def test_a_broken_picture_fails(harness: Harness, models: OfflineModels, content: bytes) -> None:
    models.draw = lambda *_: (content, "image/png")
    with pytest.raises(PackError) as raised:
        await harness.call(generate, {"prompt": "A lamp"})
    assert raised.value.failure.code == "invalid_output"
    assert harness.artifacts == {}


async def test_without_a_model_it_says_how_to_configure_one(harness: Harness, models: OfflineModels) -> None:
    models.lacking = frozenset({"image"})
    with pytest.raises(PackError, match="No picture can be made here") as raised:
        await harness.call(generate, {"prompt": "A lamp"})
    assert raised.value.failure.code == "invalid_input"
    assert "PACKLINE_MODEL_IMAGE" in (raised.value.failure.hint or "")
    with pytest.raises(PackError, match="is empty"):
        await harness.call(generate, {"prompt": " "})


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_every_format_is_measured_and_decoded(form: str) -> None:
    image = pytest.importorskip("PIL.Image")
    for options in ({}, {"lossless": True}, {"progressive": True}):
        made = io.BytesIO()
        image.new("RGB", (37, 53), "teal").save(made, form, **options)
        found = picture_size(made.getvalue())
        assert (found.width, found.height) == (37, 53)
        assert pictures.decode(made.getvalue()) is None
        assert pictures.decode(made.getvalue()[: len(made.getvalue()) // 2]) is not None


@pytest.mark.parametrize(
    "head", [b"", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\x00\x02\x00", b"RIFF\0\0\0\0WEBPVP8X", b"GIF89a"]
)
def test_what_is_cut_off_is_no_picture(head: bytes) -> None:
    assert picture_size(head) is None
