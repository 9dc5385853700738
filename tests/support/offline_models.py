"""A gateway for packs that speaks with the real voice of this machine, and with scripted ones beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from packline import ImageAnswer, Missing, PackError, SpeechAnswer, StructuredAnswer, TextAnswer
from runner.gateway.offline_voice import missing_offline, speak_all_offline
from runner.gateway.speech import other_voice
from tests.support.speech_server import tone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass
class OfflineModels:
    """`packline.Models` without any provider.

    Attributes:
        lacking: Roles nothing serves, besides `image`.
        write: Answers `structured` with the fields of the model asked for, given the prompt; a `PackError` is raised.
        draw: Answers `image`.
        tones: Voices that answer with a tone as long as the text takes, `provider:name` to hertz; faster than real
            speech.
        fail_after: After this many calls of `speak_all` the last tone voice replaces the others.
        broken: A tone voice that is always replaced so.
        spoken: What was asked for: texts and voice.
        written: Prompts of `structured`.
    """

    lacking: frozenset[str] = frozenset({"writer"})
    write: Callable[[str], dict[str, Any]] | None = None
    draw: Callable[[str, int, int], tuple[bytes, str]] | None = None
    tones: dict[str, float] = field(default_factory=dict)
    fail_after: int | None = None
    broken: str | None = None
    spoken: list[tuple[list[str], str | None]] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def missing(self, role: str) -> Missing | None:
        if role in self.lacking:
            return Missing(f"No model is configured for the role `{role}`.", f"Set PACKLINE_MODEL_{role.upper()}.")
        return missing_offline() if role == "voice" and not self.tones else None

    async def text(self, role: str, prompt: str, **_: Any) -> TextAnswer:
        raise AssertionError("no pack here asks for plain text")

    async def structured(self, role: str, output: type[Any], prompt: str, **_: Any) -> StructuredAnswer[Any]:
        self.written.append(prompt)
        assert self.write is not None
        return StructuredAnswer(output.model_validate(self.write(prompt)), "double:writer")

    async def image(self, prompt: str, *, width: int, height: int, **_: Any) -> ImageAnswer:
        assert self.draw is not None
        content, media_type = self.draw(prompt, width, height)
        return ImageAnswer(content, media_type, "double:painter")

    async def speak(self, text: str, *, voice: str | None = None, role: str = "voice") -> SpeechAnswer:
        return (await self.speak_all([text], voice=voice))[0]

    async def speak_all(
        self, texts: Sequence[str], *, voice: str | None = None, role: str = "voice"
    ) -> list[SpeechAnswer]:
        self.spoken.append((list(texts), voice))
        name = voice or next(iter(self.tones), "offline:heart")
        if name not in self.tones:
            return await speak_all_offline(texts, voice)
        replaced = None
        last = list(self.tones)[-1]
        late = self.fail_after is not None and len(self.spoken) > self.fail_after
        if (late or name == self.broken) and name != last:
            first, name = name, last
            replaced = f"`{first}` does not answer. {name} spoke instead."
        return [SpeechAnswer(tone(text, self.tones[name]), 24_000, name, replaced) for text in texts]

    def other_voice(self, voice: str, *, role: str = "voice") -> str | None:
        others = [name for name in self.tones if name != voice]
        return others[0] if voice in self.tones and others else other_voice(voice, [])


def refuse(_: str) -> dict[str, Any]:
    """A writer that does not answer."""
    raise PackError("upstream_unavailable", "The writer is away.")
