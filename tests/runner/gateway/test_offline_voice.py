"""The voices of this machine: the real one from the wheel, and a stand-in for the program `espeak-ng`."""

from __future__ import annotations

import importlib.util
import os
import sys
from array import array
from typing import TYPE_CHECKING

import pytest

from packline import PackError
from runner.failures import FailureCode
from runner.gateway import hibari_speech, offline_voice
from runner.gateway.offline_voice import (
    missing_offline,
    not_spoken,
    offline_voices,
    speak_all_offline,
    speakable,
)
from runner.processes.processes import stop_processes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from runner.packs.models import SpeechAnswer

pytestmark = pytest.mark.slow

needs_hibari = pytest.mark.skipif(importlib.util.find_spec("hibari") is None, reason="the `audio` extra is missing")
TEXT = "The lamp was lit at dusk. It burned until the morning."

ESPEAK = f"""#!{sys.executable}
import struct, sys
text = sys.stdin.read()
assert sys.argv[1:] == ["--stdout", "-v", "en-us", "-s", "165"], sys.argv
if "crash" in text:
    sys.exit("no voice")
samples = struct.pack("<h", 1000) * (len(text) * 1000)
head = b"RIFF" + struct.pack("<I", 0x7ffff024) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 22050, 44100, 2, 16)
sys.stdout.buffer.write(head + b"data" + struct.pack("<I", 0x7ffff000) + samples)
"""


async def speak(text: str, voice: str | None = None) -> SpeechAnswer:
    (answer,) = await speak_all_offline([text], voice)
    return answer


@pytest.fixture(autouse=True)
async def workers() -> AsyncIterator[None]:
    yield
    await stop_processes()


@pytest.fixture
def espeak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "espeak-ng"
    program.write_text(ESPEAK)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


@pytest.fixture
def no_hibari(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline_voice, "_has_hibari", lambda: False)


def loudness(pcm: bytes) -> float:
    samples = array("h", pcm)
    return float((sum(sample * sample for sample in samples) / len(samples)) ** 0.5)


@needs_hibari
async def test_the_same_text_gives_the_same_speech_without_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIBARI_HOME", "/nowhere")
    first, again, empty = await speak_all_offline([TEXT, TEXT, ""])
    assert first.pcm == again.pcm
    assert (first.voice, first.replaced, first.sample_rate) == ("offline:heart", None, 24_000)
    assert 2.5 < first.seconds < 5
    assert loudness(first.pcm) > 500
    assert empty.pcm == b""


@needs_hibari
async def test_the_deeper_voice_is_deeper_and_as_quick() -> None:
    numpy = pytest.importorskip("numpy")
    high = await speak(TEXT, "heart")
    low = await speak(TEXT, "offline:heart-low")
    assert low.voice == "offline:heart-low"
    assert abs(low.seconds / high.seconds - 1) < 0.2

    def pitch(pcm: bytes) -> float:
        samples = numpy.frombuffer(pcm, "<i2") / 32768
        found = []
        for start in range(0, len(samples) - 1200, 600):
            part = samples[start : start + 1200]
            if numpy.sqrt((part**2).mean()) > 0.02:
                echo = numpy.correlate(part - part.mean(), part - part.mean(), "full")[1199:]
                at = 60 + echo[60:342].argmax()
                if echo[at] > 0.4 * echo[0]:
                    found.append(24_000 / at)
        return float(numpy.median(found))

    assert 0.72 < pitch(low.pcm) / pitch(high.pcm) < 0.9


@needs_hibari
async def test_only_the_voice_in_the_wheel_is_offered_and_others_are_replaced() -> None:
    answer = await speak("Good morning.", "offline:emma")
    assert answer.voice == "offline:heart"
    assert answer.replaced == "The voice `offline:emma` is not available here; `offline:heart` spoke."
    assert "emma" not in offline_voices()


@needs_hibari
async def test_a_wheel_without_its_voice_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline_voice, "MODEL_FILE", "not-there.onnx")
    assert "heart" not in offline_voices()


@needs_hibari
async def test_other_scripts_are_left_out_and_that_is_said() -> None:
    mixed, foreign = await speak_all_offline(["Hello, 世界 and Мир.", "你好世界"])
    assert mixed.seconds < 3
    assert (
        mixed.replaced == "The offline voice speaks English only, so text in Chinese, Cyrillic letters was not spoken."
    )
    assert foreign.pcm == b""


@pytest.mark.usefixtures("no_hibari", "espeak")
async def test_espeak_speaks_when_there_is_nothing_better() -> None:
    assert offline_voices() == ["espeak"]
    answer = await speak("Hello", None)
    assert (answer.voice, answer.sample_rate, answer.replaced) == ("offline:espeak", 22_050, None)
    assert len(answer.pcm) == 2 * 5 * 1000
    asked = await speak("Hello", "heart")
    assert asked.replaced == "The voice `offline:heart` is not available here; `offline:espeak` spoke."


@needs_hibari
@pytest.mark.usefixtures("espeak")
async def test_espeak_takes_over_when_the_voice_crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline_voice, "speak_texts", _crash)
    answer = await speak("Hello", "heart")
    assert answer.voice == "offline:espeak"


@needs_hibari
async def test_a_crash_without_another_voice_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline_voice, "speak_texts", _crash)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PackError, match="offline:heart") as raised:
        await speak("Hello")
    assert raised.value.failure.code is FailureCode.UPSTREAM_UNAVAILABLE


@pytest.mark.usefixtures("no_hibari", "espeak")
async def test_a_failing_program_is_told() -> None:
    with pytest.raises(PackError, match="exit code 1") as raised:
        await speak("crash")
    assert raised.value.failure.code is FailureCode.UPSTREAM_UNAVAILABLE


@pytest.mark.usefixtures("no_hibari")
async def test_no_voice_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    lacking = missing_offline()
    assert lacking is not None
    assert "packline[audio]" in lacking.hint
    with pytest.raises(PackError) as raised:
        await speak("Hello")
    assert raised.value.failure.code is FailureCode.UPSTREAM_UNAVAILABLE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Café naïve, Müller & Søn.", "Café naïve, Müller & Søn."),
        ("The word 灯台 , lighthouse.", "The word, lighthouse."),
        ("مرحبا", ""),
        ("1869", "1869"),
    ],
)
def test_what_an_english_voice_can_say(text: str, said: str) -> None:
    assert speakable(text) == said


def test_another_language_in_latin_letters_is_noticed() -> None:
    german = "Der Leuchtturm steht seit hundert Jahren auf der Klippe und weist den Schiffen den Weg in den Hafen " * 2
    assert "another language" in (not_spoken(german) or "")
    assert not_spoken(f"{TEXT} " * 6) is None
    assert not_spoken("") is None


def _crash(texts: list[str], pitch: float) -> list[bytes]:
    os._exit(3)


def test_the_stand_in_takes_what_the_real_one_takes() -> None:
    assert _arguments(_crash) == _arguments(hibari_speech.speak_texts)


def _arguments(function: Callable[..., object]) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]
