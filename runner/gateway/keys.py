"""Sources of providers' keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Field of a credential that holds the key.
KEY_FIELD = "api_key"


class KeySource(Protocol):
    """Holds providers' credentials; read at every call, so that a new key is used at once.

    Configuring a provider grants it its credential, which is used for calls to that provider only.
    """

    def has(self, credential: str) -> bool:
        """Return whether a credential exists, without recording a use of it."""

    def find(self, credential: str) -> Mapping[str, str] | None:
        """Return a credential's fields, or None; the key is the field `api_key`."""


class StaticKeys:
    """Fixed keys, such as those from the environment.

    Args:
        keys: Keys by credential.
    """

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._keys = dict(keys)

    def has(self, credential: str) -> bool:
        return credential in self._keys

    def find(self, credential: str) -> Mapping[str, str] | None:
        key = self._keys.get(credential)
        return None if key is None else {KEY_FIELD: key}


class KeyChain:
    """Several sources; the first that has a credential wins."""

    def __init__(self, sources: Sequence[KeySource]) -> None:
        self._sources = tuple(sources)

    def has(self, credential: str) -> bool:
        return any(source.has(credential) for source in self._sources)

    def find(self, credential: str) -> Mapping[str, str] | None:
        return next((found for source in self._sources if (found := source.find(credential)) is not None), None)
