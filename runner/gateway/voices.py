"""The chain of voices: those of providers in their order, finally one of this machine."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.failures import FailureCode, PackError
from runner.gateway import speech
from runner.gateway.budgets import BudgetSpentError
from runner.gateway.offline_voice import speak_all_offline
from runner.gateway.problems import FINAL_CODES
from runner.gateway.providers import OFFLINE, ModelRef
from runner.gateway.spans import model_span
from runner.packs.models import SpeechAnswer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    import httpx2

    from runner.gateway.roles import Candidate, Roles
    from runner.gateway.uses import ModelUse

#: Longest text of a call, and longest texts of a call together.
TEXT_CHARACTERS = 5_000
ALL_CHARACTERS = 20_000


class Voices:
    """Speaks with the voices of a role.

    Args:
        roles: The configured roles.
        client: Returns the client for providers.
        before: Called before every request; its error is that of the call.
        answered: Called after every answered call, with the role.
    """

    def __init__(
        self,
        roles: Roles,
        client: Callable[[], httpx2.AsyncClient],
        before: Callable[[], Awaitable[None]],
        answered: Callable[[ModelUse], Awaitable[None]],
    ) -> None:
        self._roles = roles
        self._client = client
        self._before = before
        self._answered = answered

    async def speak(self, texts: Sequence[str], voice: str | None, role: str) -> list[SpeechAnswer]:
        """Speak texts with the same voice; see `runner.packs.models.Models.speak_all`."""
        _require_short(texts)
        skipped: list[str] = []
        order = self._order(voice, role)
        for candidate in order:
            if candidate.ref.provider == OFFLINE:
                break  # these end every chain
            if candidate.missing is not None:
                skipped.append(candidate.missing.message)
                continue
            try:
                answers = [await self._ask(candidate, text, role) for text in texts]
            except BudgetSpentError:
                raise
            except PackError as error:
                if error.failure.code is FailureCode.CREDENTIAL_INVALID or error.failure.code in FINAL_CODES:
                    raise
                skipped.append(error.failure.message)
                continue
            return [_said(answer, skipped) for answer in answers]
        local = next((one.ref.name for one in order if one.ref.provider == OFFLINE), None)
        return [_said(answer, skipped) for answer in await speak_all_offline(texts, local)]

    async def _ask(self, candidate: Candidate, text: str, role: str) -> SpeechAnswer:
        provider = candidate.provider
        assert provider is not None, "only voices of this machine have none"
        await self._before()
        started = time.monotonic()
        key = self._roles.key(provider)
        with model_span(provider, candidate.ref, role, "speech"):
            pcm, sample_rate, use = await speech.speak(provider, key, self._client(), candidate.ref.name, text)
            await self._answered(replace(use, role=role, elapsed_seconds=time.monotonic() - started))
        return SpeechAnswer(pcm, sample_rate, str(candidate.ref))

    def _order(self, voice: str | None, role: str) -> list[Candidate]:
        """Return the requested voice, then the role's; a name without a provider is one of the role's, or offline."""
        chain = self._roles.chain(role)
        if voice is None:
            return chain
        named = next((candidate for candidate in chain if voice in (candidate.ref.name, str(candidate.ref))), None)
        if named is None:
            named = (
                self._roles.named_candidate(voice) if ":" in voice else self._roles.candidate(ModelRef(OFFLINE, voice))
            )
        return [named, *(candidate for candidate in chain if candidate.ref != named.ref)]


def _require_short(texts: Sequence[str]) -> None:
    longest, together = max(map(len, texts), default=0), sum(map(len, texts))
    if longest > TEXT_CHARACTERS or together > ALL_CHARACTERS:
        raise PackError(
            FailureCode.INVALID_INPUT,
            f"The text to speak has {longest:,} characters ({together:,} in all); the limit is {TEXT_CHARACTERS:,} "
            f"({ALL_CHARACTERS:,} in all).",
            hint="Split the text.",
        )


def _said(answer: SpeechAnswer, skipped: Sequence[str]) -> SpeechAnswer:
    """Add to an answer why another voice than the requested one spoke."""
    if not skipped:
        return answer
    own = f" {answer.replaced}" if answer.replaced else ""
    return replace(answer, replaced=f"{' '.join(skipped)} {answer.voice} spoke instead.{own}")
