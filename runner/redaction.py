"""The one choke point that masks secrets before anything is kept or shown (CONTRACT 6.6).

Two kinds of thing are masked: **known values** (what the vault holds) in raw, URL, JSON, base64 and hexadecimal form,
and **tokens** recognised by their anchored shape. A character is masked when any match covers it, so overlapping
secrets leave nothing of each other behind. What a model paraphrases or encodes otherwise is out of reach.

Clean data is the common case and costs one serialisation and one pass of an Aho-Corasick automaton over known values
and the fixed parts of tokens; only when that hits is each string looked at.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import orjson
from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, Implementation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from runner.failures import JSONValue

MIN_SECRET_LENGTH = 8
#: Lines of a multi-line secret are masked on their own from this length on; shorter ones are too common.
_MIN_LINE_LENGTH = 16
#: No token is longer; a stream never holds back more than this and the longest known form.
_MAX_TOKEN_LENGTH = 16_384
#: How far before a match its anchor, and what the pattern looks behind for, may start.
_LOOK_BEHIND = 32

_PEM_HEAD = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BODY = r"(?:(?!-----)[A-Za-z0-9+/=\s\\:,.\-]){0,16000}"
_ALONE = r"(?<![A-Za-z0-9])"
_Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class _Token:
    """A kind of token, recognised at an anchor: a fixed text it begins with, or that stands right before it.

    No pattern but the key block crosses white space, and none matches more than `_MAX_TOKEN_LENGTH` characters.
    """

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    is_after_anchor: bool = False

    def span_at(self, text: str, begin: int, end: int) -> _Span | None:
        """What to mask for an anchor found at `begin` to `end`."""
        match = self.pattern.match(text, end if self.is_after_anchor else begin)
        return None if match is None else (match.start(), match.end(), self.name)


_TOKENS = (
    _Token(
        "private_key",
        ("-----BEGIN ",),
        re.compile(rf"{_PEM_HEAD}{_PEM_BODY}(?:-----END [A-Z0-9 ]{{1,60}}-----)?"),
    ),
    _Token(
        "github_token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        re.compile(rf"{_ALONE}gh[pousr]_[A-Za-z0-9]{{30,255}}"),
    ),
    _Token("github_token", ("github_pat_",), re.compile(rf"{_ALONE}github_pat_[A-Za-z0-9_]{{50,255}}")),
    _Token("gitlab_token", ("glpat-",), re.compile(rf"{_ALONE}glpat-[A-Za-z0-9_-]{{20,255}}")),
    _Token("api_key", ("sk-",), re.compile(rf"{_ALONE}sk-(?=[A-Za-z_-]{{0,200}}[0-9])[A-Za-z0-9_-]{{20,250}}")),
    _Token(
        "stripe_key",
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_"),
        re.compile(rf"{_ALONE}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,250}}"),
    ),
    _Token(
        "slack_token",
        ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        re.compile(rf"{_ALONE}[a-z]{{4}}-[A-Za-z0-9-]{{10,250}}"),
    ),
    _Token("slack_webhook", ("hooks.slack.com/services/",), re.compile(r"[A-Za-z0-9_/+-]{20,250}"), True),
    _Token("aws_key_id", ("AKIA", "ASIA"), re.compile(rf"{_ALONE}A[KS]IA[A-Z2-7]{{16}}(?![A-Za-z0-9])")),
    _Token("google_key", ("AIza",), re.compile(rf"{_ALONE}AIza[0-9A-Za-z_-]{{35}}")),
    _Token("google_token", ("ya29.", "GOCSPX-"), re.compile(rf"{_ALONE}(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{{20,2000}}")),
    _Token("huggingface_token", ("hf_",), re.compile(rf"{_ALONE}hf_[A-Za-z0-9]{{30,250}}")),
    _Token("npm_token", ("npm_",), re.compile(rf"{_ALONE}npm_[A-Za-z0-9]{{30,250}}")),
    _Token("sendgrid_key", ("SG.",), re.compile(rf"{_ALONE}SG\.[A-Za-z0-9_-]{{16,64}}\.[A-Za-z0-9_-]{{16,64}}")),
    _Token(
        "jwt",
        ("eyJ",),
        re.compile(rf"{_ALONE}eyJ[A-Za-z0-9_-]{{5,3000}}\.eyJ[A-Za-z0-9_-]{{5,8000}}\.[A-Za-z0-9_-]{{10,2000}}"),
    ),
    _Token(
        "authorization",
        tuple(f"uthorization: {scheme} " for scheme in ("Bearer", "bearer", "Basic", "basic", "token", "Token")),
        re.compile(r"[^\s\"'\\<>]{8,4096}"),
        True,
    ),
    _Token(
        "authorization",
        ("Bearer ", "bearer "),
        re.compile(r"(?=[A-Za-z_.~+/-]{0,200}[0-9])[A-Za-z0-9_.~+/=-]{16,4096}"),
        True,
    ),
    _Token(
        "url_password",
        ("://",),
        re.compile(r"[^/\s:@\"'<>\\\[]{0,128}:[^/\s@\"'<>\\]{1,256}(?=@)"),
        True,
    ),
)
_TOKENS_AT: dict[str, tuple[_Token, ...]] = {
    anchor: tuple(token for token in _TOKENS if anchor in token.anchors)
    for anchor in sorted({anchor for token in _TOKENS for anchor in token.anchors})
}
#: `://` stands in too much clean JSON to call for a look at every string; with `@` behind it, it does.
_URL_PASSWORD = re.compile(rb"://[^/\s@\"'<>]{1,500}@")
#: A key block whose end has not arrived: its head with a body, or the start of a head.
_OPEN_KEY = re.compile(
    rf"{_PEM_HEAD}{_PEM_BODY}(?:-{{1,5}}|-----[A-Z0-9 ]{{0,70}}-{{0,4}})?\Z|-----BEGIN [A-Z0-9 ]{{0,90}}-{{0,4}}\Z"
)
_BREAK = re.compile(r"\s")


class SecretTooShortError(ValueError):
    """A secret under 8 characters cannot be masked: it would be found everywhere."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What one state of a redactor looks for; replaced as a whole, so that threads never see half of a change.

    Attributes:
        forms: The ways known values may be written, with the name of each.
        in_files: Finds the forms in bytes; None while there are none.
        in_json: Finds the needles inside serialised JSON, where quotes and control characters are escaped.
    """

    forms: dict[str, str]
    found_as: list[tuple[str | None, tuple[_Token, ...]]]
    needles: AhoCorasick
    in_json: BytesAhoCorasick
    in_files: BytesAhoCorasick | None
    file_names: list[str]
    longest: int
    longest_bytes: int
    by_head: dict[str, list[str]]
    heads: AhoCorasick
    head_starts: frozenset[str]

    @classmethod
    def of(cls, forms: dict[str, str]) -> _Known:
        needles = [*forms, *(anchor for anchor in _TOKENS_AT if anchor not in forms)]
        escaped = sorted({orjson.dumps(needle)[1:-1] for needle in needles if needle != "://"})
        by_head: dict[str, list[str]] = {}
        for form in forms:
            by_head.setdefault(form[:MIN_SECRET_LENGTH], []).append(form)
        in_bytes: dict[bytes, str] = {}
        for form, name in forms.items():
            for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
                in_bytes.setdefault(form.encode(encoding, "surrogatepass"), name)
        return cls(
            forms=forms,
            found_as=[(forms.get(needle), _TOKENS_AT.get(needle, ())) for needle in needles],
            needles=AhoCorasick(needles, implementation=_implementation(needles)),
            in_json=BytesAhoCorasick(escaped, implementation=_implementation(escaped)),
            in_files=BytesAhoCorasick(list(in_bytes), implementation=_implementation(list(in_bytes)))
            if in_bytes
            else None,
            file_names=list(in_bytes.values()),
            longest=max(map(len, forms), default=0),
            longest_bytes=max(map(len, in_bytes), default=0),
            by_head=by_head,
            heads=AhoCorasick(by_head),
            head_starts=frozenset(head[:length] for head in by_head for length in range(1, MIN_SECRET_LENGTH)),
        )


class Redactor:
    """Masks secrets in text and JSON.

    May be shared by threads. Masks read `[redacted:name]`.

    Args:
        secrets: Name to value. Names appear in masks.

    Raises:
        SecretTooShortError: naming the secret.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._learning = threading.Lock()
        self._known = _Known.of(_all_forms({}, secrets or {}))

    def learn(self, secrets: Mapping[str, str]) -> bool:
        """Masks these values too, from now on and wherever this redactor is in use; whether any was new.

        Nothing is ever unlearned: what runs now may still hold a value that was replaced or deleted.

        Raises:
            SecretTooShortError: naming the secret; none was learned.
        """
        with self._learning:
            forms = _all_forms(self._known.forms, secrets)
            if len(forms) == len(self._known.forms):
                return False
            self._known = _Known.of(forms)
            return True

    def finder(self) -> SecretFinder | None:
        """What finds known values in the bytes of a file; None while there are none to find."""
        known = self._known
        return None if known.in_files is None else SecretFinder(known.in_files, known.file_names, known.longest_bytes)

    def text(self, text: str) -> str:
        """The text with every secret masked; the same object when there is none."""
        text = _well_formed(text)
        return _masked(text, self._spans(text), 0, len(text))

    def value(self, value: JSONValue) -> JSONValue:
        """The value with every secret masked, in keys too; the same object when there is none.

        A key that collides with another after masking is numbered.
        """
        try:
            data = orjson.dumps(value)
        except TypeError:  # integers beyond 64 bits, lone surrogates, very deep: look at every string
            return self._walk(value)
        in_json = self._known.in_json
        if not in_json.find_matches_as_indexes(data) and not (b"@" in data and _URL_PASSWORD.search(data)):
            return value
        return self._walk(value)

    def stream(self) -> StreamRedactor:
        """A redactor for text that comes in parts."""
        return StreamRedactor(self)

    def _walk(self, value: JSONValue) -> JSONValue:
        match value:
            case str():
                return self.text(value)
            case list():
                items = [self._walk(item) for item in value]
                return value if all(new is old for new, old in zip(items, value, strict=True)) else items
            case dict():
                return self._walk_object(value)
        return value

    def _walk_object(self, value: dict[str, JSONValue]) -> dict[str, JSONValue]:
        result: dict[str, JSONValue] = {}
        changed = False
        for key, item in value.items():
            new_key, new_item = self.text(key), self._walk(item)
            changed |= new_key is not key or new_item is not item
            number = 2
            unique = new_key
            while unique in result or (unique is not key and unique in value):
                unique, number = f"{new_key}#{number}", number + 1
            result[unique] = new_item
        return result if changed else value

    def _spans(self, text: str, start: int = 0) -> list[_Span]:
        """What is to be masked from `start` on, merged where matches overlap, in order."""
        found: list[_Span] = []
        known = self._known
        for index, begin, end in known.needles.find_matches_as_indexes(text, overlapping=True):
            name, tokens = known.found_as[index]
            if name is not None:
                found.append((begin, end, name))
            for token in tokens:
                span = token.span_at(text, begin, end)
                if span is not None:
                    found.append(span)
        if start:
            found = [span for span in found if span[0] >= start]
        found.sort(key=lambda span: (span[0], -span[1]))
        merged: list[_Span] = []
        for begin, end, name in found:
            if merged and begin < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end), merged[-1][2])
            else:
                merged.append((begin, end, name))
        return merged

    def _undecided_from(self, text: str, start: int, spans: list[_Span]) -> int:
        """Where the part begins that text yet to come may still turn into a secret, or into a longer one."""
        earliest = max(start, len(text) - _MAX_TOKEN_LENGTH)
        cut = earliest
        for match in _BREAK.finditer(text, earliest):
            cut = match.end()
        key = _OPEN_KEY.search(text, earliest)
        if key is not None:
            cut = min(cut, key.start())
        cut = min(cut, self._form_from(text, start))
        index = bisect_left(spans, cut, key=lambda span: span[1])
        if index < len(spans) and spans[index][0] < cut:
            cut = spans[index][0]
        return cut

    def _form_from(self, text: str, start: int) -> int:
        """Where the longest end of the text begins that a known form begins with; the text's length if none does."""
        known = self._known
        if not known.longest:
            return len(text)
        earliest = max(start, len(text) - known.longest + 1)
        tail = text[earliest:]
        for _, begin, _ in known.heads.find_matches_as_indexes(tail, overlapping=True):
            rest = tail[begin:]
            if any(form.startswith(rest) for form in known.by_head[rest[:MIN_SECRET_LENGTH]] if form != rest):
                return earliest + begin
        for length in range(min(MIN_SECRET_LENGTH - 1, len(tail)), 0, -1):
            if tail[-length:] in known.head_starts:
                return len(text) - length
        return len(text)


