"""Which of the found pages is about a statement, by the words they share (BM25)."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._stop_words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._search import Hit
    from ._claims import Claim

#: BM25's usual parameters (Robertson and Zaragoza 2009, §3.2).
_K1, _B = 1.2, 0.75

#: Share of the statement's words, weighted by how telling they are, that a page must have to be named.
MIN_COVERAGE = 0.4
MIN_SHARED_WORDS = 3

#: Runs of East Asian characters, written without spaces, apart from everything else.
_EAST_ASIAN = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_EAST_ASIAN}]+|[^\\W_{_EAST_ASIAN}]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class Match:
    """The best passage of a page for a statement; `coverage` is the weighted share of its words found there, 0 to 1."""

    hit: Hit
    passage: str
    score: float
    coverage: float


def terms(text: str) -> list[str]:
    """Words that carry meaning, lower case, cut to a stem; pairs of characters where there are no spaces."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if len(word) < 2 or word in STOP_WORDS:
            continue
        if "\u3040" <= word[0] <= "\ufaff":
            found.extend(word[start : start + 2] for start in range(len(word) - 1))
        else:
            found.append(_stem(word))
    return found


def ranked(query: str, texts: Sequence[str]) -> list[tuple[float, int]]:
    """Score and place of every text that shares a telling word with the query, best first (BM25)."""
    wanted = list(dict.fromkeys(terms(query)))
    documents = [Counter(terms(text)) for text in texts]
    if not wanted or not documents:
        return []
    weights = _weights(wanted, documents)
    mean_length = sum(counts.total() for counts in documents) / len(documents) or 1.0
    scores = [
        (_bm25([term for term in wanted if counts[term]], weights, counts, mean_length), place)
        for place, counts in enumerate(documents)
    ]
    return sorted(((score, place) for score, place in scores if score > 0), key=lambda pair: (-pair[0], pair[1]))


def _stem(word: str) -> str:
    """A light stemmer: plural and verb endings, enough to make `towers` meet `tower`."""
    for ending in ("ing", "edly", "ed", "ies", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word


def passages(hit: Hit) -> list[str]:
    """The page's text in windows of two sentences."""
    sentences = _SENTENCE.split(hit.snippet) if hit.snippet else []
    return (
        [" ".join(sentences[start : start + 2]) for start in range(max(len(sentences) - 1, 1))] if sentences else [""]
    )


def best_match(claim: Claim, hits: Sequence[Hit]) -> Match | None:
    """The page most about the claim, or None when none shares enough of its words.

    A page must have at least three of the claim's words, 40 % of them by weight, and one of its names or years where
    it has any.
    """
    wanted = list(dict.fromkeys(terms(claim.text)))
    marks = {term for mark in (*claim.names, *claim.years) for term in terms(mark)}
    documents = [(hit, text, Counter(terms(f"{hit.title} {text}"))) for hit in hits for text in passages(hit)]
    if not wanted or not documents:
        return None
    weights = _weights(wanted, [counts for _, _, counts in documents])
    total = sum(weights.values())
    mean_length = sum(counts.total() for _, _, counts in documents) / len(documents) or 1.0
    matches = []
    for hit, text, counts in documents:
        shared = [term for term in wanted if counts[term]]
        coverage = sum(weights[term] for term in shared) / total
        if len(shared) < MIN_SHARED_WORDS or coverage < MIN_COVERAGE or (marks and not marks & set(shared)):
            continue
        matches.append(Match(hit, text, _bm25(shared, weights, counts, mean_length), round(coverage, 2)))
    return max(matches, key=lambda match: match.score, default=None)


def _weights(wanted: Iterable[str], documents: Sequence[Counter[str]]) -> dict[str, float]:
    """Inverse document frequency over what was found, never below a floor: all hits share what was searched for."""
    count = len(documents)
    found = {term: sum(term in document for document in documents) for term in wanted}
    return {term: math.log(1 + (count - seen + 0.5) / (seen + 0.5)) + 0.5 for term, seen in found.items()}


def _bm25(shared: Iterable[str], weights: dict[str, float], counts: Counter[str], mean_length: float) -> float:
    length = _K1 * (1 - _B + _B * counts.total() / mean_length)
    return sum(weights[term] * counts[term] * (_K1 + 1) / (counts[term] + length) for term in shared)
