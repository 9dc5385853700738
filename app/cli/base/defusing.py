"""Make texts of logs, files and providers safe for a terminal."""

from __future__ import annotations

#: Characters that command a terminal or reorder text: control characters except line breaks and tabs, and those that
#: change the writing direction.
_SIGNS = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}


#: The JSON escapes of the same characters.
_ESCAPES = {code: f"\\u{code:04x}" for code in _SIGNS if code >= 0x7F}


def defused_json(text: str) -> str:
    """JSON text of the same value, with characters that command a terminal escaped."""
    return text.translate(_ESCAPES)


def defused(text: str) -> str:
    """The text, with a replacement character for each that commands a terminal."""
    return text.translate(_SIGNS)
