"""Takes what an agent prints while it works, and tells what came of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.agents.streams import JsonReader, RawReader, Usage, reader_for
from runner.excerpts import plain_text
from runner.failures import FailureCode, PackError
from runner.gateway.uses import ModelUse

if TYPE_CHECKING:
    from io import FileIO
    from pathlib import Path

    from runner.agents.agent_attempt import AgentAttempt
    from runner.running.attempt_context import AttemptContext

#: End of a program's standard error that a failure tells.
ERROR_CHARACTERS = 2_000
#: Longest name of a model that is recorded.
MODEL_CHARACTERS = 200


class OutputListener:
    """Takes what the program prints: into the transcript, and word for word into a file when it is to be kept."""

    def __init__(self, current: AgentAttempt) -> None:
        redactor = self._redactor = current.ctx.resources.redactor
        self._limit = current.ctx.resources.agents.output_bytes
        self._keep = current.ctx.resources.limits.step_output_bytes  # a character takes a byte at least
        self._stdout = reader_for(current.profile.stream, current.transcript, redactor, keep=self._keep)
        # Cut only once it is masked: half a secret would not be known as one.
        self._stderr = RawReader(current.transcript, redactor, "error_output", keep_end=ERROR_CHARACTERS)
        self._current = current
        self._profile = current.profile
        self._model = current.model
        self._size = 0
        self.excess: PackError | None = None
        self.exceeded = asyncio.Event()
        self.spool: Path | None = None
        self._file: FileIO | None = None
        if current.step.stdout_to is not None:
            self.spool = current.folder / "stdout"
            self._file = self.spool.open("wb", buffering=0)  # a full disk is reported when it is met

    def take(self, name: str, data: bytes) -> None:
        """Take bytes of one stream."""
        self._size += len(data)
        if self._size > self._limit:
            self._end(
                f"The agent printed more than {self._limit:,} bytes.",
                "Have it print less, or have an operator raise PACKLINE_AGENT_OUTPUT_BYTES.",
            )
            return
        if name == "stdout":
            self._spool(data)
            self._stdout.feed(data)
        else:
            self._stderr.feed(data)

    def close(self) -> None:
        """Take what was held back."""
        self._stdout.close()
        self._stderr.close()
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._not_spooled(error)

    def _spool(self, data: bytes) -> None:
        """Keep it word for word, when that is asked for; what cannot be kept whole ends the attempt."""
        if self._file is None or self.excess is not None:
            return
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]  # of what a disk has no room for, a part may be written
        except OSError as error:
            self._not_spooled(error)

    def _not_spooled(self, error: OSError) -> None:
        self._end(
            f"What the agent printed could not be kept: {error.strerror}.",
            "Free disk space on the server, then resume the run.",
        )

    def _end(self, why: str, hint: str) -> None:
        """End the agent; the first reason wins."""
        if self.excess is None:
            self.excess = PackError(FailureCode.RESOURCE_EXHAUSTED, why, hint=hint)
            self.exceeded.set()

    def answer(self) -> str:
        """The program's answer, masked."""
        said = self._stdout.heard.text() if isinstance(self._stdout, JsonReader) else self._stdout.text
        return plain_text(said)  # programs print U+0000 at times, which no output may hold

    @property
    def is_whole(self) -> bool:
        """Whether `answer` is all of it."""
        heard = self._stdout.heard if isinstance(self._stdout, JsonReader) else None
        return self.answer_length <= self._keep and not (heard is not None and heard.is_partial)

    @property
    def is_cut_off(self) -> bool:
        """Whether the program spoke and then ended without the result that its stream ends with."""
        heard = self._stdout.heard if isinstance(self._stdout, JsonReader) else None
        return heard is not None and heard.has_result is False and not heard.is_partial

    @property
    def answer_length(self) -> int:
        """Characters of the program's answer, as far as they could be read."""
        return (self._stdout.heard if isinstance(self._stdout, JsonReader) else self._stdout).length

    def reported_failure(self) -> str | None:
        """Why the program says in its stream that it failed, masked; None when it does not say so."""
        said = self._stdout.heard.failure if isinstance(self._stdout, JsonReader) else None
        return None if said is None else self._redactor.excerpt(plain_text(said), ERROR_CHARACTERS)

    def last_error(self) -> str:
        """The end of its standard error, masked."""
        return self._stderr.end.strip()

    def note_use(self, ctx: AttemptContext) -> None:
        """Record tokens and cost as the program reported them; unknown when it reported nothing."""
        usage = self._stdout.heard.usage if isinstance(self._stdout, JsonReader) else Usage()
        is_told = (usage.input_tokens, usage.output_tokens, usage.cost_usd) != (None, None, None)
        if not is_told and not self._current.is_started:
            return
        # The name a program gives its model is untrusted, like everything else it prints.
        reported = None if usage.model is None else self._redactor.excerpt(plain_text(usage.model), MODEL_CHARACTERS)
        model = reported or self._model or "unknown"
        ctx.model_uses.append(
            ModelUse(
                f"{self._profile.key}:{model}",
                usage.input_tokens,
                usage.output_tokens,
                None if usage.cost_usd is None else round(usage.cost_usd * 1_000_000),
                role="agent",
            )
        )
