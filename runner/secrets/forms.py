"""How a known secret may be written: as it is, encoded, escaped."""

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
#: Lines of a multi-line secret are masked on their own from this length on; shorter ones are too common.
_MIN_LINE_LENGTH = 16


class SecretTooShortError(ValueError):
    """A secret under 8 characters cannot be masked: it would be found everywhere."""


def all_forms(known: Mapping[str, str], secrets: Mapping[str, str]) -> dict[str, str]:
    """The forms of known values and of further ones, with the name each is masked by."""
    forms = dict(known)
    for name, value in secrets.items():
        if len(value) < MIN_SECRET_LENGTH:
            raise SecretTooShortError(f"Secret `{name}` has {len(value)} characters; at least 8 are needed.")
        for form in forms_of(value):
            forms.setdefault(form, name)
    return forms


def forms_of(secret: str) -> set[str]:
    """The ways a known value may be written: as it is, in URLs, HTML, JSON (once and twice), Python, base64 and hex.

    Base64 depends on what stands before, so the part that all texts containing the secret share is taken for each of
    the three alignments. Long lines of multi-line secrets count on their own.
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
        # In quotes of either kind: which Python takes depends on the text around it.
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
