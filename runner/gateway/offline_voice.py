"""The voices of this machine: no key, no network, English only.

The voice of the `audio` extra comes first and runs in a worker process; then the program `espeak-ng`. Nothing is ever
downloaded.
"""

from __future__ import annotations

import io
import re
import unicodedata
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.excerpts import excerpt
from runner.failures import FailureCode, PackError
from runner.gateway.hibari_speech import MODEL_FILE, SAMPLE_RATE, speak_texts
from runner.gateway.providers import OFFLINE
from runner.packs.installed import find_module, has_module, has_program
from runner.packs.models import SpeechAnswer
from runner.packs.needs import Missing
from runner.processes.processes import run_command, run_in_process

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Pitch of each voice, made from the one in the wheel. 0.8 turns about 200 Hz into 158 Hz at the same tempo.
PITCHES = {"heart": 1.0, "heart-low": 0.8}
ESPEAK = "espeak"
_PROGRAM = "espeak-ng"
_ESPEAK_WORDS_PER_MINUTE = "165"
#: Loading takes about 1 s of CPU, a minute of speech 0.6 s; a busy machine may need much more.
_LOAD_SECONDS = 60.0
_SECONDS_PER_CHARACTER = 0.02
#: In English text of any kind at least one word in eight is one of these.
_ENGLISH = frozenset(
    """
    the a an and or but of to in on at by for from with as is are was were be been it its this that these those you we
    they he she i not no do does can will would has have had if so there what which when how all more your our their
    than then one about into out up
    """.split()  # noqa: SIM905 - a list of 70 quoted words is no easier to read
)


@dataclass(frozen=True, slots=True)
class _Spoken:
    pcm: bytes
    sample_rate: int


def offline_voices() -> list[str]:
    """List the names of this machine's voices, the best first, without `offline:`."""
    voices = list(PITCHES) if _has_hibari() else []
    return [*voices, ESPEAK] if has_program(_PROGRAM) else voices


def missing_offline() -> Missing | None:
    """Return why no voice of this machine can speak; None when one can. Cheap."""
    if offline_voices():
        return None
    return Missing(
        "There is no voice on this machine.",
        "Install one with `pip install 'packline[audio]'`, or the program `espeak-ng`.",
    )


async def speak_all_offline(texts: Sequence[str], voice: str | None = None) -> list[SpeechAnswer]:
    """Speak texts with one voice of this machine, all in one worker process.

    Args:
        texts: Plain English; letters of other scripts are left out.
        voice: `heart`, `heart-low` or `espeak`, with or without `offline:`; the best voice when None or unknown.

    Returns:
        An answer for each text, in order; without samples when nothing can be spoken. `replaced` says what differs from
        the request: another voice, or text that was left out.

    Raises:
        PackError: `upstream_unavailable` when this machine has no voice, or it fails.
    """
    available = offline_voices()
    lacking = missing_offline()
    if lacking is not None:
        raise PackError(FailureCode.UPSTREAM_UNAVAILABLE, lacking.message, hint=lacking.hint)
    requested = (voice or available[0]).removeprefix(f"{OFFLINE}:")
    name = requested if requested in available else available[0]
    cleaned = [speakable(text) for text in texts]
    try:
        made = await (_by_espeak(cleaned) if name == ESPEAK else _by_hibari(cleaned, PITCHES[name]))
    except PackError as error:
        if (
            name == ESPEAK
            or ESPEAK not in available
            or error.failure.code not in (FailureCode.HANDLER_FAILED, FailureCode.TIMEOUT)
        ):
            raise _unavailable(name, error) from error
        name = ESPEAK
        made = await _by_espeak(cleaned)
    changed = (
        None
        if name == requested
        else f"The voice `{OFFLINE}:{requested}` is not available here; `{OFFLINE}:{name}` spoke."
    )
    answers = []
    for text, each in zip(texts, made, strict=True):
        notes = " ".join(note for note in (changed, not_spoken(text)) if note)
        answers.append(SpeechAnswer(each.pcm, each.sample_rate, f"{OFFLINE}:{name}", notes or None))
    return answers


