"""The cost of a call, by the settings or the price list in genai-prices; nothing is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genai_prices import calc_price

from runner.gateway.providers import BUILTIN_PROVIDERS

if TYPE_CHECKING:
    from genai_prices.types import AbstractUsage

    from runner.gateway.providers import Provider


def cost_micros(provider: Provider, model: str, usage: AbstractUsage) -> int | None:
    """Return the cost in millionths of a US dollar; None when the price is not known.

    The prices of the settings come first. Built-in providers have their vendor's prices, even at another address (a
    proxy); other providers only if their address is a vendor's.
    """
    if (own := provider.prices.get(model)) is not None:
        counts = [getattr(usage, name, None) or 0 for name in ("input_tokens", "output_tokens", "cache_read_tokens")]
        return own.cost_micros(*counts)
    try:
        if provider.name in BUILTIN_PROVIDERS and BUILTIN_PROVIDERS[provider.name].kind == provider.kind:
            price = calc_price(usage, model, provider_id=provider.name)
        else:
            price = calc_price(usage, model, provider_api_url=provider.base_url)
    except (LookupError, ValueError):
        return None
    return int((price.total_price * 1_000_000).to_integral_value())
