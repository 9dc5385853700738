"""Names of the files that packs make."""

from __future__ import annotations

import re
import unicodedata


def file_stem(title: str, otherwise: str) -> str:
    """A plain file name made from a title: letters, digits and dashes, at most 60 characters."""
    stem = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", title).lower()).strip("-")
    return stem[:60].rstrip("-") or otherwise
