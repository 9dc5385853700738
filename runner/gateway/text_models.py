"""Asks one text model, through pydantic-ai. Imported by `runner.gateway.rehearsal` when the first model is asked.

Nothing is repeated here but the one repair turn of a structured answer: the SDKs' own retries are off, because the
gateway owns fallback and the runner owns repetition. Requests leave through the client that is handed
in, which ignores proxies and other hints of the environment.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, assert_never

import httpx2
from pydantic import BaseModel, ValidationError
from pydantic_ai import Agent, BinaryContent, NativeOutput, ToolOutput, UsageLimits
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.models.wrapper import WrapperModel

from runner.egress.transport import tls_context
from runner.excerpts import BODY_CHARACTERS, excerpt
from runner.failures import FailureCode, PackError
from runner.gateway.prices import cost_micros
from runner.gateway.problems import about, failure_of_status, inner_pack_error, quota_exceeded
from runner.gateway.uses import ModelUse
from runner.schemas.pydantic_messages import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic_ai.messages import ModelMessage, ModelResponse, UserContent
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

    from runner.gateway.providers import ModelRef, Provider
    from runner.packs.models import Picture

_Output = TypeVar("_Output", bound=BaseModel)
_Result = TypeVar("_Result")
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked.

    Attributes:
        prompt: The user's turn; may hold untrusted text.
        instructions: The system's turn.
        pictures: Shown after the prompt.
        max_tokens: Longest answer; the provider's own limit when None.
        temperature: The provider's default when None.
    """

    prompt: str
    instructions: str = ""
    pictures: Sequence[Picture] = ()
    max_tokens: int | None = None
    temperature: float | None = None

    def content(self) -> list[UserContent]:
        """The user's turn."""
        shown = [BinaryContent(picture.content, media_type=picture.media_type) for picture in self.pictures]
        return [self.prompt, *shown]

    def settings(self) -> ModelSettings:
        """How to answer."""
        settings: ModelSettings = {}
        if self.max_tokens is not None:
            settings["max_tokens"] = self.max_tokens
        if self.temperature is not None:
            settings["temperature"] = self.temperature
        return settings


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """The way to one model.

    Attributes:
        provider: Who serves it.
        key: Its key; None when it needs none.
        ref: Its name.
        client: What requests leave through.
        seconds: Longest time of one request.
        answered: Called with every answer, also with an unusable one.
    """

    provider: Provider
    key: str | None
    ref: ModelRef
    client: httpx2.AsyncClient
    seconds: float
    answered: Callable[[ModelUse], None]


async def ask_text(line: ModelConnection, question: ModelRequest) -> str:
    """What a model writes.

    Raises:
        PackError: it did not, with the code for its failure.
    """
    return await _ask(line, question, str, repairs=0)


async def ask_structured(line: ModelConnection, question: ModelRequest, output: type[_Output]) -> _Output:
    """What a model fills in; what does not fit is sent back once.

    Raises:
        PackError: `invalid_output` when it still does not fit, else as `ask_text`.
    """
    # Servers of this protocol hold the model to the schema; elsewhere a tool call is what models are trained on.
    native = line.provider.kind in ("openai", "ollama")
    form = NativeOutput(output) if native else ToolOutput(output, name="answer")
    return await _ask(line, question, form, repairs=1)


async def _ask(
    line: ModelConnection,
    question: ModelRequest,
    form: type[_Result] | NativeOutput[_Result] | ToolOutput[_Result],
    *,
    repairs: int,
) -> _Result:
    agent: Agent[object, _Result] = Agent(
        _Counted(_model(line), line),
        output_type=form,
        instructions=question.instructions or None,
        retries={"tools": 0, "output": repairs},
        model_settings=question.settings(),
    )
    try:
        result = await agent.run(question.content(), usage_limits=UsageLimits(request_limit=1 + repairs))
    except PackError:
        raise
    except (AgentRunError, UserError) as error:
        raise _failure(error, line) from error
    return result.output


class _Counted(WrapperModel):
    """Tells of every answer before anything is made of it, and refuses one that was cut off."""

    def __init__(self, wrapped: Model, line: ModelConnection) -> None:
        super().__init__(wrapped)
        self._line = line

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        started = time.monotonic()
        line = self._line
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
        except PackError as error:  # the guarded client's own
            raise about(line.ref, error) from error
        except ContentFilterError:
            raise
        except UnexpectedModelBehavior as error:  # before there was an answer
            raise _unreadable(error, line) from error
        usage = response.usage
        is_told = bool(usage.input_tokens or usage.output_tokens)
        line.answered(
            ModelUse(
                model=str(line.ref),
                input_tokens=usage.input_tokens if is_told else None,
                output_tokens=usage.output_tokens if is_told else None,
                cost_micros=cost_micros(line.provider, line.ref.name, usage) if is_told else None,
                elapsed_seconds=time.monotonic() - started,
            )
        )
        if response.finish_reason == "length":
            raise PackError(
                FailureCode.INVALID_OUTPUT,
                f"The answer of {line.ref} was cut off: it reached the longest length.",
                hint="Ask for less at once, or allow a longer answer.",
            )
        if response.finish_reason == "content_filter":
            raise _filtered(line)
        return response


