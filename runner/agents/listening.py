"""Receives the output of an agent's program: into the transcript, the answer, and the recorded usage."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.agents.parsed_output import Usage
from runner.agents.streams import JsonReader, RawReader, reader_for
from runner.excerpts import plain_text
from runner.failures import FailureCode, PackError
from runner.gateway.uses import ModelUse

if TYPE_CHECKING:
    from io import FileIO
    from pathlib import Path

    from runner.agents.agent_attempt import AgentAttempt
    from runner.running.attempt_context import AttemptContext

#: Length of the end of a program's standard error in a failure.
ERROR_CHARACTERS = 2_000
#: Longest name of a model that is recorded.
MODEL_CHARACTERS = 200


class OutputListener:
    """Receives a program's output, and writes standard output unchanged to a file for `stdout_to`."""

    def __init__(self, current: AgentAttempt) -> None:
        redactor = self._redactor = current.ctx.resources.redactor
        self._limit = current.ctx.resources.agents.output_bytes
        self._keep = current.ctx.resources.limits.step_output_bytes  # a character takes a byte at least
        self._stdout = reader_for(current.profile.stream, current.transcript, redactor, keep=self._keep)
        # Cut after it is masked, since half a secret is not recognised.
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
            self._file = self.spool.open("wb", buffering=0)  # unbuffered, to report a full disk at once

    def take(self, name: str, data: bytes) -> None:
        """Take bytes of one stream."""
        self._size += len(data)
        if self._size > self._limit:
            self._end(
                f"The agent's output exceeds the limit of {self._limit:,} bytes.",
                "Make it print less, or ask an operator to raise PACKLINE_AGENT_OUTPUT_BYTES.",
            )
            return
        if name == "stdout":
            self._spool(data)
            self._stdout.feed(data)
        else:
            self._stderr.feed(data)

    def close(self) -> None:
        """Process held-back output and close the file."""
        self._stdout.close()
        self._stderr.close()
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._not_spooled(error)

    def _spool(self, data: bytes) -> None:
        """Write standard output to the file; an incomplete write ends the attempt."""
        if self._file is None or self.excess is not None:
            return
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]  # a full disk may take a part
        except OSError as error:
            self._not_spooled(error)

    def _not_spooled(self, error: OSError) -> None:
        self._end(
            f"The agent's output could not be stored: {error.strerror}.",
            "Free disk space on the server, then resume the run.",
        )

    def _end(self, why: str, hint: str) -> None:
        """End the agent; the first reason wins."""
        if self.excess is None:
            self.excess = PackError(FailureCode.RESOURCE_EXHAUSTED, why, hint=hint)
            self.exceeded.set()

    def answer(self) -> str:
        """Return the program's answer, masked."""
        said = self._stdout.parsed.text() if isinstance(self._stdout, JsonReader) else self._stdout.text
        return plain_text(said)  # removes U+0000, which no output may have

    @property
    def is_whole(self) -> bool:
        """Whether `answer` is complete."""
        parsed = self._stdout.parsed if isinstance(self._stdout, JsonReader) else None
        return self.answer_length <= self._keep and not (parsed is not None and parsed.is_partial)

    @property
    def is_cut_off(self) -> bool:
        """Whether the program printed messages but ended without the result that ends its stream."""
        parsed = self._stdout.parsed if isinstance(self._stdout, JsonReader) else None
        return parsed is not None and parsed.has_result is False and not parsed.is_partial

    @property
    def answer_length(self) -> int:
        """Length of the readable part of the program's answer, in characters."""
        return (self._stdout.parsed if isinstance(self._stdout, JsonReader) else self._stdout).length

    def reported_failure(self) -> str | None:
        """Return the failure that the program reported in its stream, masked."""
        said = self._stdout.parsed.failure if isinstance(self._stdout, JsonReader) else None
        return None if said is None else self._redactor.excerpt(plain_text(said), ERROR_CHARACTERS)

    def last_error(self) -> str:
        """Return the end of its standard error, masked."""
        return self._stderr.end.strip()

    async def note_use(self, ctx: AttemptContext) -> None:
        """Record tokens and cost as reported by the program, or a use of unknown cost."""
        usage = self._stdout.parsed.usage if isinstance(self._stdout, JsonReader) else Usage()
        is_reported = (usage.input_tokens, usage.output_tokens, usage.cost_usd) != (None, None, None)
        if not is_reported and not self._current.is_started:
            return
        # The model's name is untrusted, like all output.
        reported = None if usage.model is None else self._redactor.excerpt(plain_text(usage.model), MODEL_CHARACTERS)
        model = reported or self._model or "unknown"
        use = ModelUse(
            f"{self._profile.key}:{model}",
            usage.input_tokens,
            usage.output_tokens,
            None if usage.cost_usd is None else round(usage.cost_usd * 1_000_000),
            role="agent",
        )
        ctx.model_uses.append(use)
        await ctx.budget.spend(use)
