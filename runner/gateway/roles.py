"""Resolves a role to its models, in the order they are tried, and checks whether each can be called now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.failures import FailureCode, PackError
from runner.gateway.keys import KEY_FIELD
from runner.gateway.problems import key_hint
from runner.gateway.providers import KNOWN_ROLES, OFFLINE, OWN_ROLES, WRITER, ModelRef, Provider
from runner.packs.needs import Missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.gateway.keys import KeySource


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model of a chain.

    Attributes:
        ref: The reference to it.
        provider: Its provider; None for a voice of this machine, or if the provider is unknown.
        missing: Why it cannot be called now; None when it can.
    """

    ref: ModelRef
    provider: Provider | None
    missing: Missing | None


class Roles:
    """The configured roles.

    Args:
        providers: The providers, by name.
        chains: The models of each role that has a setting, in the order they are tried.
        keys: The providers' keys.
    """

    def __init__(
        self, providers: Mapping[str, Provider], chains: Mapping[str, Sequence[ModelRef]], keys: KeySource
    ) -> None:
        self.providers = dict(providers)
        self._chains = {role: tuple(chain) for role, chain in chains.items()}
        self._keys = keys

    def names(self) -> list[str]:
        """List the known roles, then the other configured ones."""
        return [*KNOWN_ROLES, *(role for role in self._chains if role not in KNOWN_ROLES)]

    def chain(self, role: str) -> list[Candidate]:
        """List the models of a role; a role without a setting falls back to the writer's, except `OWN_ROLES`."""
        chosen = self._chains.get(role)
        if chosen is None and role not in OWN_ROLES:
            chosen = self._chains.get(WRITER)
        return [self.candidate(ref) for ref in chosen or ()]

    def candidate(self, ref: ModelRef) -> Candidate:
        if ref.provider == OFFLINE:
            return Candidate(ref, None, None)
        provider = self.providers.get(ref.provider)
        if provider is None:
            return Candidate(
                ref,
                None,
                Missing(
                    f"There is no provider `{ref.provider}`.",
                    f"Use one of {', '.join(sorted(self.providers))}, or add a provider in the settings.",
                ),
            )
        if provider.needs_key and not self._keys.has(provider.credential):
            return Candidate(ref, provider, Missing(f"There is no key for {ref}.", key_hint(provider)))
        return Candidate(ref, provider, None)

    def named_candidate(self, model: str) -> Candidate:
        """Return the model that a caller names.

        Raises:
            PackError: `invalid_input` when its provider is not configured or the name is malformed.
        """
        try:
            candidate = self.candidate(ModelRef.parse(model))
        except ValueError as error:
            raise PackError(FailureCode.INVALID_INPUT, f"{error}.", hint="Write `provider:name`.") from error
        if candidate.provider is None and candidate.missing is not None:
            raise PackError(FailureCode.INVALID_INPUT, candidate.missing.message, hint=candidate.missing.hint)
        return candidate

    def key(self, provider: Provider) -> str | None:
        """Return a provider's key; None when it has none and needs none.

        Raises:
            PackError: `credential_invalid` when it needs one.
        """
        fields = self._keys.find(provider.credential)
        key = (fields or {}).get(KEY_FIELD) or None
        if key is None and provider.needs_key:
            raise PackError(
                FailureCode.CREDENTIAL_INVALID,
                f"There is no key for the provider `{provider.name}`.",
                hint=key_hint(provider),
                detail={"credential": provider.credential},
            )
        return key
