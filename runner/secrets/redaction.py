"""Masks secrets in everything before it is stored or shown.

It masks **known values** (those in the vault) in raw, URL, JSON, base64 and hexadecimal form, and **tokens** recognized
by their shape. A character is masked when any match covers it, so that overlapping secrets leave nothing of each other
behind. Paraphrases and other encodings, such as a model may write, are not found.

Clean data is the common case and costs one serialization and one pass of an Aho-Corasick automaton over known values
and the fixed parts of tokens; only after a hit is each string checked.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import orjson
from ahocorasick_rs import AhoCorasick, BytesAhoCorasick

from runner.excerpts import cut
from runner.secrets.finder import SecretFinder, SecretPatterns, implementation_for
from runner.secrets.forms import MIN_SECRET_LENGTH, all_forms
from runner.secrets.pieces import SecretPieces
from runner.secrets.token_shapes import LOOK_BEHIND, MAX_TOKEN_LENGTH, OPEN_KEY, TOKENS_AT, URL_PASSWORD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.failures import JSONValue
    from runner.secrets.token_shapes import Span, Token

#: For an excerpt, a longer text is masked in parts of this many characters, so that the rest costs nothing.
_PART_CHARACTERS = 1 << 16


@dataclass(frozen=True, slots=True)
class _Known:
    """The patterns of a redactor; replaced as a whole, so that threads never see half of a change.

    Attributes:
        forms: The forms of known values, with the name of each.
        in_files: The forms as bytes in files; None while there are none.
        halves: Finds the first halves of forms; `by_half` has the forms that begin with each.
        pieces: Finds pieces of forms.
        in_json: Finds the patterns inside serialized JSON, where quotes and control characters are escaped.
    """

    forms: dict[str, str]
    found_as: list[tuple[str | None, tuple[Token, ...]]]
    patterns: AhoCorasick
    in_json: BytesAhoCorasick
    in_files: SecretPatterns | None
    longest: int
    by_head: dict[str, list[str]]
    heads: AhoCorasick
    head_starts: frozenset[str]
    by_half: dict[str, list[str]]
    halves: AhoCorasick
    pieces: SecretPieces

    @classmethod
    def of(cls, forms: dict[str, str]) -> _Known:
        patterns = [*forms, *(anchor for anchor in TOKENS_AT if anchor not in forms)]
        escaped = sorted({orjson.dumps(pattern)[1:-1] for pattern in patterns if pattern != "://"})
        by_head: dict[str, list[str]] = {}
        for form in forms:
            by_head.setdefault(form[:MIN_SECRET_LENGTH], []).append(form)
        by_half: dict[str, list[str]] = {}
        for form in forms:
            by_half.setdefault(form[: (len(form) + 1) // 2], []).append(form)
        return cls(
            forms=forms,
            found_as=[(forms.get(pattern), TOKENS_AT.get(pattern, ())) for pattern in patterns],
            patterns=AhoCorasick(patterns, implementation=implementation_for(patterns)),
            in_json=BytesAhoCorasick(escaped, implementation=implementation_for(escaped)),
            in_files=SecretPatterns.of(forms),
            longest=max(map(len, forms), default=0),
            by_head=by_head,
            heads=AhoCorasick(by_head),
            head_starts=frozenset(head[:length] for head in by_head for length in range(1, MIN_SECRET_LENGTH)),
            by_half=by_half,
            halves=AhoCorasick(by_half),
            pieces=SecretPieces(forms),
        )


#: What a secret is replaced with.
MASK: Final = re.compile(r"\[redacted:[^\[\]]*\]")


class Redactor:
    """Masks secrets in text and JSON as `[redacted:name]`. Thread-safe.

    Args:
        secrets: The secrets by name; names appear in masks.

    Raises:
        SecretTooShortError: naming the secret.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._learning = threading.Lock()
        self._known = _Known.of(all_forms({}, secrets or {}))

    def learn(self, secrets: Mapping[str, str]) -> bool:
        """Add values to mask from now on; return whether any was new.

        Values are never removed: active runs may still hold one that was replaced or deleted.

        Raises:
            SecretTooShortError: naming the secret; none was learned.
        """
        with self._learning:
            forms = all_forms(self._known.forms, secrets)
            if len(forms) == len(self._known.forms):
                return False
            self._known = _Known.of(forms)
            return True

    def finder(self) -> SecretFinder | None:
        """Return a finder of known values in files; None while there are no known values."""
        patterns = self._known.in_files
        return None if patterns is None else SecretFinder(patterns)

    def text(self, text: str) -> str:
        """Return the text with every secret masked; the same object when there is none."""
        text = _well_formed(text)
        return _masked(text, self._spans(text), 0, len(text))

    def value(self, value: JSONValue, data: bytes | None = None) -> JSONValue:
        """Return the value with every secret masked, in keys too; the same object when there is none.

        A key that equals another after masking is numbered.

        Args:
            value: The JSON value.
            data: The value serialized by `orjson`, if the caller has it.
        """
        if data is None:
            try:
                data = orjson.dumps(value)
            except TypeError:  # integers beyond 64 bits, lone surrogates, deep nesting: check every string
                return self._walk(value, self.text)
        in_json = self._known.in_json
        if not in_json.find_matches_as_indexes(data) and not (b"@" in data and URL_PASSWORD.search(data)):
            return value
        return self._walk(value, self.text)

    def quoted(self, value: JSONValue) -> JSONValue:
        """Mask as `value` does, and pieces of known values, too; for messages of other programs.

        Not for outputs, which may contain the beginning of a secret address on purpose.
        """
        return self._walk(value, self.message)

    def message(self, text: str) -> str:
        """Mask one text as `quoted` does."""
        return self.without_pieces(self.text(text))

    def excerpt(self, text: str, limit: int, *, ending: str = "…", from_end: bool = False) -> str:
        """Return the beginning or end of another program's message, masked as `quoted` does and only then cut.

        Args:
            text: The message.
            limit: Longest excerpt, in characters.
            ending: Marks where text was left out; counts towards the limit.
            from_end: Return the end of the text instead.
        """
        masked = self.text(text) if from_end else self.beginning(text, limit)
        return cut(self.without_pieces(masked), limit, ending, from_end=from_end)

    def without_pieces(self, masked: str) -> str:
        """Mask pieces of known values in a masked text; see `SecretPieces`."""
        return _masked(masked, _merged(self._known.pieces.spans_in(masked)), 0, len(masked))

    def beginning(self, text: str, enough: int) -> str:
        """Return the masked text, or a beginning of it with more than `enough` characters."""
        if len(text) <= _PART_CHARACTERS:
            return self.text(text)
        stream, masked = self.stream(), ""
        for start in range(0, len(text), _PART_CHARACTERS):
            masked += stream.feed(text[start : start + _PART_CHARACTERS])
            if len(masked) > enough:
                return masked
        return masked + stream.close()

    def stream(self) -> StreamRedactor:
        """Return a redactor for a text that comes in chunks."""
        return StreamRedactor(self)

    def texts(self) -> TextsRedactor:
        """Return a redactor for texts that come one after another."""
        return TextsRedactor(self)

    def _walk(self, value: JSONValue, mask: Callable[[str], str]) -> JSONValue:
        match value:
            case str():
                return mask(value)
            case list() | tuple():
                items = [self._walk(item, mask) for item in value]
                return value if all(new is old for new, old in zip(items, value, strict=True)) else items
            case dict():
                return self._walk_object(value, mask)
            case bool() | int() | float() | None:
                return value
        return mask(str(value))  # not JSON, despite its declared type

    def _walk_object(self, value: dict[str, JSONValue], mask: Callable[[str], str]) -> dict[str, JSONValue]:
        result: dict[str, JSONValue] = {}
        changed = False
        for key, item in value.items():
            new_key, new_item = mask(key), self._walk(item, mask)
            changed |= new_key is not key or new_item is not item
            number = 2
            unique = new_key
            while unique in result or (unique is not key and unique in value):
                unique, number = f"{new_key}#{number}", number + 1
            result[unique] = new_item
        return result if changed else value

    def _spans(self, text: str, start: int = 0) -> list[Span]:
        """Return the spans to mask from `start` on, in order, with overlapping ones merged."""
        values: list[Span] = []
        shapes: list[Span] = []
        known = self._known
        for index, begin, end in known.patterns.find_matches_as_indexes(text, overlapping=True):
            name, tokens = known.found_as[index]
            if name is not None:
                values.append((begin, end, name))
            for token in tokens:
                span = token.span_at(text, begin, end)
                if span is not None:
                    shapes.append(span)
        found = [*values, *shapes]  # of two equal spans the first names the mask: a value's name says more
        if start:
            found = [span for span in found if span[0] >= start]
        return _merged(found)

    def _undecided_from(self, text: str, start: int, spans: list[Span]) -> int:
        """Return where the part begins that later text may still extend to a secret, or to a longer one."""
        earliest = max(start, len(text) - MAX_TOKEN_LENGTH)
        tail = text[earliest:]
        word = tail.rsplit(None, 1)[-1] if tail and not tail[-1].isspace() else ""
        cut = len(text) - len(word)  # of all tokens only an open key block contains white space
        key = OPEN_KEY.search(text, earliest)
        if key is not None:
            cut = min(cut, key.start())
        cut = min(cut, self._form_from(text, start))
        index = bisect_left(spans, cut, key=lambda span: span[1])
        if index < len(spans) and spans[index][0] < cut:
            cut = spans[index][0]
        return cut

    def _form_from(self, text: str, start: int) -> int:
        """Return where the longest end of the text starts that is the beginning of a known form; its length if none."""
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

    def _half_from(self, text: str) -> tuple[int, str] | None:
        """Return where the text's end starts that is at least half of a known form, and the form's name."""
        known = self._known
        earliest = max(0, len(text) - known.longest + 1)
        tail = text[earliest:]
        for _, begin, end in known.halves.find_matches_as_indexes(tail, overlapping=True):
            rest = tail[begin:]
            for form in known.by_half[tail[begin:end]]:
                if form != rest and form.startswith(rest):
                    return earliest + begin, known.forms[form]
        return None


