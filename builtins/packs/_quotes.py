"""Whether a quotation a model gives is really in the text it was given."""

from __future__ import annotations

import re

from ._writing import count_words, unsourced

#: A quotation shorter than this proves nothing: "the first" is in every text.
FEWEST_WORDS = 3
_LONGEST = 1_000
_WORD = re.compile(r"\w+")


def find_quote(quote: str, text: str) -> str | None:
    """The part of `text` that says the quotation, as the text has it; None when it does not.

    Only the words and their order count, not the characters between them: models change quotation marks, dashes, line
    breaks and capitals when they copy. Figures must be the same, signs of decimals included.
    """
    words = _WORD.findall(quote[:_LONGEST])
    if count_words(quote) < FEWEST_WORDS or not words:
        return None
    match = re.search(r"(?<!\w)" + r"\W{1,12}".join(map(re.escape, words)) + r"(?!\w)", text, re.IGNORECASE)
    if match is None and not quote.isascii():  # written without spaces, so that a word may begin anywhere
        match = re.search(r"\W{0,12}".join(map(re.escape, words)), text, re.IGNORECASE)
    if match is None or unsourced(quote, [match.group()]):
        return None
    return match.group()
