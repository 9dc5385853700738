"""The cipher, the key and its file, and the export's format: what opens, what does not, and what a crash leaves."""

from __future__ import annotations

import base64
import json
import os
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.secrets.cipher import Cipher, UnsealError, VaultKeyError, key_text, parse_key
from store.secrets.export_file import VaultFileError, open_file, seal_file
from store.secrets.vault_key import VARIABLE, EnvironmentKey, FoundKey, KeyFile, key_source

if TYPE_CHECKING:
    from pathlib import Path

KEY = bytes(range(32))
PLACE = "credential:github:github"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.binary(min_size=32, max_size=32))
def test_what_is_sealed_opens_with_its_key_in_its_place_only(text: str, key: bytes) -> None:
    cipher = Cipher(key)
    sealed = cipher.seal(text, PLACE)
    assert cipher.open(sealed, PLACE) == text
    assert cipher.seal(text, PLACE) != sealed, "a nonce is never used twice"
    with pytest.raises(UnsealError):
        cipher.open(sealed, "credential:github:other")
    with pytest.raises(UnsealError):
        Cipher(bytes(b ^ 1 for b in key)).open(sealed, PLACE)


def test_a_changed_byte_is_noticed_wherever_it_is() -> None:
    cipher = Cipher(KEY)
    sealed = cipher.seal("value", PLACE)
    data = base64.b64decode(sealed.removeprefix("1:"))
    for place in range(len(data)):
        changed = bytes(byte ^ (1 if at == place else 0) for at, byte in enumerate(data))
        with pytest.raises(UnsealError):
            cipher.open("1:" + base64.b64encode(changed).decode(), PLACE)
    for broken in ("", "1:", "2:" + sealed[2:], sealed[:-5], sealed + "!", "1:" + "A" * 8):
        with pytest.raises(UnsealError):
            cipher.open(broken, PLACE)


def test_a_proof_tells_a_right_key_from_a_wrong_one() -> None:
    proof = Cipher(KEY).proof()
    assert Cipher(KEY).fits(proof)
    assert not Cipher(bytes(32)).fits(proof)
    assert not Cipher(KEY).fits("nonsense")


def test_fingerprints_tell_same_from_other_and_depend_on_the_key() -> None:
    cipher = Cipher(KEY)
    assert cipher.fingerprint("a") == cipher.fingerprint("a")
    assert len({cipher.fingerprint("a"), cipher.fingerprint("b"), Cipher(bytes(32)).fingerprint("a")}) == 3


@pytest.mark.parametrize(
    "text",
    [
        KEY.hex(),
        KEY.hex().upper(),
        base64.b64encode(KEY).decode(),
        base64.urlsafe_b64encode(KEY).decode().rstrip("="),
        f"  {base64.b64encode(KEY).decode()}\n",
    ],
)
def test_a_key_is_read_from_base64_and_hexadecimal(text: str) -> None:
    assert parse_key(text, "it") == KEY


@pytest.mark.parametrize("text", ["", "secret", KEY.hex()[:-2], base64.b64encode(KEY[:31]).decode(), "é" * 43])
def test_anything_else_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(VaultKeyError, match=f"{VARIABLE} is not a vault key.*`openssl rand -base64 32`") as refused:
        EnvironmentKey(text)
    assert not text or text not in str(refused.value)


def test_a_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    assert keys.candidates() == []
    made = keys.make()
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert keys.make() == made == keys.candidates()[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["vault.key"]
    assert isinstance(key_source(tmp_path, None), KeyFile)
    assert isinstance(key_source(tmp_path, key_text(KEY)), EnvironmentKey)


def test_a_key_file_with_nonsense_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "vault.key").write_text("nonsense")
    with pytest.raises(VaultKeyError, match=r"vault\.key is not a vault key"):
        KeyFile(tmp_path).candidates()


@pytest.mark.parametrize(
    ("died_at", "committed"),
    [("prepared", False), ("prepared", True), ("linked", True), ("replaced", True), ("old unlinked", True)],
)
def test_whatever_a_rotation_left_one_key_opens_and_is_put_in_place(
    tmp_path: Path, died_at: str, committed: bool
) -> None:
    """The files as each step of a rotation leaves them; before the commit only the first step can have happened."""
    keys = KeyFile(tmp_path)
    old = keys.make().key
    new = os.urandom(32)
    keys.prepare(new)
    if died_at != "prepared":
        os.link(keys.path, keys.old)
    if died_at in ("replaced", "old unlinked"):
        keys.new.replace(keys.path)
    if died_at == "old unlinked":
        keys.old.unlink()
    proof = Cipher(new if committed else old).proof()

    again = KeyFile(tmp_path)
    fitting = [found for found in again.candidates() if found.cipher.fits(proof)]
    again.finish_rotation(fitting[0])

    assert [found.key for found in KeyFile(tmp_path).candidates()] == [new if committed else old]
    assert not keys.new.exists()
    assert not keys.old.exists()


def test_nobody_finishes_a_rotation_while_a_rotation_is_in_progress(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    old = keys.make()
    with keys.rotating():
        keys.prepare(KEY)
        KeyFile(tmp_path).finish_rotation(old)
        assert keys.new.exists(), "it is about to be used"
        with pytest.raises(VaultKeyError, match="in progress"), KeyFile(tmp_path).rotating():
            pass
        keys.put_in_place(FoundKey(KEY, str(keys.new)))
    assert [found.key for found in keys.candidates()] == [KEY]


def test_an_export_opens_with_its_passphrase_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.secrets.export_file._COST", {"n": 1 << 10, "r": 8, "p": 1})
    inside = [{"key": "github", "kind": "github", "fields": {"token": "tölz value"}}]
    text = seal_file(inside, "a long passphrase")
    assert open_file(text, "a long passphrase") == inside
    assert "value" not in text
    with pytest.raises(VaultFileError, match="passphrase is wrong"):
        open_file(text, "another passphrase")
    changed = json.loads(text)
    changed["kdf"]["n"] = 1 << 11
    with pytest.raises(VaultFileError):
        open_file(json.dumps(changed), "a long passphrase")
    for wrong in ("", "[]", "{}", "null", text.replace("packline-credentials/1", "other/9")):
        with pytest.raises(VaultFileError):
            open_file(wrong, "a long passphrase")
    greedy = json.loads(text)
    greedy["kdf"]["n"] = 1 << 30
    with pytest.raises(VaultFileError, match="more work"):
        open_file(json.dumps(greedy), "a long passphrase")
    with pytest.raises(VaultFileError, match="at least 12"):
        seal_file(inside, "too short")
