"""The forms in which a known secret may appear: verbatim, encoded, escaped."""

from __future__ import annotations

import base64
import html
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MIN_SECRET_LENGTH = 8
#: Single lines of a multi-line secret are masked from this length on; shorter ones are too common.
_MIN_LINE_LENGTH = 16


class SecretTooShortError(ValueError):
    """A secret of fewer than 8 characters cannot be masked: it would match everywhere."""


def all_forms(known: Mapping[str, str], secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the known forms and those of further values, with the name that masks each."""
    forms = dict(known)
    for name, value in secrets.items():
        if len(value) < MIN_SECRET_LENGTH:
            raise SecretTooShortError(f"Secret `{name}` has {len(value)} characters. Use at least 8.")
        for form in forms_of(value):
            forms.setdefault(form, name)
    return forms


def forms_of(secret: str) -> set[str]:
    """Return the forms of a secret: verbatim, in URLs, HTML, JSON (once and twice), Python, base64 and hexadecimal.

    Base64 depends on the bytes before the secret, so for each of the three alignments the part is taken that does not.
    Long lines of multi-line secrets have forms, too.
    """
    values = {secret}
    if "\n" in secret:
        values.add(secret.replace("\r\n", "\n"))
        values.add(secret.replace("\r\n", "\n").replace("\n", "\r\n"))
        lines = (line.strip() for line in secret.splitlines())
        values |= {line for line in lines if len(line) >= _MIN_LINE_LENGTH and not line.startswith("-----")}
    forms: set[str] = set()
    for value in values:
        forms |= {value, value.strip(), " ".join(value.split())}
        forms |= _url_forms(value)
        forms |= {html.escape(value), html.escape(value, quote=False)}
        for escaped in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
            forms |= {escaped, json.dumps(escaped)[1:-1], escaped.replace("/", "\\/")}
        # In both kinds of quotes: Python chooses by the text around it.
        forms |= {escape(before + value)[1 + len(before) : -1] for escape in (repr, ascii) for before in ("", '"')}
        data = value.encode("utf-8", "surrogatepass")
        forms.add(repr(data)[2:-1])
        forms |= {data.hex(), data.hex().upper()}
        forms |= set(_base64_forms(data))
    return {form for form in forms if len(form) >= MIN_SECRET_LENGTH}


def _url_forms(value: str) -> set[str]:
    text = value.encode("utf-8", "replace")
    forms = {quote(text, safe=""), quote(text), quote_plus(text)}
    forms |= {quote(form, safe="") for form in forms}  # an address inside an address
    return forms | {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), form) for form in forms}


def _base64_forms(data: bytes) -> Iterator[str]:
    for offset in range(3):
        text = base64.b64encode(bytes(offset) + data).decode()
        # Characters all of whose 6 bits come from the secret.
        core = text[-(-8 * offset // 6) : 8 * (offset + len(data)) // 6]
        yield core
        yield core.replace("+", "-").replace("/", "_")
