"""Splits texts into words for routing: folded, stemmed, without stop words. Pure.

Case and accents are folded and English endings removed, so that `Präsentation`, `presentations` and `presented` become
similar or equal. Synonyms are learned from the catalog (`catalog.routing.index`) and listed in
`catalog.routing.concepts`; misspelt and foreign words are compared by their letters.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Length of the letter n-grams by which words are compared; shorter ones distinguish too little.
GRAM = 3
#: Shortest word that is compared by its letters.
MIN_FUZZY_LENGTH = 4
#: Similarity of a word to a compound that it begins or ends.
PART_LIKENESS = 0.72
_WORD = re.compile(r"[^\W_]+")
_VOWEL = re.compile(r"[aeiouy]")
#: English stop words.
_ENGLISH_EMPTY_WORDS = (
    "a about again all also am an and any are as at be been but by can could did do does dont else for from get "
    "getting give go going got gimme had has have having he help her hey hi here his how i id if ill im in into is it "
    "its ive just kind let like lot make makes making may maybe me might mine more much must my need needs no not of "
    "off ok on one only onto or our out over please pls put really s say see she should so some something such sure t "
    "take than thank thanks that thats the their them then there these they thing things this those to too try two up "
    "us use using very via want wants was way we well were what whatever whats when which while who will with without "
    "would you your am u ur tomorrow today yesterday monday tuesday wednesday thursday friday"
)
#: Stop words of German, French, Spanish and Italian, which are common in requests.
_FOREIGN_EMPTY_WORDS = (
    "aus auf bitte das dass daraus dazu dem den der des die dies diese dieser ein eine einem einen einer eines "
    "einfach es fur ich im ist mach machen mal man mein meine meinem meinen meiner mich mir mit noch oder schon sein "
    "sich sind soll uber um und uns unser unsere unserem von vom wie will wir zu zum zur bei nach erstellen erstelle "
    "brauche moche au aux avec ce ces cette dans de du elle en est et fais faire il je la le les leur ma mes moi mon "
    "nous par partir pour quel qui sa se ses sur svp un une veux voudrais vous y al como con crear del el este esta "
    "esto favor haz hacer las los mi mis necesito para por que quiero sobre su sus una unos di il lo gli per vorrei "
    "della delle"
)
EMPTY_WORDS = frozenset((*_ENGLISH_EMPTY_WORDS.split(), *_FOREIGN_EMPTY_WORDS.split()))
#: Endings, longest first, with the letters that must remain.
_ENDINGS = (("ing", 3), ("ies", 2), ("ers", 3), ("ors", 4), ("ion", 3), ("ed", 3), ("er", 3), ("or", 4), ("ly", 4))


def fold(text: str) -> str:
    """Return a text in lower case without accents and apostrophes."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).replace("'", "").replace("\u2019", "")


@functools.lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a word: the same for most of its English forms, and not meant to be shown."""
    if len(word) <= 3 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    stripped = False
    for ending, left in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= left and _VOWEL.search(word[: -len(ending)]):
            word = word[: -len(ending)]
            stripped = True
            break
    if word.endswith("e") and len(word) > 3:
        word, stripped = word[:-1], True
    if stripped and word.endswith("at") and len(word) > 5:
        word = word[:-2]
    if stripped and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word[-1] == "y" and word[-2] not in "aeou" else word


def telling_words(text: str, limit: int | None = None) -> list[str]:
    """Return up to `limit` stems of a text in its order, with repetitions, without stop words."""
    found: list[str] = []
    for match in _WORD.finditer(fold(text)):
        word = match.group()
        if word in EMPTY_WORDS:
            continue
        found.append(stem(word))
        if limit is not None and len(found) >= limit:
            break
    return found


def as_written(text: str) -> dict[str, str]:
    """Return the folded words of a text by their stems, to show people words instead of stems."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(fold(text)):
        found.setdefault(stem(match.group()), match.group())
    return found


@functools.lru_cache(maxsize=20_000)
def grams(word: str) -> frozenset[str]:
    """Return the letter trigrams of a word, with its beginning and end marked."""
    marked = f"^{word}$"
    return frozenset(marked[index : index + GRAM] for index in range(len(marked) - GRAM + 1))


class Spelling:
    """Finds the known words that a misspelling, compound or other word form stands for.

    Args:
        words: The known words.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_gram: dict[str, list[str]] = {}
        for word in words:
            if len(word) >= MIN_FUZZY_LENGTH:
                for gram in grams(word):
                    self._by_gram.setdefault(gram, []).append(word)

    def near(self, word: str, least: float) -> list[tuple[str, float]]:
        """Return the known words that an unknown word may stand for, most similar first.

        Args:
            word: The unknown word, of at least `MIN_FUZZY_LENGTH` letters.
            least: Least similarity, 0 to 1.
        """
        shared: Counter[str] = Counter()
        for gram in grams(word):
            shared.update(self._by_gram.get(gram, ()))
        near = [(other, _likeness(word, other)) for other, count in shared.items() if count > 1 or len(word) == 4]
        return sorted((item for item in near if item[1] >= least), key=lambda item: (-item[1], item[0]))


def _likeness(word: str, other: str) -> float:
    """Return how surely an unknown word stands for a known one, 0 to 1: by spelling, or as a part of a compound."""
    # Imported here because the import takes 14 ms of CPU time, which every start of the server would spend.
    from rapidfuzz import fuzz

    if word[0] == other[0]:
        likeness = fuzz.ratio(word, other) / 100
        if len(word) == len(other) and sorted(word) == sorted(other):
            likeness = max(likeness, 0.9)  # swapped letters
        if word.startswith(other):
            likeness = max(likeness, PART_LIKENESS)
        return likeness
    return PART_LIKENESS if len(other) > MIN_FUZZY_LENGTH and word.endswith(other) else 0.0
