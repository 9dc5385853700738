"""Secrets somebody wrote into a definition, where everybody who may read pipelines reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.issues import warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.failures import JSONValue
    from runner.issues import Issue
    from runner.secrets.redaction import Redactor

_HINT = "Take it out; a pack or an agent's step is given a credential by its name, and an input is given at each start."


def literal_secrets(document: JSONValue, redactor: Redactor) -> list[Issue]:
    """Where a definition holds a secret, none of it repeated.

    Warnings, not errors: a credential may be worth a common word, and storing that one would keep everybody
    from saving what holds the word.
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
        what = "looks like a token" if name is None else f"holds the value of the credential `{name}`"
        found.append(warning(path, "secret", f"This {what}, and all who use this server can read it here.", _HINT))
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
