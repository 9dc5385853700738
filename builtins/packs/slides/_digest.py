"""Finds the sentences that carry a text and shortens them at clause borders; no model, the same answer every time.

Sentences are ranked by how many of the text's frequent words they hold (after H. P. Luhn, "The Automatic Creation of
Literature Abstracts", 1958), by where they stand, and by what they begin with.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .._stop_words import STOP_WORDS
from ._deck import Run, Runs, cut_everywhere, cut_runs, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Longest bullet before it is shortened, and longest that is left whole when it has no border to cut at.
BULLET_CHARACTERS = 110
WHOLE_CHARACTERS = 165

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|cf|vs|approx|ca|no|nos|fig|figs|vol|pp|p|ed|eds|dr|mr|mrs|ms|prof|st|sr|jr|inc|ltd|co|"
    r"corp|dept|est|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|z\.b|bzw|u\.a|d\.h)|\b[A-Za-z]|\b(?:[A-Za-z]\.)+[A-Za-z])\Z",
    re.IGNORECASE,
)
_END = re.compile(
    "[.!?\u2026]+[\"'\u201d\u2019)\\]]*(?:\\s*\\[\\d+\\])*(?=\\s+|$)|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d]*"
)
_ALNUM = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*", re.UNICODE)
_CONNECTIVE = re.compile(
    r"(?:however|moreover|furthermore|in addition|additionally|therefore|thus|hence|also|but|and|so|yet|still|indeed|"
    r"in fact|finally|similarly|consequently|as a result|meanwhile|instead|nevertheless|nonetheless|of course|"
    r"in other words|that said|on the other hand|likewise|accordingly|then|again|besides|overall|note that|"
    r"it is worth noting that|it should be noted that)\b,?\s+",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"(?:when|if|although|though|while|because|since|as|after|before|once|unless|until|whenever|where|whereas|despite|"
    r"without|with|by|in|on|at|from|for|during|under|over|among|instead of|unlike|like|to|through|around|between)\b",
    re.IGNORECASE,
)
_BORDER = re.compile(
    "\\s*[;:]\\s|\\s+[\u2014\u2013-]\\s|\u2014|\\.\\s"
    "|,\\s(?=(?:which|who|whose|whom|where|when|while|although|though|because|since|so|but|yet|and (?:the|it|they|its|"
    "their|that|this|he|she|we|you|is|are|was|were|has|have|can|will|so)|with|including|such as|as well as|making|"
    "giving|using|leading|allowing|causing|meaning|rather than|in order|if|unless|until|whereas|even|not|for example|"
    "for instance|especially|thanks to|due to|depending)\\b)"
    "|\\s(?=(?:because|although|whereas|so that|unless|in order to|even though|rather than)\\s)"
)
_LOOSE_END = re.compile(
    r"\s+(?:and|or|but|the|a|an|of|to|in|for|with|by|on|at|that|which|as|from|into|than|is|are)\Z", re.I
)
_PARENTHESIS = re.compile(r"\s*\([^()]*\)")
_DANGLING = re.compile(
    r"(?:this|that|these|those|it|they|he|she|such|here|there|both|another|others|one of them|his|her|its|their)\b",
    re.I,
)
_CUE = re.compile(
    r"\b(?:key|main|most|must|important|result|results|found|show|shows|showed|means|first|largest|oldest|only|never|"
    r"always|because|therefore|goal|purpose|problem|solution|reduces?|increases?|improves?|best|worst|cost|risk)\b",
    re.I,
)
_ASIDE = re.compile(
    r"(?:for example|for instance|see |note |as (?:shown|described|mentioned)|click|subscribe|photo)", re.I
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a text.

    Attributes:
        runs: Its styled text.
        first: Whether it opens its paragraph.
    """

    runs: Runs
    first: bool

    @property
    def text(self) -> str:
        """Without styles."""
        return plain(self.runs)


