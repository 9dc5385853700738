"""Keeps the opened vault in step with the database, and seals what goes into it.

Credentials are opened at start and after every change, of this process or, by wake-up or within `POLL_SECONDS`, of
another one on the same PostgreSQL. A key that does not fit locks the vault and nothing else.
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

#: How often changes of other servers are looked for that no wake-up announced.
POLL_SECONDS = 5.0
#: How often it is noted that the server itself used a credential.
TOUCH_SECONDS = 60.0
#: What the use of a credential is called in the audit.
USE_ACTION = "use_credential"


class VaultLockedError(Exception):
    """Nothing can be sealed: the vault key is missing or wrong; `missing` says why and what to do."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(missing.message)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class VaultCipher:
    """The vault key that fits, and the proof it fits.

    What is sealed with it is stored in a unit that finds the same proof in the vault's row, which it locks.
    """

    cipher: Cipher
    proof: str


@dataclass(frozen=True, slots=True)
class _VaultSnapshot:
    """What the database held, opened as far as it can be."""

    opened: VaultCipher | None
    locked: Missing | None
    credentials: tuple[OpenCredential, ...]


class VaultSync:
    """Opens the vault and keeps it open; started by `start`, ended by `stop`.

    Args:
        store: The database.
        keys: Where the vault key comes from.
        redactor: Learns every secret value, and never forgets one before the process ends.

    Attributes:
        vault: What it keeps.
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
        self._task: asyncio.Task[None] | None = None
        store.wakes.listen(Topic.VAULT, lambda _: self._changed.set())

    async def start(self) -> None:
        """Open the vault and start to follow changes; a second call does nothing."""
        if self._task is None:
            await self.refresh()
            if (locked := self.vault.locked) is not None:
                log.error("the vault is locked; what needs credentials is unavailable, the rest runs", **_words(locked))
            self._task = asyncio.create_task(self._follow(), name="packline-vault")

    async def stop(self) -> None:
        """Stop following; harmless twice and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            try:
                await self._note_uses()
            except StoreError as error:
                log.warning("the last uses of credentials could not be noted", error=str(error))

    async def refresh(self) -> None:
        """Read what the database holds and open it, unless nothing changed."""
        async with self._refreshing:
            content = await read_vault(self._store)
            if content == self._content and self._opened is not None:
                return
            reading = await asyncio.to_thread(self._open, content)
            if reading.locked is not None and self.vault.locked is None and self._content is not None:
                log.error("the vault is locked", **_words(reading.locked))
            self._opened = reading.opened
            self.vault.fill(reading.credentials, reading.locked)
            self._content = content

    @property
    def opened(self) -> VaultCipher | None:
        """What opens the vault's texts; None while it is locked or nothing was ever sealed."""
        return None if self.vault.locked is not None else self._opened

    async def for_sealing(self) -> VaultCipher:
        """What texts are sealed with; the vault key is made at the first need.

        Raises:
            VaultLockedError: there is no key to seal with.
        """
        return await self._opened_for_sealing()

    async def seal(
        self,
        change: CredentialChange,
        fields: Mapping[str, str],
        *,
        before: str | None,
    ) -> CredentialChange:
        """Seal the fields of a change, ready for `put_credential`; makes the vault key at the first need.

        Args:
            change: What to store; its `values` are filled in.
            fields: All fields after the change.
            before: What the row held when they were made.

        Raises:
            VaultLockedError: there is no key to seal with.
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
        """What is stored under a key as it was read last; to tell whether it has changed since."""
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
            await self._found()
        raise VaultLockedError(Missing("The vault could not be opened.", "Try again."))

    async def _found(self) -> None:
        """Make a new vault; should another server have been first, its key counts and ours goes."""
        try:
            made = await asyncio.to_thread(self._keys.make)
        except VaultKeyError as error:
            raise VaultLockedError(Missing(str(error), "Mend that, then try again.")) from error
        cipher = made.cipher
        proof = await self._store.write(create_vault, cipher.proof())
        if cipher.fits(proof):
            log.info("a vault was made", key=made.origin)
        elif isinstance(self._keys, KeyFile):
            await asyncio.to_thread(self._keys.discard, made.key)

    def _open(self, content: VaultContent) -> _VaultSnapshot:
        """Open what was read; in a thread, since the redactor takes a moment to learn many values."""
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
        """The key that fits, or why there is none; neither while there is no vault yet."""
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
                self._settle(candidate)
                return VaultCipher(cipher, proof), None
        return None, Missing(f"The vault is locked: {self._why(candidates)}", self._keys.remedy)

    def _why(self, candidates: list[FoundKey]) -> str:
        if candidates:
            return f"the key in {candidates[0].origin} is not the one its credentials were sealed with."
        return f"its key is missing, there is no {self._keys.origin}."

    def _settle(self, found: FoundKey) -> None:
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
                log.warning("the vault could not be read; it is tried again", error=str(error))
            except Exception:  # nothing may end the following
                log.exception("the vault could not be followed by a defect; it is tried again")

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


def _words(missing: Missing) -> dict[str, str]:
    return {"reason": missing.message, "remedy": missing.hint}
