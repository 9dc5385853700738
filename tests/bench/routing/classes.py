"""The sorts of requests the benchmark tells apart, found by rule so that no sealed line need be looked at.

A request may be of several; one of none is plain.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog.routing.concepts import mentions, thesaurus
from catalog.routing.facts import read_facts
from catalog.words import fold

if TYPE_CHECKING:
    from catalog.routing.index import RoutingIndex
    from catalog.search import RefT
    from tests.bench.routing.requests import Request

#: A request with so many right answers does not say what it wants.
VAGUE_ANSWERS = 4
#: Likeness from which an unknown word is a misspelt one rather than a form or a part of another.
_MISSPELT = 0.8
_FOREIGN = re.compile(
    r"[äöüßáéíóúñçàèùâêîôû]|\b(?:aus|einem|einen|eine|mit|und|zu|zum|ueber|mach|bitte|suche|recherche|beitrag|folien|"
    r"de la|partir|une|mon|avec|sur|para|del|los|una|con|mi|texto|texte|sources? de|il|per|di)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\b(?:and|plus|und|then|both|as well as|also)\b")


def classes_of(request: Request, index: RoutingIndex[RefT]) -> list[str]:
    """What sort of request it is."""
    found = []
    if request.gap is not None:
        found.append(f"{request.gap} gap")
    if request.history or (request.context and "runs" in request.context):
        found.append("as last time")
    elif request.context is not None:
        found.append("something at hand")
    if len(request.answers) >= VAGUE_ANSWERS:
        found.append("vague")
    text = read_facts(request.text, request.context).text
    if _FOREIGN.search(request.text):
        found.append("loan words")
    elif any(_MISSPELT <= mention.sureness < 1 for mention in mentions(text, index.knows)):
        found.append("misspelt")
    products = {
        mention.concept
        for mention in mentions(text)
        if mention.concept in _PRODUCTS and mention.role in ("wanted", "plain")
    }
    if len(products) > 1 and _JOINED.search(fold(text)):
        found.append("double")
    return found or ["plain"]


_PRODUCTS = {
    name
    for name, concept in thesaurus().concepts.items()
    if concept.kinds & {"slide_deck", "podcast_audio", "blog_post", "mp4", "image", "email"}
}
