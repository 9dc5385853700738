"""The main content of a page by rules alone: what the markup says, else where the text is densest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._html import remove_noise

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_AROUND = "nav, aside, footer, menu, [role=navigation], [role=complementary], [role=contentinfo], [role=search]"
_BOILERPLATE = re.compile(
    r"(^|[-_ ])(nav(bar|igation)?|menu|breadcrumbs?|cookies?|consent|gdpr|banner|sidebar|share|sharing|social|"
    r"newsletter|subscribe|related|recommended|promo|advert(isement)?s?|ads?|sponsor(ed)?|comments?|footer|masthead|skip-?link|"
    r"pagination|toolbar|popup|modal)($|[-_ ])",
    re.IGNORECASE,
)
_MARKED = "article, main, [role=main], [itemprop=articleBody]"

#: A marked or matched part holding at least this share of the text decides: it is content, or it is kept.
_LARGE_PART = 0.5
#: Going down to where the text is, a child must hold this share of all text to be followed.
_DENSE_PART = 0.75


@dataclass(frozen=True, slots=True)
class Block:
    """The part of a page that was found.

    Attributes:
        node: Its root; the tree it belongs to has been cleaned.
        is_marked: Whether the page itself marks it as main content.
        headings: Headings of the first four levels in it.
        list_items: List items that are not mostly links.
        characters: Length of its text outside links.
    """

    node: LexborNode
    is_marked: bool
    headings: int
    list_items: int
    characters: int


def main_block(tree: LexborHTMLParser) -> Block | None:
    """Cleans the tree and finds the main content; None for a page without text."""
    remove_noise(tree)
    body = tree.body
    if body is None:
        return None
    weights = _weights(body)
    total = weights.get(body.mem_id, 0)
    _remove_boilerplate(body, weights, total)
    weights = _weights(body)
    total = weights.get(body.mem_id, 0)
    if not total:
        return None
    marked = [node for node in body.css(_MARKED) if weights.get(node.mem_id, 0) >= _LARGE_PART * total]
    root = min(marked, key=lambda node: weights[node.mem_id]) if marked else _densest(body, weights, total)
    return Block(
        root,
        bool(marked),
        sum(1 for node in root.css("h1, h2, h3, h4") if node.text(strip=True)),
        sum(1 for node in root.css("li") if 2 * weights.get(node.mem_id, 0) >= len(_squeezed(node.text())) > 0),
        weights[root.mem_id],
    )


def _weights(body: LexborNode) -> dict[int, int]:
    """Characters of text outside links under each element."""
    weights: dict[int, int] = {}
    parents: list[tuple[int, int, bool]] = []
    for node in body.traverse(include_text=True):
        parent = node.parent
        if node.is_text_node:
            weights[node.mem_id] = len(_squeezed(node.text_content or ""))
        if parent is not None:
            parents.append((node.mem_id, parent.mem_id, node.tag == "a"))
    for own, above, is_link in reversed(parents):  # document order reversed: children before their parents
        if not is_link and own in weights:
            weights[above] = weights.get(above, 0) + weights[own]
    return weights


def _remove_boilerplate(body: LexborNode, weights: dict[int, int], total: int) -> None:
    for node in body.css(_AROUND):
        node.decompose()
    for node in body.css("[class], [id]"):
        if node.tag in ("body", "article", "main"):
            continue
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        if _BOILERPLATE.search(names) and weights.get(node.mem_id, 0) < _LARGE_PART * total:
            node.decompose()
    for node in body.css("header"):
        if not node.css_first("h1") and weights.get(node.mem_id, 0) < _LARGE_PART * total:
            node.decompose()


def _densest(body: LexborNode, weights: dict[int, int], total: int) -> LexborNode:
    """The deepest element that holds nearly all of the text."""
    node = body
    while True:
        heavy = [child for child in node.iter() if weights.get(child.mem_id, 0) >= _DENSE_PART * total]
        if not heavy or heavy[0].tag in ("p", "ul", "ol", "table", "pre"):
            return node
        node = heavy[0]


def _squeezed(text: str) -> str:
    return "".join(text.split())