def _model(line: ModelConnection) -> Model:
    provider, timeout = line.provider, httpx2.Timeout(line.seconds, connect=_CONNECT_SECONDS)
    match provider.kind:
        case "openai" | "ollama":
            from openai import AsyncOpenAI
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.ollama import OllamaProvider
            from pydantic_ai.providers.openai import OpenAIProvider
            from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

            # The SDK insists on a key; servers that need none ignore it. Given explicitly, nothing is looked up in
            # the environment.
            client = AsyncOpenAI(
                base_url=provider.base_url,
                api_key=line.key or "none",
                organization="",
                project="",
                http_client=line.client,
                timeout=timeout,
                max_retries=0,
            )
            if provider.kind == "ollama":
                return OpenAIChatModel(line.ref.name, provider=OllamaProvider(openai_client=client))
            if provider.name == "openai":
                return OpenAIChatModel(line.ref.name, provider=OpenAIProvider(openai_client=client))
            return OpenAIChatModel(
                line.ref.name, provider=OpenAICompatibleProvider(provider.name, openai_client=client)
            )
        case "anthropic":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            anthropic = AsyncAnthropic(
                base_url=provider.base_url,
                api_key=line.key or "none",
                http_client=line.client,
                timeout=timeout,
                max_retries=0,
            )
            return AnthropicModel(line.ref.name, provider=AnthropicProvider(anthropic_client=anthropic))
        case "google":
            from google.genai import Client
            from google.genai.types import HttpOptions
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            # Without a TLS context the SDK makes two for every client, 150 ms each, and uses neither: requests leave
            # through the client that is handed in.
            tls = tls_context()
            options = HttpOptions(
                base_url=provider.base_url,
                timeout=int(line.seconds * 1000),
                httpx_async_client=line.client,
                async_client_args={"verify": tls, "ssl": tls},
            )
            google = Client(vertexai=False, api_key=line.key or "none", http_options=options)
            return GoogleModel(line.ref.name, provider=GoogleProvider(client=google))
        case "elevenlabs":
            raise PackError(
                FailureCode.INVALID_INPUT,
                f"{line.ref} is a voice and writes no text.",
                hint="Name a text model in the role's setting.",
            )
        case _:
            assert_never(provider.kind)


def _failure(error: Exception, line: ModelConnection) -> PackError:
    inner = inner_pack_error(error)
    if inner is not None:
        return about(line.ref, inner)
    match error:
        case ModelQuotaExceededError():
            return quota_exceeded(line.ref)
        case ModelHTTPError():
            return failure_of_status(
                error.status_code,
                line.ref,
                line.provider,
                error.retry_after,
                None if error.body is None else str(error.body),
            )
        case ModelRateLimitError():
            return failure_of_status(429, line.ref, line.provider, error.retry_after)
        case ModelTimeoutError() | ModelRequestTimeout():
            return PackError(FailureCode.TIMEOUT, f"{line.ref} did not answer in time.")
        case ModelAPIError():
            return _unreadable(error, line)
        case ContentFilterError():
            return _filtered(line)
        case UserError():
            return PackError(
                FailureCode.INVALID_INPUT,
                f"{line.ref} cannot be asked this.",
                detail=excerpt(str(error), BODY_CHARACTERS),
            )
        case _:
            return PackError(
                FailureCode.INVALID_OUTPUT,
                f"The answer of {line.ref} does not have the form that was asked for{_first_misfit(error)}.",
                hint="Try again, or name a stronger model in the role's setting.",
                detail=excerpt(str(error), BODY_CHARACTERS),
            )


def _unreadable(error: Exception, line: ModelConnection) -> PackError:
    return PackError(
        FailureCode.UPSTREAM_UNAVAILABLE,
        f"{line.ref} cannot be reached, or did not answer in its protocol.",
        hint=f"Check that {line.provider.base_url} is the address of its API.",
        detail=excerpt(str(error), BODY_CHARACTERS),
    )


def _filtered(line: ModelConnection) -> PackError:
    return PackError(
        FailureCode.POLICY_DENIED,
        f"{line.ref} refused to answer: its provider's content filter stepped in.",
        hint="Change what is asked.",
    )


def _first_misfit(error: BaseException) -> str:
    """What a checked answer got wrong first."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ValidationError):
            first = cause.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            said = needed(first)
            return f", also after it was sent back once: {f'`{place}`: ' if place else ''}{said}"
        cause = cause.__cause__ or cause.__context__
    return ""
