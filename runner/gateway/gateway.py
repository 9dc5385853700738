"""The model gateway: calls the models of a role in order until one answers, and reports its usage.

One `Gateway` serves the process, one `AttemptModels` each attempt. When a model cannot answer now, the call goes on to
the next model of the chain; nothing else is retried.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import structlog

from runner import tracing
from runner.failures import FailureCode, PackError
from runner.gateway import images, speech
from runner.gateway.budgets import BudgetSpentError
from runner.gateway.listing import not_installed
from runner.gateway.offline_voice import missing_offline
from runner.gateway.problems import FINAL_CODES, WARNED_CODES, most_useful, no_model
from runner.gateway.roles import Candidate, Roles
from runner.gateway.spans import model_span
from runner.gateway.voices import Voices
from runner.metrics import Metrics
from runner.packs.installed import has_module
from runner.packs.models import ImageAnswer, StructuredAnswer, TextAnswer
from runner.packs.needs import Missing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    import httpx2
    from pydantic import BaseModel

    from runner.egress.client import Egress
    from runner.failures import JSONValue
    from runner.gateway.budgets import Budget
    from runner.gateway.keys import KeySource
    from runner.gateway.providers import ModelRef, Provider, ProviderKind
    from runner.gateway.spans import OutputType
    from runner.gateway.text_models import ModelConnection
    from runner.gateway.uses import ModelUse
    from runner.packs.models import Models, Picture, SpeechAnswer

_Output = TypeVar("_Output", bound="BaseModel")
_Answer = TypeVar("_Answer")
log = structlog.get_logger(__name__)

#: Default timeout of a request to a model.
CALL_SECONDS = 240.0
#: Largest answer: a picture as base64, or some minutes of speech.
MAX_BYTES = 64 * 1024 * 1024


def _ignore(_: object) -> None:
    """Default of the callbacks of `Gateway.attempt`."""


class Gateway:
    """The models of this server.

    Args:
        providers: The providers, by name.
        roles: The models of each role that has a setting, in the order they are tried.
        keys: The providers' keys.
        egress: Makes the HTTP client. Addresses of providers may be private, since the operator configured them.
        call_seconds: Timeout of a request.
        metrics: Counts the calls.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider],
        roles: Mapping[str, Sequence[ModelRef]],
        keys: KeySource,
        egress: Egress,
        *,
        call_seconds: float = CALL_SECONDS,
        metrics: Metrics | None = None,
    ) -> None:
        self.roles = Roles(providers, roles, keys)
        self.call_seconds = call_seconds
        self.metrics = metrics or Metrics()
        self._egress = egress
        self._client: httpx2.AsyncClient | None = None
        self._warming = asyncio.Lock()
        self._warm: set[ProviderKind] = set()

    def attempt(
        self,
        record: Callable[[ModelUse], None] = _ignore,
        warn: Callable[[str], None] = _ignore,
        budget: Budget | None = None,
    ) -> Models:
        """Return the gateway for one attempt.

        Args:
            record: Called after every answered call, even if the answer cannot be used.
            warn: Called with one sentence when a call succeeded but something needs fixing.
            budget: What the calls count towards; None counts none.
        """
        return AttemptModels(self, record, warn, budget)

    def missing(self, role: str) -> Missing | None:
        """Return why no model can serve a role; None when one can. Calls no model."""
        chain = self.roles.chain(role)
        if role == "voice":
            if any(candidate.missing is None and candidate.provider is not None for candidate in chain):
                return None
            return missing_offline()
        if not chain:
            failure = no_model(role).failure
            return Missing(failure.message, failure.hint or "")
        lacking = [candidate.missing for candidate in chain if candidate.missing is not None]
        if len(lacking) == len(chain):
            return lacking[0]
        if role != "image" and not has_module("pydantic_ai"):
            return not_installed()
        return None

    def client(self) -> httpx2.AsyncClient:
        """Return the client for providers; it follows no redirect, which could send a key elsewhere."""
        if self._client is None:
            self._client = self._egress.client(
                [provider.base_url for provider in self.roles.providers.values()],
                max_bytes=MAX_BYTES,
                total_seconds=self.call_seconds,
            )
            self._client.follow_redirects = False
        return self._client

    async def warm_up(self, provider: Provider) -> None:
        """Import and warm up `runner.gateway.text_models` in a thread, once for each kind of provider.

        Raises:
            PackError: `not_found` when the extra is not installed.
        """
        if provider.kind in self._warm:
            return
        if not has_module("pydantic_ai"):
            missing = not_installed()
            raise PackError(FailureCode.NOT_FOUND, missing.message, hint=missing.hint)
        async with self._warming:
            if provider.kind not in self._warm:
                await asyncio.to_thread(_warm_up, provider.kind)
                self._warm.add(provider.kind)


