"""Spans of model calls, by OpenTelemetry's conventions for generative AI (`gen_ai.*`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from runner import tracing

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from runner.gateway.providers import ModelRef, Provider, ProviderKind

#: What a model is asked for, by the names of `gen_ai.output.type`.
OutputType = Literal["text", "json", "image", "speech"]
#: Names of `gen_ai.provider.name` that differ from ours.
_PROVIDERS: Final[dict[ProviderKind, str]] = {"google": "gcp.gemini"}


def model_span(
    provider: Provider, model: ModelRef, role: str, output: OutputType
) -> AbstractContextManager[tracing.Span]:
    """Open the span of a call. Prompts and answers are left out: they may contain what must not leave the server."""
    operation = "chat" if output in ("text", "json") else "generate_content"
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": _PROVIDERS.get(provider.kind, provider.kind),
        "gen_ai.request.model": model.name,
        "gen_ai.output.type": output,
        "packline.model.role": role,
    }
    return tracing.call_span(f"{operation} {model.name}", attributes)