def speakable(text: str) -> str:
    """Return what an English voice can speak of a text: it would spell out letters of other scripts one by one."""
    kept = "".join(
        " " if character.isalpha() and not _is_latin(character) else character
        for character in unicodedata.normalize("NFC", text)
    )
    kept = re.sub(r"[ \t]+([.,;:!?])", r"\1", kept)
    kept = re.sub(r"[ \t]+", " ", kept).strip()
    return kept if any(character.isalnum() for character in kept) else ""


def not_spoken(text: str) -> str | None:
    """Say in a sentence what an English voice leaves out or mispronounces in a text; None for English."""
    letters = [character for character in text if character.isalpha()]
    foreign = [character for character in letters if not _is_latin(character)]
    if len(foreign) > 0.02 * len(letters):
        scripts = sorted({_script(character) for character in foreign})
        names = ", ".join(scripts[:3])
        return f"The offline voice speaks English only, so text in {names} letters was not spoken."
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(words) >= 25 and sum(word in _ENGLISH for word in words) < len(words) / 8:
        return "The offline voice speaks English only; this text seems to be in another language and may sound wrong."
    return None


def _is_latin(character: str) -> bool:
    return character.isascii() or unicodedata.name(character, "").startswith(("LATIN", "MODIFIER", "FEMININE", "MASC"))


def _script(character: str) -> str:
    name = unicodedata.name(character, "other").split()[0]
    return {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}.get(
        name, name.capitalize()
    )


async def _by_hibari(texts: list[str], pitch: float) -> list[_Spoken]:
    seconds = _LOAD_SECONDS + _SECONDS_PER_CHARACTER * sum(map(len, texts))
    made = await run_in_process(speak_texts, texts, pitch, timeout_seconds=seconds)
    return [_Spoken(pcm, SAMPLE_RATE) for pcm in made]


async def _by_espeak(texts: list[str]) -> list[_Spoken]:
    made = []
    for text in texts:
        seconds = _LOAD_SECONDS + _SECONDS_PER_CHARACTER * len(text)
        result = await run_command(
            [_PROGRAM, "--stdout", "-v", "en-us", "-s", _ESPEAK_WORDS_PER_MINUTE],
            stdin=text.encode(),
            timeout_seconds=seconds,
            max_output_bytes=100 * 1024 * 1024,
        )
        if result.exit_code != 0:
            raise PackError(
                FailureCode.HANDLER_FAILED,
                f"`{_PROGRAM}` ended with exit code {result.exit_code}.",
                detail=excerpt(result.stderr.decode(errors="replace"), 1000, from_end=True),
            )
        made.append(_read_wave(result.stdout) if text else _Spoken(b"", 22_050))
    return made


def _read_wave(content: bytes) -> _Spoken:
    """Read the samples of a WAV file; the program writes to a pipe, so the lengths in the header are not real."""
    start = content.find(b"data")
    if start < 0:
        raise PackError(FailureCode.HANDLER_FAILED, f"`{_PROGRAM}` wrote no WAV file.")
    with wave.open(io.BytesIO(content[: start + 4] + bytes(4))) as header:
        rate = header.getframerate()
    pcm = content[start + 8 :]
    return _Spoken(pcm[: len(pcm) // 2 * 2], rate)


def _has_hibari() -> bool:
    found = find_module("hibari")
    if found is None or found.origin is None or not has_module("onnxruntime"):
        return False
    return (Path(found.origin).parent / "assets" / MODEL_FILE).is_file()


def _unavailable(name: str, error: PackError) -> PackError:
    if error.failure.code == FailureCode.CANCELLED:
        return error
    return PackError(
        FailureCode.UPSTREAM_UNAVAILABLE,
        f"The voice `{OFFLINE}:{name}` failed: {error.failure.message}",
        hint="Reinstall the `audio` extra, or install the program `espeak-ng`.",
        detail=error.failure.detail,
    )
