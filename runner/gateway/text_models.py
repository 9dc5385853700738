"""Calls one text model through pydantic-ai. Imported by `runner.gateway.warm_up` before the first call.

Only a structured answer that does not fit is sent back, once. The SDKs' own retries are off, because the gateway owns
fallback and the runner owns retries. Requests use the client that is passed in, which ignores proxies and other
settings of the environment.
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
    from collections.abc import Awaitable, Callable, Sequence

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
    """A request to a model.

    Attributes:
        prompt: The user's message; may contain untrusted text.
        instructions: The system prompt.
        pictures: Sent after the prompt.
        max_tokens: Longest answer; the provider's own limit when None.
        temperature: The provider's default when None.
    """

    prompt: str
    instructions: str = ""
    pictures: Sequence[Picture] = ()
    max_tokens: int | None = None
    temperature: float | None = None

    def content(self) -> list[UserContent]:
        shown = [BinaryContent(picture.content, media_type=picture.media_type) for picture in self.pictures]
        return [self.prompt, *shown]

    def settings(self) -> ModelSettings:
        settings: ModelSettings = {}
        if self.max_tokens is not None:
            settings["max_tokens"] = self.max_tokens
        if self.temperature is not None:
            settings["temperature"] = self.temperature
        return settings


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """How one model is reached.

    Attributes:
        provider: Its provider.
        key: The provider's key; None when it needs none.
        ref: The reference to it.
        client: The HTTP client.
        seconds: Timeout of a request.
        before: Called before each request; its error is that of the call.
        answered: Called with the usage of every answer, even one that cannot be used.
    """

    provider: Provider
    key: str | None
    ref: ModelRef
    client: httpx2.AsyncClient
    seconds: float
    before: Callable[[], Awaitable[None]]
    answered: Callable[[ModelUse], Awaitable[None]]


async def ask_text(connection: ModelConnection, request: ModelRequest) -> str:
    """Return the text a model writes.

    Raises:
        PackError: with the code for the failure.
    """
    return await _ask(connection, request, str, repairs=0)


async def ask_structured(connection: ModelConnection, request: ModelRequest, output: type[_Output]) -> _Output:
    """Return the object a model fills in; one that does not fit is sent back once.

    Raises:
        PackError: `invalid_output` when it still does not fit, otherwise with the code for the failure.
    """
    # Servers of this protocol enforce the schema; for the others, models are trained on tool calls.
    native = connection.provider.kind in ("openai", "ollama")
    form = NativeOutput(output) if native else ToolOutput(output, name="answer")
    return await _ask(connection, request, form, repairs=1)


async def _ask(
    connection: ModelConnection,
    request: ModelRequest,
    form: type[_Result] | NativeOutput[_Result] | ToolOutput[_Result],
    *,
    repairs: int,
) -> _Result:
    agent: Agent[object, _Result] = Agent(
        _Counted(_model(connection), connection),
        output_type=form,
        instructions=request.instructions or None,
        retries={"tools": 0, "output": repairs},
        model_settings=request.settings(),
    )
    try:
        result = await agent.run(request.content(), usage_limits=UsageLimits(request_limit=1 + repairs))
    except PackError:
        raise
    except (AgentRunError, UserError) as error:
        raise _failure(error, connection) from error
    return result.output


class _Counted(WrapperModel):
    """Reports the usage of every answer before it is read, and refuses one that was cut off."""

    def __init__(self, wrapped: Model, connection: ModelConnection) -> None:
        super().__init__(wrapped)
        self._model_connection = connection

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        connection = self._model_connection
        await connection.before()
        started = time.monotonic()
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
        except PackError as error:  # from our HTTP client
            raise about(connection.ref, error) from error
        except ContentFilterError:
            raise
        except UnexpectedModelBehavior as error:  # raised before there is an answer
            raise _unreadable(error, connection) from error
        usage = response.usage
        is_reported = bool(usage.input_tokens or usage.output_tokens)
        await connection.answered(
            ModelUse(
                model=str(connection.ref),
                input_tokens=usage.input_tokens if is_reported else None,
                output_tokens=usage.output_tokens if is_reported else None,
                cost_micros=cost_micros(connection.provider, connection.ref.name, usage) if is_reported else None,
                elapsed_seconds=time.monotonic() - started,
            )
        )
        if response.finish_reason == "length":
            raise PackError(
                FailureCode.INVALID_OUTPUT,
                f"The answer of {connection.ref} was cut off at its maximum length.",
                hint="Ask for less at once, or allow a longer answer.",
            )
        if response.finish_reason == "content_filter":
            raise _filtered(connection)
        return response


def _model(connection: ModelConnection) -> Model:
    provider, timeout = connection.provider, httpx2.Timeout(connection.seconds, connect=_CONNECT_SECONDS)
    match provider.kind:
        case "openai" | "ollama":
            from openai import AsyncOpenAI
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.ollama import OllamaProvider
            from pydantic_ai.providers.openai import OpenAIProvider
            from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

            # The SDK requires a key; servers that need none ignore it. With explicit values, the SDK reads nothing
            # from the environment.
            client = AsyncOpenAI(
                base_url=provider.base_url,
                api_key=connection.key or "none",
                organization="",
                project="",
                http_client=connection.client,
                timeout=timeout,
                max_retries=0,
            )
            if provider.kind == "ollama":
                return OpenAIChatModel(connection.ref.name, provider=OllamaProvider(openai_client=client))
            if provider.name == "openai":
                return OpenAIChatModel(connection.ref.name, provider=OpenAIProvider(openai_client=client))
            return OpenAIChatModel(
                connection.ref.name, provider=OpenAICompatibleProvider(provider.name, openai_client=client)
            )
        case "anthropic":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            anthropic = AsyncAnthropic(
                base_url=provider.base_url,
                api_key=connection.key or "none",
                http_client=connection.client,
                timeout=timeout,
                max_retries=0,
            )
            return AnthropicModel(connection.ref.name, provider=AnthropicProvider(anthropic_client=anthropic))
        case "google":
            from google.genai import Client
            from google.genai.types import HttpOptions
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            # Without a TLS context the SDK makes two for every client, 150 ms each, and uses neither: requests use the
            # client that is passed in.
            tls = tls_context()
            options = HttpOptions(
                base_url=provider.base_url,
                timeout=int(connection.seconds * 1000),
                httpx_async_client=connection.client,
                async_client_args={"verify": tls, "ssl": tls},
            )
            google = Client(vertexai=False, api_key=connection.key or "none", http_options=options)
            return GoogleModel(connection.ref.name, provider=GoogleProvider(client=google))
        case "elevenlabs":
            raise PackError(
                FailureCode.INVALID_INPUT,
                f"{connection.ref} is a voice and cannot write text.",
                hint="Name a text model in the role's setting.",
            )
        case _:
            assert_never(provider.kind)


def _failure(error: Exception, connection: ModelConnection) -> PackError:
    inner = inner_pack_error(error)
    if inner is not None:
        return about(connection.ref, inner)
    match error:
        case ModelQuotaExceededError():
            return quota_exceeded(connection.ref)
        case ModelHTTPError():
            return failure_of_status(
                error.status_code,
                connection.ref,
                connection.provider,
                error.retry_after,
                None if error.body is None else str(error.body),
            )
        case ModelRateLimitError():
            return failure_of_status(429, connection.ref, connection.provider, error.retry_after)
        case ModelTimeoutError() | ModelRequestTimeout():
            return PackError(FailureCode.TIMEOUT, f"{connection.ref} did not answer in time.")
        case ModelAPIError():
            return _unreadable(error, connection)
        case ContentFilterError():
            return _filtered(connection)
        case UserError():
            return PackError(
                FailureCode.INVALID_INPUT,
                f"{connection.ref} does not support this request.",
                detail=excerpt(str(error), BODY_CHARACTERS),
            )
        case _:
            return PackError(
                FailureCode.INVALID_OUTPUT,
                f"The answer of {connection.ref} does not fit the required schema{_first_misfit(error)}.",
                hint="Try again, or name a stronger model in the role's setting.",
                detail=excerpt(str(error), BODY_CHARACTERS),
            )


def _unreadable(error: Exception, connection: ModelConnection) -> PackError:
    return PackError(
        FailureCode.UPSTREAM_UNAVAILABLE,
        f"{connection.ref} cannot be reached, or did not answer in its protocol.",
        hint=f"Check that {connection.provider.base_url} is the address of its API.",
        detail=excerpt(str(error), BODY_CHARACTERS),
    )


def _filtered(connection: ModelConnection) -> PackError:
    return PackError(
        FailureCode.POLICY_DENIED,
        f"{connection.ref} refused to answer: its provider's content filter stepped in.",
        cause="The provider does not permit what the prompt asks for.",
        hint="Change the prompt.",
        remedy="change_input",
    )


def _first_misfit(error: BaseException) -> str:
    """Describe the first error of a structured answer."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ValidationError):
            first = cause.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            return f", even after it was sent back once: {f'`{place}`: ' if place else ''}{needed(first)}"
        cause = cause.__cause__ or cause.__context__
    return ""