class StreamRedactor:
    """Masks secrets in a text that comes in chunks; the result does not depend on where the chunks end.

    The end of the text is held back while it may be the start of a secret: at most the last word, the start of a known
    value, or a key block whose end is missing.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._buffer = ""
        self._sent = 0  # length of the buffer's start that was already returned, kept for patterns that look behind

    def feed(self, chunk: str) -> str:
        """Take a chunk; return the text that is certain by now, possibly empty."""
        self._buffer += _well_formed(chunk)
        spans = self._redactor._spans(self._buffer, self._sent)
        return self._emit(self._redactor._undecided_from(self._buffer, self._sent, spans), spans)

    @property
    def rest(self) -> str:
        """The text that is held back, unmasked."""
        return self._buffer[self._sent :]

    def close(self) -> str:
        """Return the rest; after that the redactor can be fed a new text."""
        rest = self._emit(len(self._buffer), self._redactor._spans(self._buffer, self._sent))
        self._buffer, self._sent = "", 0
        return rest

    def _emit(self, end: int, spans: list[Span]) -> str:
        out = _masked(self._buffer, [span for span in spans if span[1] <= end], self._sent, end)
        keep = max(0, end - LOOK_BEHIND)
        self._buffer, self._sent = self._buffer[keep:], end - keep
        return out


class TextsRedactor:
    """Masks secrets in texts that come one after another, such as messages, also secrets spread over several texts.

    No text is held back. So a text's end that is at least half of a known value is masked as if the rest were there,
    and so is its continuation at the beginning of the next text: less than half of a value stays visible.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._open = ""  # the end of what came so far that a known value begins with

    @property
    def is_open(self) -> bool:
        """Whether the next text may continue a value."""
        return bool(self._open)

    def text(self, text: str) -> str:
        """Return the next text, masked; the same object when there is nothing to mask."""
        redactor, text = self._redactor, _well_formed(text)
        start, whole = len(self._open), self._open + text
        spans = redactor._spans(text)
        further: list[Span] = []
        if start:
            crossing = (span for span in redactor._spans(whole) if span[0] < start < span[1])
            further = [(0, end - start, name) for _, end, name in crossing]
        if (half := redactor._half_from(whole)) is not None:
            further.append((max(half[0] - start, 0), len(text), half[1]))
        self._open = whole[redactor._form_from(whole, 0) :]
        return _masked(text, _merged([*spans, *further]) if further else spans, 0, len(text))


def _merged(found: list[Span]) -> list[Span]:
    """Sort spans and merge overlapping ones."""
    if len(found) < 2:
        return found
    found.sort(key=lambda span: (span[0], -span[1]))
    merged: list[Span] = []
    for begin, end, name in found:
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end), merged[-1][2])
        else:
            merged.append((begin, end, name))
    return merged


def _masked(text: str, spans: list[Span], start: int, end: int) -> str:
    """Return the text between `start` and `end` with spans replaced; the same object when nothing changes."""
    if not spans:
        return text if start == 0 and end == len(text) else text[start:end]
    parts: list[str] = []
    for begin, stop, name in spans:
        parts += (text[start:begin], f"[redacted:{name}]")
        start = stop
    parts.append(text[start:end])
    return "".join(parts)


def _well_formed(text: str) -> str:
    """Return the text without lone surrogates, which cannot be stored."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
