"""Checks of the `format` keyword of JSON Schema, and patterns matched in linear time.

Patterns run in Rust's regex engine, which is part of pydantic-core and has no backtracking: it refuses to compile what
it cannot match in linear time (look-around, back-references).
"""

from __future__ import annotations

import ipaddress
import json
import re
import uuid
from datetime import date, datetime, time
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from runner.egress.web_address import (
    DEFAULT_PORTS,
    WebAddressError,
    has_url_credentials,
    is_web_address,
    read_web_address,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class PatternError(Exception):
    """A pattern that the engine refuses; the message says why in one line."""


# A compiled pattern may take 10 MB: one such as `a{1,60000}` takes 6.
@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Compile a pattern to a function that searches a text for a match, in time linear in the text.

    Raises:
        PatternError: the pattern is malformed, too large, or needs backtracking.
    """
    if len(pattern) > 2_000:
        raise PatternError("it is longer than 2,000 characters")
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as refused:
        reason = str(refused).strip().splitlines()[-1].removeprefix("error: ").strip()
        raise PatternError(reason.rstrip(".")) from refused

    def matches(text: str) -> bool:
        try:
            validator.validate_python(text)
        except ValidationError:
            return False
        return True

    return matches


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_NOT_IN_URI = re.compile(r"[\s\x00-\x20\x7f<>\"{}|\\^`]")
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z")
_LOCAL_PART = re.compile(r"[^\s@\x00-\x1f\x7f\"(),:;<>\[\\\]]{1,64}\Z")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_TIME = re.compile(r"\d{2}:\d{2}:\d{2}(\.\d{1,12})?([Zz]|[+-]\d{2}:\d{2})\Z")
_DURATION = re.compile(r"-?P(?!\Z)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?!\Z)(\d+H)?(\d+M)?(\d+([.]\d+)?S)?)?)\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_POINTER = re.compile(r"(/([^~/]|~0|~1)*)*\Z")


def _is_iri(text: str) -> bool:
    """Return whether a text is an IRI (RFC 3987), or a web address as people paste it."""
    if is_web_address(text):
        return True
    scheme, colon, rest = text.partition(":")
    if not (colon and rest and _SCHEME.match(scheme)) or _NOT_IN_URI.search(text):
        return False
    if scheme.lower() in DEFAULT_PORTS:
        return False
    if "//" not in text and has_url_credentials(f"{text}/"):  # `me:secret@host`, where `me` is no scheme
        return False
    parts = urlsplit(text)
    _ = parts.port  # raises ValueError for a port out of range
    return bool(parts.hostname) if scheme.lower() in {"ftp", "ws", "wss"} else True


def _is_uri(text: str) -> bool:
    return _is_iri(text) and (text.isascii() or is_web_address(text))


def _is_iri_reference(text: str) -> bool:
    urlsplit(text)
    return not _NOT_IN_URI.search(text)


def _is_hostname(text: str) -> bool:
    return 0 < len(text) <= 253 and all(_LABEL.match(label) for label in text.split("."))


def _is_idn_hostname(text: str) -> bool:
    import idna

    return _is_hostname(text if text.isascii() else idna.encode(text, uts46=True).decode())


def _is_email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    return bool(at) and bool(_LOCAL_PART.match(local)) and ".." not in local and _is_idn_hostname(domain)


def _is_date(text: str) -> bool:
    return bool(_DATE.match(text)) and bool(date.fromisoformat(text))


def _is_time(text: str) -> bool:
    return bool(_TIME.match(text)) and time.fromisoformat(text.upper()) is not None


def _is_date_time(text: str) -> bool:
    day, separator, hour = text[:10], text[10:11], text[11:]
    plain = bool(_DATE.match(day)) and separator in ("T", "t", " ") and bool(_TIME.match(hour))
    return plain and bool(datetime.fromisoformat(text.upper()))


def _is_json(text: str) -> bool:
    json.loads(text)
    return True


#: Each raises ValueError or returns False for a text that does not have the format.
FORMATS: dict[str, Callable[[str], bool]] = {
    "uri": _is_uri,
    "iri": _is_iri,
    "uri-reference": lambda text: text.isascii() and _is_iri_reference(text),
    "iri-reference": _is_iri_reference,
    "email": _is_email,
    "idn-email": _is_email,
    "hostname": _is_hostname,
    "idn-hostname": _is_idn_hostname,
    "ipv4": lambda text: bool(ipaddress.IPv4Address(text)) or True,
    "ipv6": lambda text: bool(ipaddress.IPv6Address(text)) or True,
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "duration": lambda text: bool(_DURATION.match(text)),
    "uuid": lambda text: bool(_UUID.match(text)) and bool(uuid.UUID(text)) | True,
    "json-pointer": lambda text: bool(_POINTER.match(text)),
    "regex": lambda text: compile_pattern(text) is not None,
    "json-string": _is_json,
}

#: Known formats that forms use but that are not checked.
UNCHECKED_FORMATS = frozenset(
    {
        "password",
        "binary",
        "byte",
        "multiline",
        "textarea",
        "markdown",
        "file-path",
        "directory-path",
        "path",
        "artifact",
    }
)

#: Names of formats in messages.
FORMAT_NAMES = {
    "uri": "a URL such as https://example.org/page",
    "email": "an e-mail address",
    "date": "a date such as 2026-01-31",
    "date-time": "an instant such as 2026-01-31T12:00:00Z",
    "time": "a time such as 12:00:00Z",
    "uuid": "a UUID",
}


def name_of_format(name: str, text: object) -> str:
    """Return a format's name for messages, with what is wrong with a text if that is known."""
    called = FORMAT_NAMES.get(name, f"of the format {name}")
    if name in ("uri", "iri") and isinstance(text, str) and text.strip().lower().startswith(("http://", "https://")):
        try:
            read_web_address(text)
        except WebAddressError as error:
            return f"{called}: {error.reason}"
    return called


def is_of_format(text: str, name: str) -> bool:
    """Return whether a text has a format; true for unknown formats."""
    check = FORMATS.get(name)
    if check is None:
        return True
    try:
        return check(text)
    except (ValueError, RecursionError, PatternError):
        return False
