"""Known secrets in files: found in every form, across borders, inside archives, at a bounded cost."""

from __future__ import annotations

import base64
import io
import zipfile
from typing import TYPE_CHECKING

import pytest

from runner.secrets import quarantine
from runner.secrets.forms import SecretTooShortError, forms_of
from runner.secrets.quarantine import known_secret_in
from runner.secrets.redaction import Redactor

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "correct horse/battery?staple"
MEBIBYTE = 1 << 20


@pytest.fixture
def redactor() -> Redactor:
    return Redactor({"key.secret": SECRET})


def archive(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return made.getvalue()


async def found(redactor: Redactor, folder: Path, content: bytes) -> str | None:
    path = folder / "file"
    path.write_bytes(content)
    return await known_secret_in(redactor, path)


async def test_every_form_is_found_in_text_and_binary(redactor: Redactor, tmp_path: Path) -> None:
    for form in sorted(forms_of(SECRET)):
        assert await found(redactor, tmp_path, b"\xff\xfe\x00" + form.encode() + b"\x00") == "key.secret", form
    for encoding in ("utf-16", "utf-16-be"):
        assert await found(redactor, tmp_path, f"x{SECRET}".encode(encoding)) == "key.secret"
    assert await found(redactor, tmp_path, SECRET[:-1].encode()) is None
    assert await found(redactor, tmp_path, b"") is None


@pytest.mark.parametrize("before", range(MEBIBYTE - len(SECRET) - 1, MEBIBYTE + 2, 3))
async def test_a_secret_across_the_border_of_two_pieces_is_found(
    redactor: Redactor, tmp_path: Path, before: int
) -> None:
    assert await found(redactor, tmp_path, b"." * before + SECRET.encode()) == "key.secret"


async def test_members_of_archives_are_looked_through(redactor: Redactor, tmp_path: Path) -> None:
    filler = b"nothing to see " * 10_000
    assert await found(redactor, tmp_path, archive({"word/document.xml": filler + SECRET.encode()})) == "key.secret"
    assert await found(redactor, tmp_path, archive({f"{base64.b16encode(SECRET.encode()).decode()}.txt": b""}))
    assert await found(redactor, tmp_path, archive({"a": SECRET[:10].encode(), "b": SECRET[10:].encode()})) is None
    assert await found(redactor, tmp_path, archive({"a": filler})) is None


async def test_damaged_archives_and_bombs_do_no_harm(
    redactor: Redactor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = archive({"a": b"x" * 100_000 + SECRET.encode(), "b": b"y"})
    for damaged in (good[:-30], good[:60], good[:200] + b"\xff" * 50 + good[250:], b"PK\x03\x04"):
        await found(redactor, tmp_path, damaged)
    monkeypatch.setattr(quarantine, "UNPACKED_BYTES", 4 * MEBIBYTE)
    bomb = archive({"zeros": bytes(64 * MEBIBYTE), "late": SECRET.encode()})
    assert len(bomb) < MEBIBYTE
    assert await found(redactor, tmp_path, bomb) is None, "it stops where its share is used up"


async def test_nothing_is_read_while_no_secret_is_known(tmp_path: Path) -> None:
    assert await known_secret_in(Redactor(), tmp_path / "there is no such file") is None


def test_what_is_learned_is_masked_by_everybody_and_never_unlearned() -> None:
    redactor = Redactor()
    stream = redactor.stream()
    assert redactor.text(SECRET) == SECRET
    assert redactor.learn({"one": SECRET})
    assert not redactor.learn({"again": SECRET}), "nothing new"
    assert redactor.text(f"a {SECRET}") == "a [redacted:one]"
    assert redactor.value({SECRET: [SECRET]}) == {"[redacted:one]": ["[redacted:one]"]}
    assert stream.feed(f"a {SECRET} b ") + stream.close() == "a [redacted:one] b "
    assert redactor.learn({"two": "another long secret"})
    assert redactor.text(f"{SECRET} another long secret") == "[redacted:one] [redacted:two]"
    with pytest.raises(SecretTooShortError):
        redactor.learn({"good": "a good long one", "bad": "short"})
    assert redactor.text("a good long one") == "a good long one", "all or none"


async def test_a_member_nobody_can_unpack_hides_none_of_the_others(redactor: Redactor, tmp_path: Path) -> None:
    made = bytearray(archive({"first": b"x" * 100, "second": SECRET.encode() * 3}))
    for start, method in ((made.index(b"PK\x03\x04"), 8), (made.index(b"PK\x01\x02"), 10)):
        made[start + method] = 99  # a way of compression that does not exist
    assert await found(redactor, tmp_path, bytes(made)) == "key.secret"
