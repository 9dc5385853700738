"""The one choke point that masks secrets before anything is kept or shown.

Two kinds of thing are masked: **known values** (what the vault holds) in raw, URL, JSON, base64 and hexadecimal form,
and **tokens** recognised by their anchored shape. A character is masked when any match covers it, so overlapping
secrets leave nothing of each other behind. What a model paraphrases or encodes otherwise is out of reach.

Clean data is the common case and costs one serialisation and one pass of an Aho-Corasick automaton over known values
and the fixed parts of tokens; only when that hits is each string looked at.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

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

#: An excerpt of a longer text is masked in parts of this many characters, so that the rest costs nothing.
_PART_CHARACTERS = 1 << 16


@dataclass(frozen=True, slots=True)
class _Known:
    """What one state of a redactor looks for; replaced as a whole, so that threads never see half of a change.

    Attributes:
        forms: The ways known values may be written, with the name of each.
        in_files: The forms as they stand in files; None while there are none.
        halves: Finds the first halves of forms, `by_half` the forms that begin with each.
        pieces: Finds pieces of forms.
        in_json: Finds the needles inside serialised JSON, where quotes and control characters are escaped.
    """

    forms: dict[str, str]
    found_as: list[tuple[str | None, tuple[Token, ...]]]
    needles: AhoCorasick
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
        needles = [*forms, *(anchor for anchor in TOKENS_AT if anchor not in forms)]
        escaped = sorted({orjson.dumps(needle)[1:-1] for needle in needles if needle != "://"})
        by_head: dict[str, list[str]] = {}
        for form in forms:
            by_head.setdefault(form[:MIN_SECRET_LENGTH], []).append(form)
        by_half: dict[str, list[str]] = {}
        for form in forms:
            by_half.setdefault(form[: (len(form) + 1) // 2], []).append(form)
        return cls(
            forms=forms,
            found_as=[(forms.get(needle), TOKENS_AT.get(needle, ())) for needle in needles],
            needles=AhoCorasick(needles, implementation=implementation_for(needles)),
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
        self._known = _Known.of(all_forms({}, secrets or {}))

    def learn(self, secrets: Mapping[str, str]) -> bool:
        """Mask these values too, from now on and wherever this redactor is in use; whether any was new.

        Nothing is ever unlearned: what runs now may still hold a value that was replaced or deleted.

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
        """What finds known values in the bytes of a file; None while there are none to find."""
        needles = self._known.in_files
        return None if needles is None else SecretFinder(needles)

    def text(self, text: str) -> str:
        """The text with every secret masked; the same object when there is none."""
        text = _well_formed(text)
        return _masked(text, self._spans(text), 0, len(text))

    def value(self, value: JSONValue, data: bytes | None = None) -> JSONValue:
        """The value with every secret masked, in keys too; the same object when there is none.

        A key that collides with another after masking is numbered.

        Args:
            value: What may hold secrets.
            data: The same as `orjson` wrote it, where somebody did already.
        """
        if data is None:
            try:
                data = orjson.dumps(value)
            except TypeError:  # integers beyond 64 bits, lone surrogates, very deep: look at every string
                return self._walk(value, self.text)
        in_json = self._known.in_json
        if not in_json.find_matches_as_indexes(data) and not (b"@" in data and URL_PASSWORD.search(data)):
            return value
        return self._walk(value, self.text)

    def quoted(self, value: JSONValue) -> JSONValue:
        """As `value`, for messages of others: also masks pieces of known values.

        Not for outputs: one may hold the beginning of a secret address on purpose.
        """
        return self._walk(value, self.message)

    def message(self, text: str) -> str:
        """One text masked as `quoted` does."""
        return self.without_pieces(self.text(text))

    def excerpt(self, text: str, limit: int, *, ending: str = "…", from_end: bool = False) -> str:
        """The beginning or end of a message from outside, masked as `quoted` does and only then cut.

        Args:
            text: From outside.
            limit: Longest excerpt, in characters.
            ending: Marks where text was left out; counts towards the limit.
            from_end: Return the end of the text instead.
        """
        masked = self.text(text) if from_end else self.beginning(text, limit)
        return cut(self.without_pieces(masked), limit, ending, from_end=from_end)

    def without_pieces(self, masked: str) -> str:
        """A masked text with pieces of known values masked, too; see `SecretPieces`."""
        return _masked(masked, _merged(self._known.pieces.spans_in(masked)), 0, len(masked))

    def beginning(self, text: str, enough: int) -> str:
        """The text masked, or a beginning of it that has more than `enough` characters."""
        if len(text) <= _PART_CHARACTERS:
            return self.text(text)
        stream, masked = self.stream(), ""
        for start in range(0, len(text), _PART_CHARACTERS):
            masked += stream.feed(text[start : start + _PART_CHARACTERS])
            if len(masked) > enough:
                return masked
        return masked + stream.close()

    def stream(self) -> StreamRedactor:
        """A redactor for text that comes in parts."""
        return StreamRedactor(self)

    def texts(self) -> TextsRedactor:
        """A redactor for texts that come one after the other."""
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
        return mask(str(value))  # no JSON, whatever its type says

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
        """What is to be masked from `start` on, merged where matches overlap, in order."""
        found: list[Span] = []
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
        return _merged(found)

    def _undecided_from(self, text: str, start: int, spans: list[Span]) -> int:
        """Where the part begins that text yet to come may still turn into a secret, or into a longer one."""
        earliest = max(start, len(text) - MAX_TOKEN_LENGTH)
        tail = text[earliest:]
        word = tail.rsplit(None, 1)[-1] if tail and not tail[-1].isspace() else ""
        cut = len(text) - len(word)  # no token but an open key block crosses white space
        key = OPEN_KEY.search(text, earliest)
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

    def _half_from(self, text: str) -> tuple[int, str] | None:
        """Where the end of the text begins that is half of a known form or more of it, and the form's name."""
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
    """Masks secrets in text that comes in parts; what comes out does not depend on where the parts were cut.

    The end of what arrived is held back while it may be the start of a secret: at most the last word, the start of a
    known value, or a key block whose end is missing.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._buffer = ""
        self._sent = 0  # the start of the buffer that is out already, kept for patterns that look behind

    def feed(self, chunk: str) -> str:
        """Take a part and return what is certain by now, possibly nothing."""
        self._buffer += _well_formed(chunk)
        spans = self._redactor._spans(self._buffer, self._sent)
        return self._emit(self._redactor._undecided_from(self._buffer, self._sent, spans), spans)

    @property
    def rest(self) -> str:
        """What is held back, as it came."""
        return self._buffer[self._sent :]

    def close(self) -> str:
        """Return the rest. The stream may be fed again, as a new one."""
        rest = self._emit(len(self._buffer), self._redactor._spans(self._buffer, self._sent))
        self._buffer, self._sent = "", 0
        return rest

    def _emit(self, end: int, spans: list[Span]) -> str:
        out = _masked(self._buffer, [span for span in spans if span[1] <= end], self._sent, end)
        keep = max(0, end - LOOK_BEHIND)
        self._buffer, self._sent = self._buffer[keep:], end - keep
        return out


class TextsRedactor:
    """Masks secrets in texts that come one after the other, such as messages; one spread over several of them, too.

    Each text goes out when it comes. So an end that is half of a known value, or more, is masked as if the rest were
    there, and so is what goes on at the next text's beginning: of a value in pieces less than half is to be seen.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._open = ""  # the end of what came so far that a known value begins with

    @property
    def is_open(self) -> bool:
        """Whether the next text may go on with a value."""
        return bool(self._open)

    def text(self, text: str) -> str:
        """The next text, masked; the same object when there is nothing to mask."""
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
    """Spans in order, those that overlap as one."""
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
    """The text between `start` and `end` with spans replaced; the text itself when that is all of it."""
    if not spans:
        return text if start == 0 and end == len(text) else text[start:end]
    parts: list[str] = []
    for begin, stop, name in spans:
        parts += (text[start:begin], f"[redacted:{name}]")
        start = stop
    parts.append(text[start:end])
    return "".join(parts)


def _well_formed(text: str) -> str:
    """The text itself, or without the lone surrogates that nothing downstream could store."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
