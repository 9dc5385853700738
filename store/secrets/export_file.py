"""The file that `packline credential export` writes: credentials, sealed with a passphrase.

The file is JSON, one object:

    {"format": "packline-credentials/1",
     "kdf": {"name": "scrypt", "n": 131072, "r": 8, "p": 1, "salt": base64},
     "cipher": "AES-256-GCM", "nonce": base64, "sealed": base64}

The key is scrypt (RFC 7914) of the passphrase in UTF-8. `sealed` is ciphertext and tag of a JSON list of credentials;
its associated data is the object without `nonce` and `sealed` as JSON with sorted keys and without white space.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

FORMAT = "packline-credentials/1"
PASSPHRASE_CHARACTERS = 12
#: 128 MiB and about half a second, as OWASP recommends for scrypt (Password Storage Cheat Sheet).
_COST = {"n": 1 << 17, "r": 8, "p": 1}
#: The most a file may ask for: 1 GiB of memory.
_MOST = {"n": 1 << 20, "r": 8, "p": 4}


class VaultFileError(Exception):
    """The file cannot be read, or the passphrase is not the one it was sealed with."""


def seal_file(credentials: list[dict[str, Any]], passphrase: str) -> str:
    """Seal credentials; return the text of the file.

    Raises:
        VaultFileError: the passphrase is too short to protect it.
    """
    if len(passphrase) < PASSPHRASE_CHARACTERS:
        raise VaultFileError(f"The passphrase has {len(passphrase)} characters. Use at least {PASSPHRASE_CHARACTERS}.")
    salt, nonce = os.urandom(16), os.urandom(12)
    head: dict[str, Any] = {
        "format": FORMAT,
        "kdf": {"name": "scrypt", **_COST, "salt": base64.b64encode(salt).decode()},
        "cipher": "AES-256-GCM",
    }
    sealed = AESGCM(_key(passphrase, salt, _COST)).encrypt(nonce, json.dumps(credentials).encode(), _bound(head))
    body = {"nonce": base64.b64encode(nonce).decode(), "sealed": base64.b64encode(sealed).decode()}
    return json.dumps({**head, **body}, indent=1) + "\n"


def open_file(text: str, passphrase: str) -> list[dict[str, Any]]:
    """Open the text of a file; return its credentials.

    Raises:
        VaultFileError: it is not an export, it was changed, or the passphrase is wrong.
    """
    try:
        whole: dict[str, Any] = json.loads(text)
        head = {name: whole[name] for name in ("format", "kdf", "cipher")}
        if head["format"] != FORMAT or head["cipher"] != "AES-256-GCM" or head["kdf"]["name"] != "scrypt":
            raise VaultFileError(f"The file has the format {head['format']!r}; this release reads {FORMAT}.")
        cost = {name: int(head["kdf"][name]) for name in _COST}
        if any(not 1 <= cost[name] <= _MOST[name] for name in cost) or cost["n"] & (cost["n"] - 1):
            raise VaultFileError("The file asks for more work than any export of Packline: it was not opened.")
        key = _key(passphrase, base64.b64decode(head["kdf"]["salt"], validate=True), cost)
        nonce, sealed = (base64.b64decode(whole[name], validate=True) for name in ("nonce", "sealed"))
        opened: list[dict[str, Any]] = json.loads(AESGCM(key).decrypt(nonce, sealed, _bound(head)))
    except InvalidTag as error:
        raise VaultFileError("The passphrase is wrong, or the file was changed.") from error
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise VaultFileError("The file is not an export of credentials.") from error
    return opened


def _key(passphrase: str, salt: bytes, cost: dict[str, int]) -> bytes:
    return Scrypt(salt=salt, length=32, n=cost["n"], r=cost["r"], p=cost["p"]).derive(passphrase.encode())


def _bound(head: dict[str, Any]) -> bytes:
    return json.dumps(head, sort_keys=True, separators=(",", ":")).encode()
