"""The vault's cipher: seals texts with the vault key, each bound to one place.

AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce per text. The place is bound as associated data, so that a
sealed text which was moved to another row does not open. Sealing and fingerprints use separate keys, derived from the
vault key with HKDF-SHA256 (RFC 5869).

A sealed text is `1:` and the base64 of nonce, ciphertext and tag.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES = 32
#: How many characters of a keyed hash make a fingerprint.
FINGERPRINT_CHARACTERS = 12
_NONCE_BYTES = 12
_VERSION = "1:"
_PROOF = "packline vault"
_PROOF_PLACE = "vault:proof"


class VaultKeyError(Exception):
    """A vault key cannot be used; the message names it and says what to do."""


class UnsealError(Exception):
    """A sealed text does not open: it was sealed with another key, was changed, or belongs to another place."""


class Cipher:
    """Seals and opens texts with one vault key.

    Args:
        key: 32 random bytes.

    Raises:
        VaultKeyError: the key has another length.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise VaultKeyError(f"A vault key has {KEY_BYTES} bytes, this one has {len(key)}.")
        self._sealing = AESGCM(_derived(key, b"packline/vault/seal"))
        self._hashing = _derived(key, b"packline/vault/fingerprint")

    def seal(self, text: str, place: str) -> str:
        """Seal a text for a place such as `credential:github`."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._sealing.encrypt(nonce, text.encode("utf-8"), place.encode("utf-8"))
        return _VERSION + base64.b64encode(nonce + sealed).decode("ascii")

    def open(self, sealed: str, place: str) -> str:
        """Open a text that was sealed for a place.

        Raises:
            UnsealError: another key sealed it, it was changed, or it was sealed for another place.
        """
        try:
            if not sealed.startswith(_VERSION):
                raise UnsealError("The sealed text has a format that this release does not know.")
            data = base64.b64decode(sealed.removeprefix(_VERSION), validate=True)
            opened = self._sealing.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], place.encode("utf-8"))
            return opened.decode("utf-8")
        except (binascii.Error, InvalidTag, ValueError) as error:
            raise UnsealError(
                f"The sealed text at {place} cannot be opened: another key sealed it, or it was changed or moved."
            ) from error

    def fingerprint(self, text: str) -> str:
        """Return the beginning of a keyed hash: it shows whether two texts are equal, and nothing else about them."""
        return hmac.new(self._hashing, text.encode("utf-8"), hashlib.sha256).hexdigest()[:FINGERPRINT_CHARACTERS]

    def proof(self) -> str:
        """Seal a known text, by which `fits` recognizes the key."""
        return self.seal(_PROOF, _PROOF_PLACE)

    def fits(self, proof: str) -> bool:
        """Return whether a proof was made with this key."""
        try:
            return self.open(proof, _PROOF_PLACE) == _PROOF
        except UnsealError:
            return False


def parse_key(text: str, origin: str) -> bytes:
    """Parse a key: 32 bytes in base64 (either alphabet, padded or not) or in hexadecimal.

    Args:
        text: The key; white space around it is ignored.
        origin: Where it came from, for the message.

    Raises:
        VaultKeyError: it is neither; the message does not contain the text.
    """
    bare = text.strip()
    if re.fullmatch(r"[0-9a-fA-F]{64}", bare):
        return bytes.fromhex(bare)
    if re.fullmatch(r"[A-Za-z0-9+/_-]{43}=?", bare):
        return base64.urlsafe_b64decode(bare.rstrip("=").replace("+", "-").replace("/", "_") + "=")
    raise VaultKeyError(
        f"{origin} is not a vault key: it has {len(bare)} characters, and a key is 32 random bytes, as 44 characters "
        "of base64 or 64 of hexadecimal. `openssl rand -base64 32` makes one."
    )


def key_text(key: bytes) -> str:
    """Encode a key as its file holds it."""
    return base64.b64encode(key).decode("ascii")


def _derived(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose).derive(key)