@functools.lru_cache(maxsize=8192)
def split_sentences(runs: Runs) -> tuple[Sentence, ...]:
    """The sentences of a paragraph, those without a letter or digit left out."""
    text = plain(runs)
    cuts = [0]
    for match in _END.finditer(text):
        if match[0].startswith(".") and not match[0].startswith(".."):
            if _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start()]) and match.end() < len(text):
                continue
            following = text[match.end() : match.end() + 8].lstrip()[:1]
            if following and following.islower():
                continue
        cuts.append(match.end())
    if cuts[-1] < len(text):
        cuts.append(len(text))
    pieces = (trimmed(piece) for piece in cut_everywhere(runs, cuts[1:-1]) if _ALNUM.search(plain(piece)))
    return tuple(Sentence(piece, first=index == 0) for index, piece in enumerate(pieces))


class Ranking:
    """How much each sentence of one text says, judged by the text as a whole."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = Counter(word for text in texts for word in content_words(text))

    def score(self, sentence: Sentence, *, first: bool, topic: str = "") -> float:
        """Higher says more; `first` when it opens its section, `topic` is the section's title."""
        words = content_words(sentence.text)
        length = len(sentence.text.split()) or max(1, len(sentence.text) // 2)
        if not words and not re.search("[\u2e80-\uffdc]", sentence.text):
            return -2.0
        weight: float = sum(math.log1p(self._counts[word]) for word in set(words)) / math.pow(max(length, 10), 0.6)
        weight += 1.1 if first else 0.45 if sentence.first else 0.0
        weight += 0.3 if re.search(r"\d", sentence.text) else 0.0
        weight += 0.25 if _CUE.search(sentence.text) else 0.0
        weight += 0.5 * len(set(words) & set(content_words(topic))) / max(1, len(content_words(topic)))
        if sentence.text.rstrip().endswith("?"):
            weight -= 0.9
        if _DANGLING.match(sentence.text):
            weight -= 0.7
        if _ASIDE.match(sentence.text):
            weight -= 0.8
        if length < 5:
            weight -= 0.8
        if len(sentence.text) > WHOLE_CHARACTERS and plain(shorten(sentence.runs)).endswith("\u2026"):
            weight -= 0.9
        return weight

    def best(self, sentences: Sequence[Sentence], count: int, *, topic: str = "") -> list[Sentence]:
        """The `count` sentences that say most, near-repetitions left out, in their own order."""
        ranked = sorted(
            range(len(sentences)),
            key=lambda index: (-self.score(sentences[index], first=index == 0, topic=topic), index),
        )
        chosen: list[int] = []
        for index in ranked:
            if len(chosen) == count:
                break
            if not any(alike(sentences[index].text, sentences[other].text) for other in chosen):
                chosen.append(index)
        return [sentences[index] for index in sorted(chosen)]

    def keywords(self, text: str, count: int) -> list[str]:
        """The words of `text` that matter most in the whole, most frequent first."""
        words = dict.fromkeys(content_words(text))
        return sorted(words, key=lambda word: -self._counts[word])[:count]


def content_words(text: str) -> list[str]:
    """Words that carry meaning, lower case, plurals folded roughly into singulars."""
    found = []
    for word in _WORD.findall(text.lower()):
        if len(word) > 2 and word not in STOP_WORDS:
            found.append(word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word)
    return found


def alike(one: str, other: str) -> bool:
    """Whether two sentences say nearly the same in the same words."""
    first, second = set(content_words(one)), set(content_words(other))
    if not first or not second:
        return one.strip() == other.strip()
    return len(first & second) / len(first | second) >= 0.7


def shorten(runs: Runs, limit: int = BULLET_CHARACTERS, whole: int = WHOLE_CHARACTERS) -> Runs:
    """A sentence as a bullet: no leading connective, no full stop, cut at a clause border when it is long.

    A word is never cut, a bracket or quotation never left open. Where there is no border, up to `whole` characters
    stay as they are; longer ones end between two words with an ellipsis.
    """
    runs = trimmed(runs)
    if (match := _CONNECTIVE.match(plain(runs))) and len(plain(runs)) - match.end() > 15:
        runs = capitalised(cut_runs(runs, match.end(), len(plain(runs))))
    runs = _without_stop(_without_references(runs))
    if len(plain(runs)) <= limit:
        return runs
    bare = _without_stop(_without_parentheses(runs))
    if len(plain(bare)) <= limit:
        return bare
    text = plain(bare)
    floor = max(36, round(limit * 0.46))
    if _SUBORDINATE.match(text):
        comma = text.find(", ")
        floor = max(floor, comma + 30) if comma > 0 else floor
    borders = [match.start() for match in _BORDER.finditer(text) if floor <= match.start() <= limit]
    for border in reversed(borders):
        if _is_closed(text[:border]) and not _splits_run(bare, border):
            return _without_stop(trimmed(cut_runs(bare, 0, border)))
    if len(text) <= whole:
        return bare
    later = [match.start() for match in _BORDER.finditer(text) if limit < match.start() <= whole]
    for border in later:
        if _is_closed(text[:border]) and not _splits_run(bare, border):
            return _without_stop(trimmed(cut_runs(bare, 0, border)))
    return _cut_between_words(bare, text, whole - 15)


def _cut_between_words(runs: Runs, text: str, limit: int) -> Runs:
    cut = limit
    while cut > 20:
        cut = text.rfind(" ", 0, cut)
        if cut < 20:
            cut = limit if not re.match(r"\w", text[limit : limit + 1]) or text[limit] >= "\u2e80" else len(text)
            break
        head = _LOOSE_END.sub("", text[:cut])
        if _is_closed(head) and not _splits_run(runs, len(head)):
            cut = len(head)
            break
    else:
        cut = len(text)
    kept = trimmed(cut_runs(runs, 0, cut))
    if cut >= len(text):
        return kept
    kept = trimmed(cut_runs(kept, 0, len(plain(kept).rstrip(",;:- \u2013\u2014"))))
    return (*kept, Run("\u2026"))


def trimmed(runs: Runs) -> Runs:
    """Without white space at the ends."""
    text = plain(runs)
    return cut_runs(runs, len(text) - len(text.lstrip()), len(text.rstrip()))


def capitalised(runs: Runs) -> Runs:
    """With a capital at the start, unless it starts with code."""
    if not runs or runs[0].code:
        return runs
    return (replace(runs[0], text=runs[0].text[:1].upper() + runs[0].text[1:]), *runs[1:])


def _without_stop(runs: Runs) -> Runs:
    text = plain(runs).rstrip()
    if (
        text.endswith((".", ";", ":", ","))
        and not text.endswith("..")
        and not re.search(r"\b(?:etc|[A-Za-z]\.[A-Za-z])\.\Z", text)
    ):
        return trimmed(cut_runs(runs, 0, len(text) - 1))
    return cut_runs(runs, 0, len(text))


def _without_references(runs: Runs) -> Runs:
    """Without bare reference marks such as [12] that are no links."""
    text = plain(runs)
    return _dropped(runs, [(m.start(), m.end()) for m in re.finditer(r"\s*\[(?:\d{1,3}|edit|citation needed)\]", text)])


def _without_parentheses(runs: Runs) -> Runs:
    """Without asides in round brackets, those that hold links kept."""
    spans = []
    for match in _PARENTHESIS.finditer(plain(runs)):
        if not any(run.href for run in cut_runs(runs, match.start(), match.end())):
            spans.append((match.start(), match.end()))
    return _dropped(runs, spans)


def _dropped(runs: Runs, spans: list[tuple[int, int]]) -> Runs:
    for start, end in reversed(spans):
        runs = (*cut_runs(runs, 0, start), *cut_runs(runs, end, len(plain(runs))))
    return runs


def _is_closed(text: str) -> bool:
    """Whether every bracket and quotation opened is closed again."""
    pairs = (("(", ")"), ("[", "]"), ("\u201c", "\u201d"), ("\u00ab", "\u00bb"))
    return all(text.count(one) == text.count(other) for one, other in pairs) and text.count('"') % 2 == 0


def _splits_run(runs: Runs, position: int) -> bool:
    """Whether `position` lies inside a link or code, which lose their meaning when cut."""
    start = 0
    for run in runs:
        end = start + len(run.text)
        if start < position < end:
            return bool(run.href or run.code)
        start = end
    return False
