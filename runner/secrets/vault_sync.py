"""Keeps the opened vault in sync with the database, and seals new values.

Credentials are opened at the start and after every change; changes by another process on the same PostgreSQL are
noticed by wake-up or within `POLL_SECONDS`. With a wrong key only the vault is locked; everything else works.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson
import structlog

from runner.packs.needs import Missing
from runner.secrets.credential_kinds import GENERIC, KINDS
from runner.secrets.vault import OpenCredential, Vault
from runner.watching.bus import wait_flag
from store.access.audit import append_audit
from store.database.errors import StoreClosedError, StoreError
from store.database.essential_tasks import EssentialTask
from store.database.wakes import Topic
from store.secrets.cipher import Cipher, UnsealError, VaultKeyError
from store.secrets.credentials import (
    CredentialChange,
    SealedCredential,
    SealedValues,
    VaultContent,
    place_of,
    read_vault,
    record_uses,
)
from store.secrets.vault_key import KeyFile
from store.secrets.vault_proof import create_vault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.secrets.redaction import Redactor
    from store.database.dialects import Connection
    from store.database.engine import Store
    from store.secrets.vault_key import FoundKey, KeySource

log = structlog.get_logger(__name__)

#: How often the database is polled for changes of other servers whose wake-up was lost.
POLL_SECONDS = 5.0
#: How often the server's own uses of credentials are recorded.
TOUCH_SECONDS = 60.0
#: Audit action of a use of a credential.
USE_ACTION = "use_credential"


class VaultLockedError(Exception):
    """Values cannot be sealed: the vault key is missing or wrong. `missing` says why and what to do."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(missing.message)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class VaultCipher:
    """The cipher of the vault key, and the proof that the key is the right one.

    A unit that stores sealed values locks the vault's row and requires the same proof there.
    """

    cipher: Cipher
    proof: str


@dataclass(frozen=True, slots=True)
class _VaultSnapshot:
    """The credentials read from the database, opened if possible."""

    opened: VaultCipher | None
    locked: Missing | None
    credentials: tuple[OpenCredential, ...]


