"""Questions about lists that ask for more than a person would, told so: each value costs a condition or a lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from resolvers.query_limits import MAX_TEXT, MAX_VALUES
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product

_LISTS = {
    "RunFilter": "runs(filter: $filter, first: 1) { totalCount nodes { id } }",
    "ArtifactFilter": "artifacts(filter: $filter, first: 1) { totalCount nodes { id } }",
    "PipelineFilter": "pipelines(filter: $filter, first: 1) { totalCount nodes { id } }",
    "CatalogFilter": "catalog(filter: $filter, first: 1) { nodes { name } }",
    "AuditFilter": "audit(filter: $filter, first: 1) { totalCount nodes { id } }",
}


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Product]:
    async with product(tmp_path) as running:
        yield running


async def said(it: Product, name: str, asked: dict[str, Any]) -> str:
    """What the only error says; empty when it was answered."""
    answer = await it.answer(f"query ($filter: {name}) {{ {_LISTS[name]} }}", {"filter": asked})
    return str(answer.errors[0]["message"]) if answer.errors else ""


async def test_long_texts_are_not_looked_for(it: Product) -> None:
    words = "w " * (MAX_TEXT // 2)
    for name in _LISTS:
        assert await said(it, name, {"text": words}) == ""
        assert await said(it, name, {"text": words + "w"}) == (
            f"A filter has {MAX_TEXT + 1} characters; the limit is {MAX_TEXT}."
        )
    searched = "query ($text: String) { callers(filter: {text: $text}) { nodes { id } } }"
    callers = await it.answer(searched, {"text": words + "w"})
    assert "characters; the limit is" in callers.errors[0]["message"]


async def test_many_values_are_not_looked_for(it: Product) -> None:
    many = [f"p{number}" for number in range(MAX_VALUES + 1)]
    assert await said(it, "RunFilter", {"pipelines": many[1:]}) == ""
    refused = f"has {MAX_VALUES + 1} values; the limit is {MAX_VALUES}."
    for name, field in (("RunFilter", "pipelines"), ("RunFilter", "callers"), ("CatalogFilter", "accepts")):
        assert (await said(it, name, {field: many})).endswith(refused)
    watch = it.subscribe("subscription ($f: RunFilter) { runChanges(filter: $f) { more } }", {"f": {"packs": many}})
    with pytest.raises(AssertionError, match="the limit is 100"):
        await anext(watch)


async def test_what_is_too_long_to_be_a_name_names_no_pipeline(it: Product) -> None:
    assert await it.query("query ($id: ID!) { pipeline(id: $id) { id } }", {"id": "x" * 400_000}) == {"pipeline": None}
