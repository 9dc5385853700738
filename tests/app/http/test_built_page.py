"""The built page itself: how much a browser loads first, and that building it twice gives the same bytes."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from app.http.pages import BUILT_PAGE
from tests.support.browser import AXE

if TYPE_CHECKING:
    from pathlib import Path

#: What a browser may have to load before the page shows, and for any further part of it; in kilobytes after gzip.
INITIAL_KB = 190
CHUNK_KB = 150
#: The font of every page, which Brotli cannot shrink.
FONT_KB = 25
FRONTEND = AXE.parents[2]
built = pytest.mark.skipif(not (BUILT_PAGE / "index.html").is_file(), reason="the page is not built; run make ui")


def kilobytes(name: str) -> float:
    return len(gzip.compress((BUILT_PAGE / name).read_bytes(), 9)) / 1000


def manifest() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((BUILT_PAGE / ".vite" / "manifest.json").read_text())
    return found


def with_imports(chunks: dict[str, dict[str, Any]], key: str) -> set[str]:
    """The scripts a chunk brings along, itself included."""
    found: set[str] = set()
    waiting = [key]
    while waiting:
        chunk = chunks[waiting.pop()]
        if chunk["file"] not in found:
            found.add(chunk["file"])
            waiting += chunk.get("imports", [])
    return found


@built
def test_what_is_loaded_stays_small() -> None:
    chunks = manifest()
    entries = [key for key, chunk in chunks.items() if chunk.get("isEntry")]
    first = set.union(*(with_imports(chunks, entry) for entry in entries))
    assert sum(map(kilobytes, first)) <= INITIAL_KB
    lazy = {chunk["file"] for chunk in chunks.values() if chunk["file"].endswith(".js")} - first
    assert {name: size for name in lazy if (size := kilobytes(name)) > CHUNK_KB} == {}


@built
def test_the_font_is_small_and_fetched_before_the_styles_name_it() -> None:
    found = re.search(r'as="font"[^>]* href="./assets/([^"]+)"', (BUILT_PAGE / "index.html").read_text())
    assert found is not None
    assert (BUILT_PAGE / "assets" / found[1]).stat().st_size / 1000 <= FONT_KB
    assert any(found[1] in styles.read_text() for styles in (BUILT_PAGE / "assets").glob("index-*.css"))


@built
def test_every_script_has_a_smaller_copy_beside_it() -> None:
    for file in (BUILT_PAGE / "assets").glob("*.js"):
        if file.stat().st_size >= 1024:
            assert file.with_name(f"{file.name}.br").stat().st_size < file.stat().st_size


@built
def test_the_page_lists_the_files_of_every_part_and_holds_the_shell() -> None:
    """Then the files load next to the main script, and something is painted before it."""
    text = (BUILT_PAGE / "index.html").read_text()
    assert re.search(r'<script type="module" fetchpriority="low" [^>]*src="./assets/index-', text)
    assert re.search(r'<div id="skeleton"[^>]* inert[^>]*><div', text)
    found = re.search(r'<script type="application/json" id="parts">(.+?)</script>', text)
    assert found is not None
    listed = json.loads(found[1])
    chunks = manifest()
    first = {file for key, chunk in chunks.items() if chunk.get("isEntry") for file in with_imports(chunks, key)}
    assert {"run/RunPage", "run/step/StepTabs", "catalog/CatalogPage"} <= listed.keys()
    for part, files in listed.items():
        assert {f"assets/{name}" for name in files} == with_imports(chunks, f"src/features/{part}.tsx") - first, part


@pytest.mark.slow
@pytest.mark.timeout(300)
@built
@pytest.mark.skipif(not AXE.is_file() or shutil.which("npx") is None, reason="npm has not installed; run make ui")
def test_building_again_gives_the_same_bytes(tmp_path: Path) -> None:
    """As those that `make ui` built."""
    command = ["npx", "vite", "build", "--outDir", str(tmp_path), "--emptyOutDir", "--logLevel", "error"]
    done = subprocess.run(command, cwd=FRONTEND, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    once, again = (
        {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        for folder in (BUILT_PAGE, tmp_path)
    )
    assert once.keys() == again.keys(), "the page has changed since it was built; run make ui"
    assert [name for name in once if once[name] != again[name]] == []
