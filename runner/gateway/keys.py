"""Where the gateway finds the keys of providers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Field of a credential that holds the key.
KEY_FIELD = "api_key"


class KeySource(Protocol):
    """Holds credentials of providers; asked at every call, so that a new key counts at once.

    That a provider is configured is the grant: its credential is used for calls to that provider and nothing else.
    """

    def has(self, credential: str) -> bool:
        """Whether there is such a credential; no use of it is noted."""

    def find(self, credential: str) -> Mapping[str, str] | None:
        """Its fields, or None; the key is the field `api_key`."""


class StaticKeys:
    """Keys by credential, such as those the environment gave.

    Args:
        keys: Credential to key.
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._keys = dict(keys)

    def has(self, credential: str) -> bool:
        """Whether there is such a key."""
        return credential in self._keys

    def find(self, credential: str) -> Mapping[str, str] | None:
        """The key as a credential."""
        key = self._keys.get(credential)
        return None if key is None else {KEY_FIELD: key}


class KeyChain:
    """Several sources; the first that has a credential gives it."""

    def __init__(self, sources: Sequence[KeySource]) -> None:
        self._sources = tuple(sources)

    def has(self, credential: str) -> bool:
        """Whether one of them has it."""
        return any(source.has(credential) for source in self._sources)

    def find(self, credential: str) -> Mapping[str, str] | None:
        """From the first that has it."""
        return next((found for source in self._sources if (found := source.find(credential)) is not None), None)