class AttemptModels:
    """The `runner.packs.models.Models` of one attempt; make one with `Gateway.attempt`."""

    def __init__(
        self,
        gateway: Gateway,
        record: Callable[[ModelUse], None],
        warn: Callable[[str], None],
        budget: Budget | None,
    ) -> None:
        self._gateway = gateway
        self._recorded = record
        self._warn = warn
        self._budget = budget

    def missing(self, role: str) -> Missing | None:
        """Return why no model can serve a role; None when one can. Warns if models are configured, but none works."""
        missing = self._gateway.missing(role)
        chain = self._gateway.roles.chain(role)
        if missing is not None and chain:
            why = next((candidate.missing for candidate in chain if candidate.missing is not None), missing)
            self._warn(f"No model of the role `{role}` can be used. {why.message} {why.hint}".rstrip())
        return missing

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
        """Write a text with a model."""

        async def ask(candidate: Candidate, provider: Provider) -> TextAnswer:
            await self._gateway.warm_up(provider)
            from runner.gateway.text_models import ModelRequest, ask_text

            request = ModelRequest(prompt, instructions, pictures, max_tokens, temperature)
            text = await ask_text(self._connection(candidate, provider, role), request)
            return TextAnswer(text, str(candidate.ref))

        return await self._first(role, model, "text", ask)

    async def structured(
        self,
        role: str,
        output: type[_Output],
        prompt: str,
        *,
        instructions: str = "",
        pictures: Sequence[Picture] = (),
        max_tokens: int | None = None,
        temperature: float | None = None,
        model: str | None = None,
    ) -> StructuredAnswer[_Output]:
        """Fill in `output` with a model; an answer that does not fit is sent back once for repair."""

        async def ask(candidate: Candidate, provider: Provider) -> StructuredAnswer[_Output]:
            await self._gateway.warm_up(provider)
            from runner.gateway.text_models import ModelRequest, ask_structured

            request = ModelRequest(prompt, instructions, pictures, max_tokens, temperature)
            value = await ask_structured(self._connection(candidate, provider, role), request, output)
            return StructuredAnswer(value, str(candidate.ref))

        return await self._first(role, model, "json", ask)

    async def image(
        self, prompt: str, *, width: int, height: int, role: str = "image", model: str | None = None
    ) -> ImageAnswer:
        """Make one picture with a model, in the size nearest to `width` by `height` pixels."""

        async def ask(candidate: Candidate, provider: Provider) -> ImageAnswer:
            await self._require_budget()
            started = time.monotonic()
            content, media_type, use = await images.make_image(
                provider,
                self._gateway.roles.key(provider),
                self._gateway.client(),
                candidate.ref.name,
                prompt,
                width,
                height,
            )
            await self._record(replace(use, role=role, elapsed_seconds=time.monotonic() - started))
            return ImageAnswer(content, media_type, str(candidate.ref))

        return await self._first(role, model, "image", ask)

    async def speak(self, text: str, *, voice: str | None = None, role: str = "voice") -> SpeechAnswer:
        """Speak a text of at most 5,000 characters; the last resort is a voice of this machine."""
        [answer] = await self._voices().speak([text], voice, role)
        return answer

    async def speak_all(
        self, texts: Sequence[str], *, voice: str | None = None, role: str = "voice"
    ) -> list[SpeechAnswer]:
        """Speak several texts with the same voice; return an answer for each, in order."""
        return await self._voices().speak(texts, voice, role)

    def other_voice(self, voice: str, *, role: str = "voice") -> str | None:
        """Return another voice of the same provider, for a second speaker; None when none is known."""
        return speech.other_voice(voice, [str(candidate.ref) for candidate in self._gateway.roles.chain(role)])

    async def _record(self, use: ModelUse) -> None:
        tracing.current().set("gen_ai.usage.input_tokens", use.input_tokens)
        tracing.current().set("gen_ai.usage.output_tokens", use.output_tokens)
        self._gateway.metrics.model_answered(use)
        self._recorded(use)
        if self._budget is not None:
            await self._budget.spend(use)

    async def _require_budget(self) -> None:
        if self._budget is not None:
            await self._budget.require()

    def _voices(self) -> Voices:
        return Voices(self._gateway.roles, self._gateway.client, self._require_budget, self._record)

    async def _first(
        self,
        role: str,
        model: str | None,
        output: OutputType,
        ask: Callable[[Candidate, Provider], Awaitable[_Answer]],
    ) -> _Answer:
        """Return the answer of the first model of a chain that answers.

        Raises:
            PackError: none does; with the most useful reason.
        """
        chain = self._gateway.roles.chain(role)
        if model is not None:
            named = self._gateway.roles.named_candidate(model)
            chain = [named, *(candidate for candidate in chain if candidate.ref != named.ref)]
        if not chain:
            raise no_model(role)
        errors: list[PackError] = []
        for candidate in chain:
            try:
                provider = _provider_of(candidate)
                with model_span(provider, candidate.ref, role, output):
                    return await ask(candidate, provider)
            except BudgetSpentError:
                raise
            except PackError as error:
                self._gateway.metrics.model_failed(str(candidate.ref), error.failure.code.value)
                if error.failure.code in FINAL_CODES:
                    raise
                errors.append(error)
                log.info("a model did not answer", role=role, model=str(candidate.ref), code=error.failure.code.value)
                if error.failure.code in WARNED_CODES and candidate is not chain[-1]:
                    self._warn(f"{error.failure.message} The next model of the role `{role}` was asked.")
        raise most_useful(role, errors)

    def _connection(self, candidate: Candidate, provider: Provider, role: str) -> ModelConnection:
        from runner.gateway.text_models import ModelConnection

        async def answered(use: ModelUse) -> None:
            await self._record(replace(use, role=role))

        return ModelConnection(
            provider=provider,
            key=self._gateway.roles.key(provider),
            ref=candidate.ref,
            client=self._gateway.client(),
            seconds=self._gateway.call_seconds,
            before=self._require_budget,
            answered=answered,
        )


def _provider_of(candidate: Candidate) -> Provider:
    if candidate.provider is None or candidate.missing is not None:
        missing = candidate.missing or Missing(f"{candidate.ref} is a voice.", "Name a model.")
        detail: JSONValue = None if candidate.provider is None else {"credential": candidate.provider.credential}
        raise PackError(FailureCode.CREDENTIAL_INVALID, missing.message, hint=missing.hint, detail=detail)
    return candidate.provider


def _warm_up(kind: ProviderKind) -> None:
    from runner.gateway.warm_up import warm_up

    warm_up(kind)
