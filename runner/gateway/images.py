"""Makes pictures with any server that implements OpenAI's `/images/generations`."""

from __future__ import annotations

import asyncio
import base64
import binascii
import importlib.util
import json
from typing import TYPE_CHECKING

from runner.failures import FailureCode, PackError
from runner.gateway.provider_requests import MAX_BYTES, post_json
from runner.gateway.uses import ModelUse

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

    from runner.failures import JSONValue
    from runner.gateway.providers import Provider

_SECONDS = 300.0
#: The sizes a model draws (OpenAI's API reference, `images/generations`). Any other model is asked for the exact size.
_SIZES: dict[str, tuple[tuple[int, int], ...]] = {
    "gpt-image": ((1024, 1024), (1536, 1024), (1024, 1536)),
    "dall-e-3": ((1024, 1024), (1792, 1024), (1024, 1792)),
    "dall-e-2": ((1024, 1024), (512, 512), (256, 256)),
}
#: First bytes of the accepted formats.
_SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


async def make_image(
    provider: Provider,
    key: str | None,
    client: httpx2.AsyncClient,
    model: str,
    prompt: str,
    width: int,
    height: int,
) -> tuple[bytes, str, ModelUse]:
    """Make one picture at a provider, in the nearest size its model draws.

    Args:
        provider: A provider with OpenAI's protocol.
        key: Its key, if it needs one.
        client: The HTTP client.
        model: The model, without the provider.
        prompt: What the picture should show.
        width: In points.
        height: In points.

    Returns:
        The file, its media type (PNG, JPEG or WebP), and the usage.

    Raises:
        PackError: with the code for the provider's answer; `policy_denied` when it refuses the prompt;
            `invalid_output` for an answer without a picture; `invalid_input` for a provider that makes no pictures.
    """
    name = f"{provider.name}:{model}"
    if provider.kind not in ("openai", "ollama"):
        raise PackError(
            FailureCode.INVALID_INPUT,
            f"The provider `{provider.name}` ({provider.kind}) makes no pictures here, so `{name}` cannot be used.",
            field="model",
            hint="Use a model of OpenAI, such as `openai:gpt-image-1`, or of a server that speaks its protocol.",
        )
    drawn = nearest_size(model, width, height)
    body: dict[str, JSONValue] = {"model": model, "prompt": prompt, "n": 1, "size": f"{drawn[0]}x{drawn[1]}"}
    if not model.startswith("gpt-image"):  # these always return base64, and refuse the parameter
        body["response_format"] = "b64_json"
    answer = await post_json(
        client,
        f"{provider.base_url.rstrip('/')}/images/generations",
        body,
        headers={"authorization": f"Bearer {key}"} if key else {},
        provider=provider.name,
        asked_for=name,
        seconds=_SECONDS,
    )
    picture, usage = await asyncio.to_thread(_read, answer, name)  # up to 40 MiB of JSON and base64
    if picture is None:
        picture = await _fetch(client, usage.pop("url"), name)
    media_type = media_type_of(picture)
    if media_type is None:
        raise PackError(FailureCode.INVALID_OUTPUT, f"`{name}` answered with something other than a PNG, JPEG or WebP.")
    return picture, media_type, await _use(provider, model, usage)


async def _use(provider: Provider, model: str, usage: Mapping[str, JSONValue]) -> ModelUse:
    """Return the usage, with its cost if the provider reports tokens and their price is known."""
    tokens_in, tokens_out = usage.get("input_tokens"), usage.get("output_tokens")
    name = f"{provider.name}:{model}"
    if not isinstance(tokens_in, int) or not isinstance(tokens_out, int):
        return ModelUse(name)
    cost = None
    if importlib.util.find_spec("genai_prices") is not None:
        cost = await asyncio.to_thread(_cost_micros, provider, model, tokens_in, tokens_out)
    return ModelUse(name, tokens_in, tokens_out, cost)


def _cost_micros(provider: Provider, model: str, tokens_in: int, tokens_out: int) -> int | None:
    """Calculate the cost; to be called in a thread, as importing the price list takes a while."""
    from genai_prices import Usage

    from runner.gateway.prices import cost_micros

    return cost_micros(provider, model, Usage(input_tokens=tokens_in, output_tokens=tokens_out))


def nearest_size(model: str, width: int, height: int) -> tuple[int, int]:
    """Return the size to ask a model for: of the nearest shape it draws, the nearest in width."""
    for family, sizes in _SIZES.items():
        if model.startswith(family):
            return min(
                sizes, key=lambda size: (abs(size[0] * height - size[1] * width) / size[1], abs(size[0] - width))
            )
    return width, height


def media_type_of(content: bytes) -> str | None:
    """Return the media type of a picture by its first bytes; None for anything but PNG, JPEG and WebP."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for signature, media_type in _SIGNATURES if content.startswith(signature)), None)


def _read(answer: bytes, name: str) -> tuple[bytes | None, dict[str, JSONValue]]:
    """Return the picture and the usage; if the answer has only the picture's address, None and `url` in the usage."""
    try:
        body = json.loads(answer)
        made, usage = body["data"][0], body.get("usage") or {}
        if made.get("b64_json"):
            return base64.b64decode(made["b64_json"], validate=True), usage
        return None, {**usage, "url": made["url"]}
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, binascii.Error) as error:
        raise PackError(FailureCode.INVALID_OUTPUT, f"`{name}` answered without a picture.") from error


async def _fetch(client: httpx2.AsyncClient, url: JSONValue, name: str) -> bytes:
    """Fetch a picture from the address a provider gave; the client decides whether it may be reached."""
    import httpx2

    try:
        response = await client.get(str(url), timeout=60.0, extensions={"max_bytes": MAX_BYTES, "total_seconds": 60.0})
    except httpx2.HTTPError as error:
        raise PackError(
            FailureCode.UPSTREAM_UNAVAILABLE, f"The picture `{name}` made cannot be fetched: {error}."
        ) from error
    if response.is_error:
        raise PackError(
            FailureCode.UPSTREAM_UNAVAILABLE, f"The picture `{name}` made cannot be fetched: {response.status_code}."
        )
    return response.content
