"""Rules of the public schema for lists: how they are filtered, paged and described."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from graphql import GraphQLObjectType, Undefined, get_named_type, is_input_object_type

from schema.base.pagination import (
    DEFAULT_LOG_PAGE_SIZE,
    DEFAULT_PAGE_SIZE,
    MAX_LOG_PAGE_SIZE,
    MAX_PAGE_SIZE,
    MAX_TOTAL_COUNT,
)
from schema.build import build_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLField, GraphQLInputObjectType, GraphQLSchema


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    return build_schema()._schema


def test_a_filter_has_one_name_and_type_on_every_list(schema: GraphQLSchema) -> None:
    spelled: dict[str, set[str]] = defaultdict(set)
    for kind in filters_of(schema):
        for name, field in kind.fields.items():
            spelled[name].add(str(field.type))
    assert {name: types for name, types in spelled.items() if len(types) > 1} == {}


def test_times_are_filtered_as_created_from_and_created_before(schema: GraphQLSchema) -> None:
    for kind in filters_of(schema):
        times = {name for name, field in kind.fields.items() if get_named_type(field.type).name == "DateTime"}
        assert times in (set(), {"createdFrom", "createdBefore"}), kind.name


def test_words_are_searched_for_by_the_filter_of_a_list(schema: GraphQLSchema) -> None:
    for path, field in lists_of(schema):
        assert "text" not in field.args, path
        if "filter" in field.args:
            named = get_named_type(field.type).name.removesuffix("Connection").removesuffix("Entry")
            assert get_named_type(field.args["filter"].type).name == f"{named}Filter", path


def test_the_order_of_a_list_is_chosen_by_one_argument_and_has_a_default(schema: GraphQLSchema) -> None:
    ordered = set()
    for path, field in lists_of(schema):
        assert set(field.args) & {"order", "sort", "sortBy", "orderBy"} <= {"orderBy"}, path
        if (order := field.args.get("orderBy")) is not None:
            ordered.add(path)
            assert str(order.type) == f"{get_named_type(field.type).name.removesuffix('Connection')}Order!", path
            assert order.default_value is not Undefined, path
    assert ordered == {"Query.artifacts", "Query.pipelines"}


def test_the_size_of_a_page_is_stated(schema: GraphQLSchema) -> None:
    for path, field in lists_of(schema):
        assert list(field.args)[-4:] == ["first", "after", "last", "before"], path
        stated = field.args["first"].description or ""
        sizes = [(MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE), (MAX_LOG_PAGE_SIZE, DEFAULT_LOG_PAGE_SIZE)]
        assert any(f"at most {most}." in stated and f"the first {usual}." in stated for most, usual in sizes), path


def test_a_page_is_described_by_what_is_on_it_and_its_count_by_where_it_ends(schema: GraphQLSchema) -> None:
    described = set()
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLObjectType) and kind.name.endswith("Connection"):
            assert (kind.description or "").startswith("A page of "), kind.name
            described.add(kind.description)
            assert f"up to {MAX_TOTAL_COUNT}" in (kind.fields["totalCount"].description or ""), kind.name
    assert "A page of a list." not in described
    assert len(described) == len({get_named_type(field.type).name for _, field in lists_of(schema)})


def filters_of(schema: GraphQLSchema) -> Iterator[GraphQLInputObjectType]:
    for kind in schema.type_map.values():
        if is_input_object_type(kind) and kind.name.endswith("Filter"):
            yield kind


def lists_of(schema: GraphQLSchema) -> Iterator[tuple[str, GraphQLField]]:
    """The fields that answer with a page, with their paths."""
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLObjectType):
            for name, field in kind.fields.items():
                if get_named_type(field.type).name.endswith("Connection"):
                    yield f"{kind.name}.{name}", field
