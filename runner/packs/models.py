"""The model gateway as packs see it: text, structured answers, pictures and speech by role.

A role is a part models play (`writer`, `router`, `vision`, `image`, `voice`); which models serve it, and in which
order they are tried, is the operator's setting. No pack names a vendor. What is spent is recorded on the attempt by
the gateway itself.
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
    """A picture given to a model.

    Attributes:
        content: The file's bytes.
        media_type: Such as `image/png`.
    """

    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """What a model wrote.

    Attributes:
        text: The whole answer; one that was cut off for length is an error, never this.
        model: The model that answered, `provider:name`.
    """

    text: str
    model: str


@dataclass(frozen=True, slots=True)
class StructuredAnswer(Generic[_Value]):
    """What a model answered, in the shape that was asked for.

    Attributes:
        value: Checked against the asked-for model.
        model: The model that answered, `provider:name`.
    """

    value: _Value
    model: str


@dataclass(frozen=True, slots=True)
class ImageAnswer:
    """A picture a model made.

    Attributes:
        content: The file's bytes.
        media_type: Such as `image/png`.
        model: The model that made it, `provider:name`.
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
        voice: The voice that spoke, `provider:name`.
        replaced: What was not done as asked, for `ctx.warn`: another voice spoke, or some of the text could not be
            spoken (then `pcm` may be empty); None when nothing.
    """

    pcm: bytes
    sample_rate: int
    voice: str
    replaced: str | None = None

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.pcm) / 2 / self.sample_rate


class Models(Protocol):
    """The gateway of one attempt.

    Every call tries the role's models in order and goes on to the next when one cannot answer now; it repeats nothing
    else, because repeating a step is the runner's business.

    Every call raises `PackError`: `credential_invalid` when a key is missing or refused, `rate_limited`,
    `upstream_unavailable` or `timeout` when no model of the chain answered (the last one's reason, with
    `retry_after_seconds` where known), `invalid_output` when an answer was cut off for length or does not fit after one
    repair turn, `invalid_input` for a model that does not exist.
    """

    def missing(self, role: str) -> Missing | None:
        """Why no model can serve a role here; None when one can. Asks no model and costs nothing."""

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
            role: The part to play.
            prompt: The user's turn. Untrusted text belongs here, never into `instructions`.
            instructions: The system's turn.
            pictures: Shown after the prompt; only for roles whose models see.
            max_tokens: Longest answer; the provider's own limit when None.
            temperature: 0 to 2; the provider's default when None.
            model: A configured `provider:name` to be tried before the role's chain.
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
        """Fill in `output` with a model; what does not fit is sent back once for repair. Arguments as of `text`."""

    async def image(
        self, prompt: str, *, width: int, height: int, role: str = "image", model: str | None = None
    ) -> ImageAnswer:
        """Make one picture with a model, as near to `width` by `height` pixels as it can."""

    async def speak(self, text: str, *, voice: str | None = None, role: str = "voice") -> SpeechAnswer:
        """Speak a text of at most 5,000 characters.

        Args:
            text: Plain text, no markup.
            voice: A voice, `provider:name` or a bare name; the role's first when None. One that cannot speak now is
                replaced by the next of the chain, at last by an offline voice, and `replaced` says so.
            role: The part to play.

        Raises:
            PackError: `upstream_unavailable` when there is no voice at all; a key that is refused is
                `credential_invalid` and is not replaced.
        """

    async def speak_all(
        self, texts: Sequence[str], *, voice: str | None = None, role: str = "voice"
    ) -> list[SpeechAnswer]:
        """Speak several texts with one and the same voice, an answer for each in order.

        What `speak` does for one text; where the voice has to be replaced midway, all of them are spoken again by the
        one that replaces it, so that a narration does not change its voice. The offline voice is loaded only once.

        Args:
            texts: Each as of `speak`; together at most 20,000 characters (about 20 minutes).
            voice: As of `speak`.
            role: The part to play.
        """

    def other_voice(self, voice: str, *, role: str = "voice") -> str | None:
        """A voice for a second speaker that sounds unlike `voice` and comes from the same provider.

        Args:
            voice: As `SpeechAnswer.voice` names it.
            role: The part to play; its own voices come before a provider's stock voices.

        Returns:
            `provider:name`, or None when the provider has no other that is known.
        """
