"""The parsed part of an agent program's output: answer, usage and failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.agents.transcript import Transcript
    from runner.secrets.redaction import Redactor

#: Default length of the stored answer, in characters.
ANSWER_CHARACTERS = 1 << 20


@dataclass(slots=True)
class Usage:
    """Usage reported by a program; None for a value it does not report.

    Attributes:
        cost_usd: US dollars.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    model: str | None = None


class ParsedOutput:
    """The parsed part of a program's output so far.

    Attributes:
        usage: Its reported usage.
        failure: The failure it reported, not masked; None if it reported none.
        length: Characters of its answer; the stored answer may be shorter.
        is_partial: Whether a part of its answer was in a line too long to parse.
        has_result: Whether the result that ends its stream has come; None until one is expected.
    """

    def __init__(self, transcript: Transcript, redactor: Redactor, *, keep: int = ANSWER_CHARACTERS) -> None:
        self.usage = Usage()
        self.failure: str | None = None
        self.length = 0
        self.is_partial = False
        self.has_result: bool | None = None
        self._answer: str | None = None
        self._last = ("", "")  # the last message, as it came and masked
        self._transcript = transcript
        self._redactor = redactor
        self._texts = transcript.texts("message")
        self._stream = redactor.stream()
        self._is_going_on = False
        self._said: list[str] = []
        self._keep_characters = self._left = keep

    def say(self, text: str) -> None:
        """Take a message."""
        self.finish()
        self._keep("\n\n" if self._said else "")
        self._last = (text, self._texts.text(text))
        self._put(self._last[1])

    def expect_result(self, text: str) -> None:
        """Expect a result after a message."""
        if self.has_result is None and text.strip():
            self.has_result = False

    def conclude(self, text: str) -> None:
        """Take the program's result; if it equals the last message, masked in the same way."""
        said, masked = self._last
        self._answer = masked if text.strip() == said.strip() else self._redactor.text(text)
        self.length = len(self._answer)
        self.is_partial = False

    def say_part(self, text: str) -> None:
        """Take a part of a message, masking secrets across parts."""
        if not self._is_going_on:
            self._keep("\n\n" if self._said else "")
        is_begun, self._is_going_on = self._is_going_on, True
        if self._texts.is_open and not (is_begun and self._stream.rest):
            self._put(self._texts.text(text))  # it may continue a secret of the previous message
        else:
            self._put(self._stream.feed(text))

    def finish(self) -> None:
        """End a message in parts, if any."""
        if self._is_going_on:
            self._is_going_on = False
            # The next message may continue the held-back text.
            rest, masked = self._stream.rest, self._stream.close()
            shown = self._texts.text(rest) if rest else rest
            self._put(masked if shown == rest else shown)

    def text(self) -> str:
        """Return the answer, masked: the program's result, else the beginning of its messages."""
        if self._answer is not None:
            return self._answer[: self._keep_characters]
        return "".join(self._said)

    def _put(self, masked: str) -> None:
        if masked:
            self._transcript.add("message", masked, is_masked=True)
            self._keep(masked)

    def _keep(self, masked: str) -> None:
        if self._answer is None:
            self.length += len(masked)
        if masked and self._left > 0:
            self._said.append(masked[: self._left])
            self._left -= len(masked)
