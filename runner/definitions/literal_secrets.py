"""Finds secrets in definitions, which everybody who may read pipelines can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.issues import warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.failures import JSONValue
    from runner.issues import Issue
    from runner.secrets.redaction import Redactor

_HINT = "Remove it. Packs and agent steps use a credential by its name; other values can be inputs of each run."


def literal_secrets(document: JSONValue, redactor: Redactor) -> list[Issue]:
    """Return a warning for each secret in a definition, without its value.

    They are not errors: the value of a credential may be a common word, and nobody could save a definition with it.
    """
    if redactor.value(document) is document:
        return []
    finder = redactor.finder()
    found = []
    for path, text in _texts(document, ()):
        if redactor.text(text) is text:
            continue
        name = None
        if finder is not None:
            finder.begin()
            name = finder.feed(text.encode())
        what = "looks like a token" if name is None else f"is or contains the value of the credential `{name}`"
        found.append(warning(path, "secret", f"This {what}. Everybody who uses this server can read it here.", _HINT))
    return found


def _texts(value: JSONValue, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    match value:
        case str():
            yield path, value
        case list():
            for index, item in enumerate(value):
                yield from _texts(item, (*path, str(index)))
        case dict():
            for key, item in value.items():
                yield from _texts(item, (*path, key))
