"""The vault's cipher: seals texts so that only the holder of the vault key can read them, each for one place.

AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce per text. Where a text belongs is bound as associated data, so
a sealed text that was moved to another row does not open. Sealing and fingerprints use keys of their own, derived from
the vault key with HKDF-SHA256 (RFC 5869).

A sealed text reads `1:` and base64 of nonce, ciphertext and tag.
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
#: How many characters of a keyed hash are told as a fingerprint.
FINGERPRINT_CHARACTERS = 12
_NONCE_BYTES = 12
_VERSION = "1:"
_PROOF = "packline vault"
_PROOF_PLACE = "vault:proof"


class VaultKeyError(Exception):
    """A vault key cannot be used; the message says which and what to do."""


class UnsealError(Exception):
    """A sealed text does not open: another key sealed it, it was changed, or it belongs elsewhere."""


class Cipher:
    """Seals and opens with one vault key.

    Args:
        key: 32 random bytes.

    Raises:
        VaultKeyError: the key has another length.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise VaultKeyError(f"A vault key has {KEY_BYTES} bytes, this one {len(key)}.")
        self._sealing = AESGCM(_derived(key, b"packline/vault/seal"))
        self._hashing = _derived(key, b"packline/vault/fingerprint")

    def seal(self, text: str, place: str) -> str:
        """The text, sealed for a place such as `credential:github`."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._sealing.encrypt(nonce, text.encode("utf-8"), place.encode("utf-8"))
        return _VERSION + base64.b64encode(nonce + sealed).decode("ascii")

    def open(self, sealed: str, place: str) -> str:
        """What was sealed for a place.

        Raises:
            UnsealError: it does not open with this key, or not there.
        """
        try:
            if not sealed.startswith(_VERSION):
                raise UnsealError("The sealed text has a form this release does not know.")
            data = base64.b64decode(sealed.removeprefix(_VERSION), validate=True)
            opened = self._sealing.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], place.encode("utf-8"))
            return opened.decode("utf-8")
        except (binascii.Error, InvalidTag, ValueError) as error:
            raise UnsealError(
                f"What is kept at {place} does not open: another key sealed it, or it was changed or moved."
            ) from error

    def fingerprint(self, text: str) -> str:
        """The beginning of a keyed hash: tells whether two texts are the same, and nothing else about them."""
        return hmac.new(self._hashing, text.encode("utf-8"), hashlib.sha256).hexdigest()[:FINGERPRINT_CHARACTERS]

    def proof(self) -> str:
        """A known text, sealed; `fits` tells with it whether a key is the one."""
        return self.seal(_PROOF, _PROOF_PLACE)

    def fits(self, proof: str) -> bool:
        """Whether a proof was made with this key."""
        try:
            return self.open(proof, _PROOF_PLACE) == _PROOF
        except UnsealError:
            return False


def parse_key(text: str, origin: str) -> bytes:
    """The key of its text: 32 bytes in base64 (either alphabet, padded or not) or in hexadecimal.

    Args:
        text: As it was given; white space around it does not count.
        origin: Where it came from, for the message.

    Raises:
        VaultKeyError: it is neither; the text itself stays out of the message.
    """
    bare = text.strip()
    if re.fullmatch(r"[0-9a-fA-F]{64}", bare):
        return bytes.fromhex(bare)
    if re.fullmatch(r"[A-Za-z0-9+/_-]{43}=?", bare):
        return base64.urlsafe_b64decode(bare.rstrip("=").replace("+", "-").replace("/", "_") + "=")
    raise VaultKeyError(
        f"{origin} is no vault key: 32 random bytes are needed, as 44 characters of base64 or 64 of hexadecimal, and "
        f"it has {len(bare)} characters. `openssl rand -base64 32` makes one."
    )


def key_text(key: bytes) -> str:
    """A key as it is written into its file."""
    return base64.b64encode(key).decode("ascii")


def _derived(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose).derive(key)
