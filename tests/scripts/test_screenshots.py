"""The pictures of the page: kept in both themes, and each shown."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = DOCS / "images" / "pages"
#: All of them together; those who clone the repository fetch them.
MOST_BYTES = 4_000_000


def test_every_picture_is_kept_in_both_themes_and_shown() -> None:
    kept = {file.name for file in PICTURES.iterdir()}
    names = {name.removesuffix(f"-{theme}.webp") for name in kept for theme in ("light", "dark")}
    names = {name for name in names if not name.endswith(".webp")}
    assert kept == {f"{name}-{theme}.webp" for name in names for theme in ("light", "dark")}
    shown = set(re.findall(r"images/pages/([\w-]+)\.webp", (DOCS / "page.md").read_text("utf-8")))
    assert {re.sub(r"-(light|dark)$", "", name) for name in shown} == names


def test_the_pictures_stay_small() -> None:
    assert sum(file.stat().st_size for file in PICTURES.iterdir()) < MOST_BYTES
