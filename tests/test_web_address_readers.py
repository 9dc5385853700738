"""Addresses of the web are read by one function: what is checked is what is requested (`runner.egress.web_address`).

Two readers that differ in one character are a way past a check, so nothing else takes addresses apart.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("app", "schema", "resolvers", "catalog", "runner", "store", "packline", "builtins")

#: Other readers of addresses, by the reason why they may be.
ALLOWED = {
    "It is the one function.": {"runner/egress/web_address.py"},
    "It looks at addresses of other schemes.": {
        "runner/schemas/formats.py",
        "store/files/blobs_s3.py",
        "app/settings/messages.py",
    },
    "The library's own client is given what was read.": {"runner/egress/transport.py"},
}
_READERS = {"urlsplit", "urlparse", "urljoin", "urlunsplit", "urlunparse", "urldefrag"}


def _reads_addresses(source: str) -> bool:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="urllib.parse") if _READERS & {name.name for name in node.names}:
                return True
            case ast.Import() if any(name.name in ("urllib", "urllib.parse") for name in node.names):
                return True
            case ast.Attribute(value=ast.Name(id="httpx2"), attr="URL"):
                return True
    return False


def test_nothing_else_takes_web_addresses_apart() -> None:
    found = {
        str(file.relative_to(ROOT))
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        if _reads_addresses(file.read_text("utf-8"))
    }

    assert found == set().union(*ALLOWED.values())


def test_readers_are_noticed() -> None:
    assert _reads_addresses("def f():\n    from urllib.parse import quote, urlsplit")
    assert _reads_addresses("import urllib.parse")
    assert _reads_addresses("import httpx2\nhttpx2.URL('x')")
    assert not _reads_addresses("from urllib.parse import quote")
