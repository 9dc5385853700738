"""What files are, by how they begin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.files.media_types import is_text, is_text_type, media_type_of
from tests.support import media_files, office_files

OFFICE = "application/vnd.openxmlformats-officedocument."


@pytest.mark.parametrize(
    ("content", "name", "claimed", "media_type"),
    [
        (b"%PDF-1.7\n", "a.txt", "text/plain", "application/pdf"),
        (media_files.png(2, 2), "a.pdf", None, "image/png"),
        (media_files.picture(2, 2, "JPEG"), "a", None, "image/jpeg"),
        (media_files.picture(2, 2, "WEBP"), "a", None, "image/webp"),
        (media_files.picture(2, 2, "AVIF"), "a", None, "image/avif"),
        (media_files.wav(0.1), "a", None, "audio/wav"),
        (b"\0\0\0\x18ftypisom", "a", None, "video/mp4"),
        (b"\0\0\0\x18ftypM4A ", "a", None, "audio/mp4"),
        (b"ID3\x04\0\0", "a.mp3", None, "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "a.mp3", None, "audio/mpeg"),
        (office_files.docx(office_files.paragraph("Tea")), "a.zip", None, OFFICE + "wordprocessingml.document"),
        (office_files.pptx([("Tea", [], "")]), "a", None, OFFICE + "presentationml.presentation"),
        (office_files.xlsx({"Tea": [["a"]]}), "a", None, OFFICE + "spreadsheetml.sheet"),
        (b"PK\x03\x04" + bytes(60), "a.docx", None, "application/zip"),
        (b"MZ\x90\0\3", "a.pdf", "application/pdf", "application/octet-stream"),
        (b"\x7fELF", "a", None, "application/octet-stream"),
        (b"\0\1\2", "a.md", "text/markdown", "application/octet-stream"),
        (b"# Tea", "a.md", "text/html", "text/markdown"),
        (b"<p>Tea</p>", "a.md", None, "text/markdown"),
        (b" \n<!DOCTYPE HTML><p>", "a.txt", "text/plain", "text/html"),
        (b"<script>alert(1)</script>", "a.png", "image/png", "text/html"),
        (b"<?xml version='1.0'?><svg onload='x'/>", "a.png", "image/png", "image/svg+xml"),
        (b"{}", "a.json", None, "application/json"),
        (b"a,b", "a.csv", None, "text/csv"),
        (b"BMW makes cars.", "a.txt", None, "text/plain"),
        (b"MZ is a prefix.", "a.md", None, "text/markdown"),
        (media_files.picture(2, 2, "BMP"), "a", None, "image/bmp"),
        (b"Tea", "a", "text/calendar; charset=utf-8", "text/calendar"),
        (b"Tea", "a", "text/html", "text/plain"),
        (b"Tea", "a", "application/x-shockwave-flash", "text/plain"),
        ("Grün".encode("utf-16"), "a.txt", "text/plain", "application/octet-stream"),
        (b"", "a.pdf", "application/pdf", "text/plain"),
    ],
)
def test_the_content_decides(content: bytes, name: str, claimed: str | None, media_type: str) -> None:
    assert media_type_of(content[:8192], name, claimed) == media_type


def test_a_character_cut_at_the_end_is_no_reason_to_doubt() -> None:
    whole = "Tée".encode()
    assert is_text(whole[:2])
    assert not is_text(b"T\xc3 and on")
    assert not is_text(b"T\x1b[31m".replace(b"\x1b", b"\x01"))


def test_what_is_read_as_text() -> None:
    assert is_text_type("text/plain; charset=utf-8")
    assert is_text_type("image/svg+xml")
    assert not is_text_type("application/pdf")


@given(st.binary(max_size=300), st.text(max_size=20), st.none() | st.text(max_size=40))
def test_nothing_makes_it_fail(head: bytes, name: str, claimed: str | None) -> None:
    found = media_type_of(head, name, claimed)
    assert found.isascii()
    assert found.count("/") == 1
