"""Texts of logs, files and providers, made fit for a terminal."""

from __future__ import annotations

#: What makes a terminal do something, or show text in another order than it stands: control characters but for line
#: breaks and tabs, and the signs that turn the direction of writing.
_SIGNS = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}


#: The same, as JSON may write them.
_ESCAPES = {code: f"\\u{code:04x}" for code in _SIGNS if code >= 0x7F}


def defused_json(text: str) -> str:
    """JSON text of the same value, with what would command a terminal written as escapes."""
    return text.translate(_ESCAPES)


def defused(text: str) -> str:
    """The text with what would command the terminal shown as a replacement character."""
    return text.translate(_SIGNS)