class VaultSync:
    """Opens the vault and keeps it in sync.

    Args:
        store: The database.
        keys: The source of the vault key.
        redactor: Learns every secret value, and keeps it until the process ends.

    Attributes:
        vault: The opened vault.
    """

    def __init__(self, store: Store, keys: KeySource, redactor: Redactor) -> None:
        self.vault = Vault()
        self._store = store
        self._keys = keys
        self._redactor = redactor
        self._opened: VaultCipher | None = None
        self._content: VaultContent | None = None
        self._changed = asyncio.Event()
        self._refreshing = asyncio.Lock()
        self._task: EssentialTask | None = None
        store.wakes.listen(Topic.VAULT, lambda _: self._changed.set())

    async def start(self) -> None:
        """Open the vault and start to follow its changes; a second call does nothing."""
        if self._task is None:
            await self.refresh()
            if (locked := self.vault.locked) is not None:
                log.error("the vault is locked: only what needs credentials is unavailable", **_log_fields(locked))
            self._task = EssentialTask(self._follow(), "packline-vault")

    async def stop(self) -> None:
        """Stop following changes; does nothing before `start` or when called again."""
        task, self._task = self._task, None
        if task is not None:
            await task.stop()
            try:
                await self._note_uses()
            except StoreError as error:
                log.warning("the last uses of credentials could not be recorded", error=str(error))

    async def refresh(self) -> None:
        """Read the credentials and open them, unless nothing changed."""
        async with self._refreshing:
            content = await read_vault(self._store)
            if content == self._content and self._opened is not None:
                return
            snapshot = await asyncio.to_thread(self._open, content)
            if snapshot.locked is not None and self.vault.locked is None and self._content is not None:
                log.error("the vault is locked", **_log_fields(snapshot.locked))
            self._opened = snapshot.opened
            self.vault.fill(snapshot.credentials, snapshot.locked)
            self._content = content

    @property
    def opened(self) -> VaultCipher | None:
        """The cipher to open sealed texts; None while the vault is locked or before anything was sealed."""
        return None if self.vault.locked is not None else self._opened

    async def for_sealing(self) -> VaultCipher:
        """Return the cipher to seal texts; makes the vault key when it is first needed.

        Raises:
            VaultLockedError: there is no usable key.
        """
        return await self._opened_for_sealing()

    async def seal(
        self,
        change: CredentialChange,
        fields: Mapping[str, str],
        *,
        before: str | None,
    ) -> CredentialChange:
        """Seal the fields of a change for `put_credential`; makes the vault key when it is first needed.

        Args:
            change: The change, whose `values` are filled in.
            fields: All fields after the change.
            before: The sealed values they replace.

        Raises:
            VaultLockedError: there is no usable key.
        """
        opened = await self._opened_for_sealing()
        text = orjson.dumps(dict(fields), option=orjson.OPT_SORT_KEYS).decode()
        values = SealedValues(
            sealed=opened.cipher.seal(text, place_of(change.key, change.kind)),
            fields_set=sorted(fields),
            fingerprint=opened.cipher.fingerprint(text),
            proof=opened.proof,
            before=before,
        )
        return replace(change, values=values)

    def sealed(self, key: str) -> str | None:
        """Return a credential's sealed values as last read, by which a later change is noticed."""
        content = self._content
        rows = content.credentials if content is not None else ()
        return next((row.sealed for row in rows if row.key == key), None)

    async def _opened_for_sealing(self) -> VaultCipher:
        for _ in range(2):
            await self.refresh()
            if self.vault.locked is not None:
                raise VaultLockedError(self.vault.locked)
            if self._opened is not None:
                return self._opened
            await self._create_vault()
        raise VaultLockedError(Missing("The vault could not be opened.", "Try again."))

    async def _create_vault(self) -> None:
        """Make a new vault; if another server was first, use its key and discard ours."""
        try:
            made = await asyncio.to_thread(self._keys.make)
        except VaultKeyError as error:
            raise VaultLockedError(Missing(str(error), "Fix that, then try again.")) from error
        cipher = made.cipher
        proof = await self._store.write(create_vault, cipher.proof())
        if cipher.fits(proof):
            log.info("a vault was made", key=made.origin)
        elif isinstance(self._keys, KeyFile):
            await asyncio.to_thread(self._keys.discard, made.key)

    def _open(self, content: VaultContent) -> _VaultSnapshot:
        """Open the credentials; to be called in a thread, as the redactor takes a while to learn many values."""
        opened, locked = self._key_for(content)
        credentials = []
        secrets: dict[str, str] = {}
        grants: dict[str, set[str]] = {}
        for credential_id, target in content.grants:
            grants.setdefault(credential_id, set()).add(target)
        for row in content.credentials:
            fields = _opened_fields(opened.cipher, row) if opened is not None else None
            if fields is not None:
                secrets |= KINDS.get(row.kind, KINDS[GENERIC]).secrets(row.key, fields)
            elif opened is not None:
                log.error("a credential does not open: it was changed in the database", credential=row.key)
            shared = frozenset(grants.get(row.id, ()))
            credentials.append(OpenCredential(row.id, row.key, row.kind, fields, row.expires_at, shared))
        # Before anybody can be given a value, everybody masks it.
        self._redactor.learn(secrets)
        return _VaultSnapshot(opened, locked, tuple(credentials))

    def _key_for(self, content: VaultContent) -> tuple[VaultCipher | None, Missing | None]:
        """Return the key that fits, or why there is none; None and None while there is no vault."""
        proof = content.proof
        if proof is None:
            return None, None
        if self._opened is not None and self._opened.proof == proof:
            return self._opened, None
        try:
            candidates = self._keys.candidates()
        except VaultKeyError as error:
            return None, Missing(f"The vault is locked: {error}", self._keys.remedy)
        for candidate in candidates:
            cipher = candidate.cipher
            if cipher.fits(proof):
                self._finish_rotation(candidate)
                return VaultCipher(cipher, proof), None
        return None, Missing(f"The vault is locked: {self._why(candidates)}", self._keys.remedy)

    def _why(self, candidates: list[FoundKey]) -> str:
        if candidates:
            return f"the key in {candidates[0].origin} is not the one its credentials were sealed with."
        return f"its key is missing, there is no {self._keys.origin}."

    def _finish_rotation(self, found: FoundKey) -> None:
        try:
            self._keys.finish_rotation(found)
        except OSError as error:
            log.warning("the files of the vault key could not be tidied up", error=str(error))

    async def _follow(self) -> None:
        """Follow changes until stopped. A database that is not shared has no other writer, so it is not polled."""
        loop = asyncio.get_running_loop()
        pause = POLL_SECONDS if self._store.shared else TOUCH_SECONDS
        noted = loop.time()
        while True:
            await wait_flag(self._changed, pause)
            self._changed.clear()
            try:
                await self.refresh()
                if loop.time() - noted >= TOUCH_SECONDS:
                    noted = loop.time()
                    await self._note_uses()
            except StoreClosedError:
                return
            except StoreError as error:
                log.warning("the vault could not be read, retrying", error=str(error))
            except Exception:  # no error may end this task
                log.exception("following the vault failed, retrying")

    async def _note_uses(self) -> None:
        """Record and audit, without an actor, which credentials the server itself used lately."""
        touched = sorted(self.vault.drain_touched())

        def unit(conn: Connection) -> None:
            record_uses(conn, touched)
            for credential_id in touched:
                append_audit(conn, actor_id=None, action=USE_ACTION, accepted=True, target_id=credential_id)

        if touched:
            await self._store.write(unit)


def _opened_fields(cipher: Cipher, row: SealedCredential) -> dict[str, str] | None:
    try:
        fields: dict[str, str] = orjson.loads(cipher.open(row.sealed, place_of(row.key, row.kind)))
    except (UnsealError, orjson.JSONDecodeError):
        return None
    return fields


def _log_fields(missing: Missing) -> dict[str, str]:
    return {"reason": missing.message, "remedy": missing.hint}
