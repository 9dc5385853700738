"""The model gateway as packs see it: text, structured answers, pictures and speech by role.

A role is a task of models (`writer`, `router`, `vision`, `image`, `voice`); the operator sets which models serve it, in
which order. No pack names a vendor. The gateway records the spending on the attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from runner.packs.needs import Missing

_Model = TypeVar("_Model", bound="BaseModel")
_Value = TypeVar("_Value", covariant=True)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture for a model.

    Attributes:
        content: The file's bytes.
        media_type: Such as `image/png`.
    """

    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """A text by a model.

    Attributes:
        text: The complete answer; an answer cut off at the length limit raises an error.
        model: The model that answered, `provider:name`.
    """

    text: str
    model: str


@dataclass(frozen=True, slots=True)
class StructuredAnswer(Generic[_Value]):
    """A structured answer by a model.

    Attributes:
        value: An instance of the requested model.
        model: The model that answered, `provider:name`.
    """

    value: _Value
    model: str


@dataclass(frozen=True, slots=True)
class ImageAnswer:
    """A picture by a model.

    Attributes:
        content: The file's bytes.
        media_type: Such as `image/png`.
        model: The model, `provider:name`.
    """

    content: bytes
    media_type: str
    model: str


@dataclass(frozen=True, slots=True)
class SpeechAnswer:
    """Spoken text.

    Attributes:
        pcm: Signed 16-bit little-endian samples, one channel.
        sample_rate: Samples a second.
        voice: The voice, `provider:name`.
        replaced: How the answer differs from the request, for `ctx.warn`: another voice spoke, or some of the text
            could not be spoken (then `pcm` may be empty); None if it does not.
    """

    pcm: bytes
    sample_rate: int
    voice: str
    replaced: str | None = None

    @property
    def seconds(self) -> float:
        return len(self.pcm) / 2 / self.sample_rate


class Models(Protocol):
    """The gateway of one attempt.

    Every call tries the role's models in order until one answers; it retries nothing else, since the runner retries
    steps.

    Every call raises `PackError`: `credential_invalid` if a key is missing or refused, `rate_limited`,
    `upstream_unavailable` or `timeout` if no model answered (the last one's reason, with `retry_after_seconds` if
    known), `invalid_output` if an answer was cut off or does not fit after one repair turn, `invalid_input` for an
    unknown model.
    """

    def missing(self, role: str) -> Missing | None:
        """Return why no model can serve a role on this server; None if one can. Calls no model.

        If the role has models but none can be used, the step gets a warning: ask only if you would use the role.
        """

    async def text(
        self,
        role: str,
        prompt: str,
        *,
        instructions: str = "",
        pictures: Sequence[Picture] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
        model: str | None = None,
    ) -> TextAnswer:
        """Write a text with a model.

        Args:
            role: The role.
            prompt: The user message. Untrusted text belongs here, never into `instructions`.
            instructions: The system message.
            pictures: Added after the prompt; only for roles whose models accept pictures.
            max_tokens: Longest answer; None for the provider's limit.
            temperature: 0 to 2; None for the provider's default.
            model: A configured `provider:name` to try before the role's models.
        """

    async def structured(
        self,
        role: str,
        output: type[_Model],
        prompt: str,
        *,
        instructions: str = "",
        pictures: Sequence[Picture] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
        model: str | None = None,
    ) -> StructuredAnswer[_Model]:
        """Fill in `output` with a model; an answer that does not fit is sent back once. Arguments as in `text`."""

    async def image(
        self, prompt: str, *, width: int, height: int, role: str = "image", model: str | None = None
    ) -> ImageAnswer:
        """Make one picture with a model, as close to `width` by `height` pixels as it can."""

    async def speak(self, text: str, *, voice: str | None = None, role: str = "voice") -> SpeechAnswer:
        """Speak a text of at most 5,000 characters.

        Args:
            text: Plain text, no markup.
            voice: A voice, `provider:name` or a bare name; None for the role's first. If it is not available, the
                role's next voice speaks, at last an offline voice, and `replaced` says so.
            role: The role.

        Raises:
            PackError: `upstream_unavailable` if there is no voice at all; `credential_invalid` for a refused key, which
                no other voice replaces.
        """

    async def speak_all(
        self, texts: Sequence[str], *, voice: str | None = None, role: str = "voice"
    ) -> list[SpeechAnswer]:
        """Speak several texts like `speak` with the same voice; returns an answer for each, in order.

        If the voice has to be replaced midway, the replacement speaks all texts again, so that a narration keeps its
        voice. The offline voice is loaded only once.

        Args:
            texts: Each as in `speak`; together at most 20,000 characters (about 20 minutes).
            voice: As in `speak`.
            role: The role.
        """

    def other_voice(self, voice: str, *, role: str = "voice") -> str | None:
        """Find a voice of the same provider for a second speaker that sounds different from `voice`.

        Args:
            voice: A voice as in `SpeechAnswer.voice`.
            role: The role, whose voices come before the provider's stock voices.

        Returns:
            `provider:name`, or None if no other voice of the provider is known.
        """
