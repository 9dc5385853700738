"""Providers of models, and references to models (`provider:name`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

ProviderKind = Literal["openai", "anthropic", "google", "ollama", "elevenlabs"]
KINDS: tuple[ProviderKind, ...] = get_args(ProviderKind)
#: Provider of this machine's voices in voice chains; reserved.
OFFLINE = "offline"
PROVIDER_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
ROLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
#: Roles that do not fall back to the writer, which may not see, draw or speak.
OWN_ROLES = frozenset({"vision", "image", "voice"})
#: The role that other roles without a setting fall back to.
WRITER = "writer"
#: Roles that are listed even without a setting.
KNOWN_ROLES = (WRITER, "router", "vision", "image", "voice")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens; `cached` is that of tokens read from the provider's cache."""

    input: float
    output: float
    cached: float

    def cost_micros(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> int:
        """Return the cost in millionths of a US dollar; the cached tokens are among those read."""
        cached = min(cached_tokens, input_tokens)
        return round((input_tokens - cached) * self.input + cached * self.cached + output_tokens * self.output)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models.

    Attributes:
        name: Its name in `provider:name`.
        kind: Its protocol.
        base_url: Its address; for `openai` and `ollama` with the version, such as `https://api.openai.com/v1`.
        credential: Key of its credential in the vault.
        api_key_env: Variable that may hold the key instead.
        needs_key: Whether it cannot be called without a key.
        prices: Prices of its models from the settings, by name.
    """

    name: str
    kind: ProviderKind
    base_url: str
    credential: str
    api_key_env: str | None = None
    needs_key: bool = True
    prices: Mapping[str, Price] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A reference to a model. The provider is the part before the first colon; the name may contain further ones.

    Attributes:
        provider: Name of its provider, or `offline` for a voice of this machine.
        name: The provider's name for it.
    """

    provider: str
    name: str

    @classmethod
    def parse(cls, text: str) -> ModelRef:
        """Read `provider:name`.

        Raises:
            ValueError: it does not have that form.
        """
        provider, colon, name = text.strip().partition(":")
        if not colon or not PROVIDER_NAME.match(provider) or not name.strip():
            raise ValueError(f"`{text}` is not a model such as `openai:gpt-5-mini`")
        return cls(provider, name.strip())

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


BUILTIN_PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider("openai", "openai", "https://api.openai.com/v1", "openai", "OPENAI_API_KEY"),
        Provider("anthropic", "anthropic", "https://api.anthropic.com", "anthropic", "ANTHROPIC_API_KEY"),
        Provider("google", "google", "https://generativelanguage.googleapis.com", "google", "GEMINI_API_KEY"),
        Provider("ollama", "ollama", "http://127.0.0.1:11434/v1", "ollama", needs_key=False),
        Provider("elevenlabs", "elevenlabs", "https://api.elevenlabs.io", "elevenlabs", "ELEVENLABS_API_KEY"),
    )
}
#: Default address of a provider, by kind.
DEFAULT_URLS: dict[ProviderKind, str] = {provider.kind: provider.base_url for provider in BUILTIN_PROVIDERS.values()}
