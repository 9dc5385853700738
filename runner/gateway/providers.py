"""Who serves models: the providers, and how a model is named (`provider:name`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

ProviderKind = Literal["openai", "anthropic", "google", "ollama", "elevenlabs"]
KINDS: tuple[ProviderKind, ...] = get_args(ProviderKind)
#: Name of this machine's voices in voice chains; reserved.
OFFLINE = "offline"
PROVIDER_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
ROLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
#: Roles that no writer can replace: it may not see, draw or speak.
OWN_ROLES = frozenset({"vision", "image", "voice"})
#: The role that any other without a setting of its own falls back to.
WRITER = "writer"
#: Roles that are shown although nobody has set them.
KNOWN_ROLES = (WRITER, "router", "vision", "image", "voice")


@dataclass(frozen=True, slots=True)
class Provider:
    """Who serves models.

    Attributes:
        name: Handle in `provider:name`.
        kind: The protocol it speaks.
        base_url: Where; for `openai` and `ollama` with the version, such as `https://api.openai.com/v1`.
        credential: Key of its credential in the vault.
        api_key_env: Variable that may hold the key instead.
        needs_key: Whether it cannot be called without a key.
    """

    name: str
    kind: ProviderKind
    base_url: str
    credential: str
    api_key_env: str | None = None
    needs_key: bool = True


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model by name. A name may hold colons itself; the provider is the part before the first.

    Attributes:
        provider: Handle of its provider, or `offline` for a voice of this machine.
        name: What the provider calls it.
    """

    provider: str
    name: str

    @classmethod
    def parse(cls, text: str) -> ModelRef:
        """Read `provider:name`.

        Raises:
            ValueError: it is not of that form.
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
#: Where a provider of a kind is, when its settings do not say.
DEFAULT_URLS: dict[ProviderKind, str] = {provider.kind: provider.base_url for provider in BUILTIN_PROVIDERS.values()}
