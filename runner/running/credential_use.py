"""Credentials of one attempt: each use is authorized, recorded and audited before the value is returned."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import orjson

from runner.failures import Failure, FailureCode, PackError
from runner.secrets.vault_sync import USE_ACTION
from store.access.audit import append_audit
from store.database.errors import StoreError
from store.secrets.credentials import record_use

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue
    from runner.packs.pack import Pack
    from runner.running.resources import Resources
    from runner.secrets.vault import CredentialRequester
    from store.database.dialects import Connection


class AttemptCredentials:
    """Gives one attempt of a pack its credentials.

    Grants are checked at every call, so a revoked one takes effect immediately; each use is recorded once per attempt.
    """

    __slots__ = ("_attempt_id", "_noted", "_pack", "_refused", "_requester", "_resources", "_run_id")

    def __init__(
        self, resources: Resources, pack: Pack, requester: CredentialRequester, run_id: str, attempt_id: str
    ) -> None:
        self._resources = resources
        self._pack = pack
        self._requester = requester
        self._run_id = run_id
        self._attempt_id = attempt_id
        self._noted: set[str] = set()
        self._refused: set[str] = set()

    async def take(self, key: str) -> Mapping[str, str]:
        """Return the fields of a credential.

        Raises:
            PackError: `credential_invalid` with the reason; `upstream_unavailable` when the use cannot be recorded.
        """
        vault = self._resources.vault
        try:
            found = vault.take(self._pack, key, self._requester)
            if found.id not in self._noted:
                await self._note(key, found.id)
                # The grant may have been revoked during the write.
                found = vault.take(self._pack, key, self._requester)
        except PackError as error:
            await self._refuse(key, error.failure)
            raise
        assert found.fields is not None, "it was found usable"
        return MappingProxyType(dict(found.fields))

    async def find(self, key: str) -> Mapping[str, str] | None:
        """Return the fields of a credential; None if there is none for this pack, pipeline and caller."""
        vault = self._resources.vault
        if vault.get(key) is None and any(need.key == key for need in self._pack.credentials):
            return None  # a missing credential is not a refusal
        try:
            return await self.take(key)
        except PackError as error:
            if error.failure.code is not FailureCode.CREDENTIAL_INVALID:
                raise
            return None

    async def _note(self, key: str, credential_id: str) -> None:
        """Record and audit a use; the store decides whether it is granted."""

        def unit(conn: Connection) -> bool:
            if not record_use(conn, credential_id, self._requester.targets(self._pack.name)):
                return False
            self._audit(conn, credential_id, {"credential": key}, accepted=True)
            return True

        try:
            is_granted = await self._resources.store.write(unit)
        except StoreError as error:
            raise PackError(
                FailureCode.UPSTREAM_UNAVAILABLE, f"The use of the credential `{key}` could not be recorded: {error}."
            ) from error
        if not is_granted:
            raise PackError(
                FailureCode.CREDENTIAL_INVALID,
                f"The credential `{key}` is no longer granted to {self._pack.name}.",
                hint="An administrator can grant it with "
                f"`packline credential grant {key} {self._requester.grantees(self._pack.name)[0]}`.",
                detail={"credential": key},
            )
        self._noted.add(credential_id)

    async def _refuse(self, key: str, failure: Failure) -> None:
        if failure.code is not FailureCode.CREDENTIAL_INVALID or key in self._refused:
            return
        self._refused.add(key)
        found = self._resources.vault.get(key)
        detail: dict[str, JSONValue] = {"credential": key, "message": failure.message}

        def unit(conn: Connection) -> None:
            self._audit(conn, None if found is None else found.id, detail, accepted=False)

        try:
            await self._resources.store.write(unit)
        except StoreError:
            return  # the refusal still applies, and the run's failure reports it

    def _audit(
        self, conn: Connection, target_id: str | None, detail: Mapping[str, JSONValue], *, accepted: bool
    ) -> None:
        shown = self._resources.redactor.value(
            {**detail, "pack": self._pack.name, "run": self._run_id, "attempt": self._attempt_id}
        )
        append_audit(
            conn,
            actor_id=self._requester.caller_id,
            action=USE_ACTION,
            accepted=accepted,
            target_id=target_id,
            detail=orjson.dumps(shown).decode(),
        )
