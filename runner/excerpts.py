"""Excerpts of text from outside: secrets are masked before the text is cut.

Half a secret is not recognized, so no other code shortens such text; `tests/test_excerpts.py` finds code that does.
Code with a redactor calls its `excerpt`; all other code calls the one here, which masks the secrets that the servers of
this process know. Imports the standard library only.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.failures import JSONValue


class Masker(Protocol):
    """Masks secrets; see `runner.secrets.redaction.Redactor`."""

    def text(self, text: str) -> str:
        """Mask a text."""

    def beginning(self, text: str, enough: int) -> str:
        """Mask a beginning of a text, longer than `enough` characters."""

    def quoted(self, value: JSONValue) -> JSONValue:
        """Mask a value."""


#: Longest excerpt of a service's answer in a failure's detail.
BODY_CHARACTERS = 2000
_in_force: list[Masker] = []
_is_left_to_server = False


@contextlib.contextmanager
def in_force(redactor: Masker) -> Iterator[None]:
    """Use this redactor for the process's excerpts and logs until the block ends."""
    _in_force.append(redactor)
    try:
        yield
    finally:
        _in_force.remove(redactor)


def leave_to_server() -> None:
    """Keep excerpts whole in this worker process, which knows no secrets; its server masks and cuts them."""
    global _is_left_to_server
    _is_left_to_server = True


def quoted(value: JSONValue) -> JSONValue:
    """Return the value with secrets masked; see `Redactor.quoted`."""
    for redactor in tuple(_in_force):
        value = redactor.quoted(value)
    return value


def excerpt(text: str, limit: int, *, ending: str = "…", from_end: bool = False) -> str:
    """Return the beginning of a text from outside, with secrets masked before it is cut.

    In a function run by `PackContext.run_in_process` the text stays whole, because secrets are not known there: the
    server masks and cuts the exceptions of the function.

    Args:
        text: Text from outside, such as a service's answer.
        limit: Longest excerpt, in characters.
        ending: Marks where text was left out; counts towards the limit.
        from_end: Return the end of the text instead.
    """
    if _is_left_to_server:
        return text
    for redactor in tuple(_in_force):
        text = redactor.text(text) if from_end else redactor.beginning(text, limit)
    return cut(text, limit, ending, from_end=from_end)


def cut(masked: str, limit: int, ending: str, *, from_end: bool) -> str:
    """Return the beginning or end of a masked text."""
    if len(masked) <= limit:
        return masked
    kept = limit - len(ending)
    return f"{ending}{masked[len(masked) - kept :]}" if from_end else f"{masked[:kept]}{ending}"


def plain_text(text: object) -> str:
    """Replace U+0000 and lone surrogates, which a database refuses."""
    return str(text).encode("utf-8", "replace").decode().replace("\0", "\ufffd")