class SecretFinder:
    """Finds known values in a file that comes in parts, whatever kind of file it is; changes nothing."""

    def __init__(self, needles: BytesAhoCorasick, names: Sequence[str], longest: int) -> None:
        self._needles = needles
        self._names = names
        self._keep = longest - 1
        self._tail = b""

    def begin(self) -> None:
        """Begins another file."""
        self._tail = b""

    def feed(self, chunk: bytes) -> str | None:
        """Takes a part; the name of a secret in it, or across its beginning, or None."""
        data = self._tail + chunk
        found = self._needles.find_matches_as_indexes(data)
        if found:
            return self._names[found[0][0]]
        self._tail = data[-self._keep :] if self._keep else b""
        return None


class StreamRedactor:
    """Masks secrets in text that comes in parts; what comes out does not depend on where the parts were cut.

    The end of what arrived is held back while it may be the start of a secret: at most the last word, the start of a
    known value, or a key block whose end is missing.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._buffer = ""
        self._sent = 0  # the start of the buffer that is out already, kept for patterns that look behind

    def feed(self, chunk: str) -> str:
        """Takes a part and returns what is certain by now, possibly nothing."""
        self._buffer += _well_formed(chunk)
        spans = self._redactor._spans(self._buffer, self._sent)
        return self._emit(self._redactor._undecided_from(self._buffer, self._sent, spans), spans)

    def close(self) -> str:
        """Returns the rest. The stream may be fed again, as a new one."""
        rest = self._emit(len(self._buffer), self._redactor._spans(self._buffer, self._sent))
        self._buffer, self._sent = "", 0
        return rest

    def _emit(self, end: int, spans: list[_Span]) -> str:
        out = _masked(self._buffer, [span for span in spans if span[1] <= end], self._sent, end)
        keep = max(0, end - _LOOK_BEHIND)
        self._buffer, self._sent = self._buffer[keep:], end - keep
        return out


def _masked(text: str, spans: list[_Span], start: int, end: int) -> str:
    """The text between `start` and `end` with spans replaced; the text itself when that is all of it."""
    if not spans:
        return text if start == 0 and end == len(text) else text[start:end]
    parts: list[str] = []
    for begin, stop, name in spans:
        parts += (text[start:begin], f"[redacted:{name}]")
        start = stop
    parts.append(text[start:end])
    return "".join(parts)


def _all_forms(known: Mapping[str, str], secrets: Mapping[str, str]) -> dict[str, str]:
    """The forms of known values and of further ones, with the name each is masked by."""
    forms = dict(known)
    for name, value in secrets.items():
        if len(value) < MIN_SECRET_LENGTH:
            raise SecretTooShortError(f"Secret `{name}` has {len(value)} characters; at least 8 are needed.")
        for form in forms_of(value):
            forms.setdefault(form, name)
    return forms


def forms_of(secret: str) -> set[str]:
    """The ways a known value may be written: as it is, in URLs, JSON (once and twice), base64 and hexadecimal.

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
        forms |= {value, value.strip()}
        forms |= _url_forms(value)
        for escaped in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
            forms |= {escaped, json.dumps(escaped)[1:-1], escaped.replace("/", "\\/")}
        data = value.encode("utf-8", "surrogatepass")
        forms |= {data.hex(), data.hex().upper()}
        forms |= set(_base64_forms(data))
    return {form for form in forms if len(form) >= MIN_SECRET_LENGTH}


def _url_forms(value: str) -> set[str]:
    text = value.encode("utf-8", "replace")
    forms = {quote(text, safe=""), quote(text), quote_plus(text)}
    return forms | {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), form) for form in forms}


def _base64_forms(data: bytes) -> Iterator[str]:
    for offset in range(3):
        text = base64.b64encode(bytes(offset) + data).decode()
        # Characters all of whose 6 bits come from the secret.
        core = text[-(-8 * offset // 6) : 8 * (offset + len(data)) // 6]
        yield core
        yield core.replace("+", "-").replace("/", "_")


def _well_formed(text: str) -> str:
    """The text itself, or without the lone surrogates that nothing downstream could store."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _implementation(needles: Sequence[str] | Sequence[bytes]) -> Implementation:
    """The fastest automaton that stays small: a DFA takes about 1 KiB per character of its needles."""
    return Implementation.DFA if sum(map(len, needles)) < 4000 else Implementation.ContiguousNFA
