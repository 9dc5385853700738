"""What the web says on a statement, by a model whose quotations are looked up before they count."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import PackContext, PackError

from .._links import only_known_links
from .._pages import Page, page_of_hit, read_page
from .._quotes import find_quote
from .._search import Found, Hit, search
from .._writing import MATERIAL_RULE, WRITER, material, one_line, unsourced
from ._passages import ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._statements import Statement

HITS_PER_SEARCH = 6
PAGES_PER_STATEMENT = 3
PASSAGES_PER_PAGE = 2

INSTRUCTIONS = f"""You compare one statement with passages of web pages.

{MATERIAL_RULE}

- `supported`: a passage says the same, its figures, dates and names included. `contradicted`: a passage says \
something that cannot be true together with the statement. `unclear`: anything else; when in doubt, this.
- Judge by the passages alone, not by what you know.
- For supported and contradicted: the number of the passage, and the words of it that show it, copied exactly, four to \
forty words."""
_CORRECTING = """
- For contradicted also the correction: the statement's sentence with only the wrong part changed to what the quoted \
passage says; same language, tone, length and markup."""

_BLOCK_START = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|>|\d{1,3}[.)]\s|`{3,}|~{3,}|\||<)")


class Judgement(BaseModel):
    """What the passages say on the statement."""

    verdict: Literal["supported", "contradicted", "unclear"]
    passage: int = Field(default=0, description="Number of the passage; 0 when unclear.")
    quote: str = Field(default="", description="Words of that passage, copied exactly; empty when unclear.")


class Correction(Judgement):
    """What the passages say on the statement, and how it would be right."""

    correction: str = Field(default="", description="The corrected sentence when contradicted, else empty.")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A page that supports or contradicts a statement.

    Attributes:
        verdict: Which of both.
        page: Where it says so.
        passage: The part of the page the model was shown.
        quote: The words that show it, as they stand in the passage.
        correction: The statement made right; None when there is none, or none that only changes what the quote says.
    """

    verdict: Literal["supported", "contradicted"]
    page: Page
    passage: str
    quote: str
    correction: str | None


class Checker:
    """Checks the statements of one text; reads each page once.

    Attributes:
        found: The last search that was answered.
        model: The model that answered last.
    """

    def __init__(self, ctx: PackContext, *, correct: bool, model: str | None) -> None:
        self.found: Found | None = None
        self.model: str | None = None
        self._ctx = ctx
        self._correct = correct
        self._wanted_model = model
        self._pages: dict[str, asyncio.Task[Page | None]] = {}

    async def check(self, statement: Statement) -> Evidence | None:
        """The page that supports or contradicts the statement; None when no page found makes it clear.

        Raises:
            PackError: when it cannot be searched for, or no model answers.
        """
        self.found = await search(self._ctx, statement.query, HITS_PER_SEARCH)
        shown = await self._passages(statement, self.found.hits)
        if not shown:
            return None
        passages = "\n\n".join(
            material(f"passage {number}", f"{page.title}\n\n{text}") for number, (page, text) in enumerate(shown, 1)
        )
        answer = await self._ctx.models.structured(
            WRITER,
            Correction if self._correct else Judgement,
            f"Compare this statement with the passages.\n\n{material('statement', statement.source)}\n\n{passages}",
            instructions=INSTRUCTIONS + (_CORRECTING if self._correct else ""),
            model=self._wanted_model,
        )
        self.model = answer.model
        return _evidence(answer.value, statement, shown)

    async def _passages(self, statement: Statement, hits: Sequence[Hit]) -> list[tuple[Page, str]]:
        """The parts of the nearest pages that are about the statement."""
        texts = [f"{hit.title} {hit.snippet}" for hit in hits]
        order = [place for _, place in ranked(statement.text, texts)]
        nearest = [hits[place] for place in dict.fromkeys([*order, *range(len(hits))])][:PAGES_PER_STATEMENT]
        pages = await asyncio.gather(*(self._page(hit) for hit in nearest))
        shown = []
        for hit, read in zip(nearest, pages, strict=True):
            page = read or page_of_hit(hit)
            best = [place for _, place in ranked(statement.text, page.passages)] or list(range(len(page.passages)))
            if best:
                chosen = sorted(best[:PASSAGES_PER_PAGE])
                shown.append((page, "\n[…]\n".join(page.passages[place] for place in chosen)))
        return shown

    async def _page(self, hit: Hit) -> Page | None:
        if hit.url not in self._pages:
            self._pages[hit.url] = asyncio.ensure_future(self._read(hit))
        return await asyncio.shield(self._pages[hit.url])

    async def _read(self, hit: Hit) -> Page | None:
        try:
            return await read_page(self._ctx, hit)
        except PackError as error:
            self._ctx.log(f"{hit.url} is not read: {error.failure.message}")
            return None

    async def stop(self) -> None:
        """Ends what is still being read."""
        for task in self._pages.values():
            task.cancel()
        await asyncio.gather(*self._pages.values(), return_exceptions=True)


def _evidence(answer: Judgement, statement: Statement, shown: Sequence[tuple[Page, str]]) -> Evidence | None:
    """The answer, once its quotation is found; figures of a supported statement must be in the passage too."""
    if answer.verdict == "unclear":
        return None
    numbers = [answer.passage - 1, *range(len(shown))] if 0 < answer.passage <= len(shown) else range(len(shown))
    for number in numbers:
        page, passage = shown[number]
        quote = find_quote(answer.quote, passage)
        if quote is None:
            continue
        if answer.verdict == "supported" and unsourced(statement.text, [f"{page.title}\n{passage}"]):
            return None
        correction = _usable(answer, statement, passage) if answer.verdict == "contradicted" else None
        return Evidence(answer.verdict, page, passage, quote, correction)
    return None


def _usable(answer: Judgement, statement: Statement, passage: str) -> str | None:
    """The correction, when it is one sentence in place of the other and adds nothing from elsewhere."""
    text = one_line(answer.correction) if isinstance(answer, Correction) else ""
    plain, strange = only_known_links(text, ())
    is_fitting = (
        bool(re.search(r"\w", text))
        and text != statement.source
        and plain == text
        and not strange
        and len(text) <= 2 * len(statement.source) + 80
        and not _BLOCK_START.match(text)
        and "<!--" not in text
        and not re.search(r"\[\d{1,3}\]", text)
        and not unsourced(text, [passage, statement.text])
    )
    return text if is_fitting else None
