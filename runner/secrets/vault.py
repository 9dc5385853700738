"""The opened vault: credentials in memory, and the check who may use which.

All decisions use what `runner.secrets.vault_sync` read last, without the database, so they cost microseconds and can be
made for every entry of a list. A credential is granted to packs, pipelines and callers; one grant suffices, and there
is none by default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from runner.agents.definition import AGENT
from runner.failures import FailureCode, PackError
from runner.packs.availability import Requirement
from runner.packs.needs import Missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.packs.needs import CredentialNeed
    from runner.packs.pack import Pack


@dataclass(frozen=True, slots=True)
class OpenCredential:
    """A credential with its values.

    Attributes:
        fields: Its values; None when they do not open.
        grants: Names of packs, ids of pipelines and callers.
    """

    id: str
    key: str
    kind: str
    fields: Mapping[str, str] | None = field(repr=False)
    expires_at: datetime | None
    grants: frozenset[str]


@dataclass(frozen=True, slots=True)
class CredentialRequester:
    """Who requests a credential.

    Attributes:
        pipeline_id: None for a pack that is called directly.
    """

    caller_id: str
    pipeline_id: str | None = None

    def grantees(self, pack: str) -> tuple[str, ...]:
        """Return possible targets of a grant, the best first; for an agent step, which has no pack, its pipeline."""
        if pack != AGENT:
            return self.targets(pack)
        return (*((self.pipeline_id,) if self.pipeline_id else ()), self.caller_id)

    def targets(self, pack: str) -> tuple[str, ...]:
        """Return the targets whose grant gives this pack a credential for this requester."""
        return (pack, self.caller_id, *((self.pipeline_id,) if self.pipeline_id else ()))


class Vault:
    """The present content of the vault; `fill` replaces it."""

    def __init__(self) -> None:
        self._credentials: Mapping[str, OpenCredential] = {}
        self._locked: Missing | None = None
        self._touched: set[str] = set()

    @property
    def locked(self) -> Missing | None:
        """Why its values cannot be read, and what to do; None while they can."""
        return self._locked

    @property
    def size(self) -> int:
        """Number of credentials."""
        return len(self._credentials)

    def fill(self, credentials: Iterable[OpenCredential], locked: Missing | None = None) -> None:
        """Replace the content; with `locked`, credentials are known but their values are not available."""
        self._credentials = {credential.key: credential for credential in credentials}
        self._locked = locked

    def get(self, key: str) -> OpenCredential | None:
        """Return a credential by key, whether or not it can be used."""
        return self._credentials.get(key)

    def has(self, credential: str) -> bool:
        """Return whether a credential exists, can be read and has not expired, without recording a use."""
        found = self._credentials.get(credential)
        return found is not None and self._unusable(found) is None

    def find(self, credential: str) -> Mapping[str, str] | None:
        """Return the fields of a credential that the operator's settings name; this needs no grant.

        Packs get theirs from `take`. The use shows in `lastUsedAt` within a minute.
        """
        found = self._credentials.get(credential)
        if found is None or found.fields is None or self._unusable(found) is not None:
            return None
        self._touched.add(found.id)
        return MappingProxyType(dict(found.fields))

    def granted(self, credential: str, pack: str, pipeline_id: str | None, caller_id: str) -> bool:
        """Return whether a pack gets a credential in a run of this pipeline and caller."""
        found = self._credentials.get(credential)
        return found is not None and not found.grants.isdisjoint(
            CredentialRequester(caller_id, pipeline_id).targets(pack)
        )

    def take(self, pack: Pack, key: str, requester: CredentialRequester) -> OpenCredential:
        """Return a credential that a pack declares and may use.

        Raises:
            PackError: `credential_invalid`, with the reason and what to do.
        """
        need = next((need for need in pack.credentials if need.key == key), None)
        if need is None:
            raise PackError(
                FailureCode.CREDENTIAL_INVALID,
                f"{pack.name} asks for the credential `{key}`, which it does not declare.",
                hint=f'The pack\'s author adds `credentials=[CredentialNeed("{key}", …)]` to it.',
            )
        missing = self.missing(pack.name, need, requester)
        if missing is not None:
            raise PackError(
                FailureCode.CREDENTIAL_INVALID, missing.message, hint=missing.hint, detail={"credential": key}
            )
        return self._credentials[key]

    def missing(self, pack: str, need: CredentialNeed, requester: CredentialRequester) -> Missing | None:
        """Return why a pack cannot use a credential; None when it can."""
        key = need.key
        found = self._credentials.get(key)
        if found is None:
            if self._locked is not None and not self._credentials:
                return self._locked
            return Missing(
                f"The vault holds no credential `{key}`.",
                f"Store it with `packline credential set {key} --kind {need.kind or 'KIND'} "
                f"--grant {requester.grantees(pack)[0]}`.",
            )
        if (unusable := self._unusable(found)) is not None:
            return unusable
        if need.kind and found.kind != need.kind:
            return Missing(
                f"The credential `{key}` is of kind {found.kind}; {pack} needs one of kind {need.kind}.",
                f"Store another with `packline credential set {key} --kind {need.kind}`.",
            )
        if not self.granted(key, pack, requester.pipeline_id, requester.caller_id):
            pipeline = f", the pipeline {requester.pipeline_id}" if requester.pipeline_id else ""
            targets = " or ".join(f"`packline credential grant {key} {target}`" for target in requester.grantees(pack))
            asking = "the agent of this step" if pack == AGENT else f"the pack {pack}"
            return Missing(
                f"The credential `{key}` is not granted to {asking}{pipeline} or the caller {requester.caller_id}.",
                f"A caller with the `manage` scope can grant it with {targets}.",
            )
        return None

    def lacks(self, pack: Pack, requester: CredentialRequester) -> list[Requirement]:
        """List the required credentials that a pack cannot use, also not by an alternative."""
        found = []
        for need in pack.credentials:
            if not need.required:
                continue
            choices = [need, *(other for other in pack.credentials if other.key in need.alternatives)]
            lacking = [
                (choice.key, missing)
                for choice in choices
                if (missing := self.missing(pack.name, choice, requester)) is not None
            ]
            if len(lacking) == len(choices):
                found.append(self._one_of(lacking))
        return found

    def _one_of(self, lacking: list[tuple[str, Missing]]) -> Requirement:
        """Make one requirement of alternatives; a stored one needs least, so it says what that one lacks.

        Args:
            lacking: The key of each alternative and why it cannot be used, the preferred one first.
        """
        key, missing = next((one for one in lacking if one[0] in self._credentials), lacking[0])
        if len(lacking) > 1 and missing is not self._locked:
            keys = [f"`{each}`" for each, _ in lacking]
            enough = f"One of the credentials {', '.join(keys[:-1])} or {keys[-1]} is enough."
            missing = Missing(f"{missing.message} {enough}", missing.hint)
        return Requirement.of("credential", key, missing)

    def drain_touched(self) -> frozenset[str]:
        """Return and clear the ids of the credentials that `find` has returned."""
        touched, self._touched = frozenset(self._touched), set()
        return touched

    def _unusable(self, found: OpenCredential) -> Missing | None:
        """Return why a stored credential cannot be used; None when it can."""
        if self._locked is not None:
            return self._locked
        again = f"Store it again with `packline credential set {found.key} --kind {found.kind}`."
        if found.fields is None:
            return Missing(f"The credential `{found.key}` cannot be read: it was changed in the database.", again)
        # By this machine's clock, unlike the instants that servers write for each other: a person entered this one, and
        # no state shared between servers depends on it.
        if found.expires_at is not None and found.expires_at <= datetime.now(UTC):
            return Missing(f"The credential `{found.key}` expired on {found.expires_at:%Y-%m-%d %H:%M} UTC.", again)
        return None
