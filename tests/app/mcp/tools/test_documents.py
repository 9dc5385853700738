"""The GraphQL documents of the tools fit the schema, the tools and each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import GraphQLSchema, build_schema, parse, validate

from app.mcp.tools.documents import FOLDER
from app.mcp.tools.operation_tools import OperationTool, build_tools
from schema.build import build_schema as build_ours

SDL = Path(__file__).parents[4] / "schema" / "schema.graphql"
NAMES = sorted({file.stem for file in FOLDER.glob("*.graphql")} - {"fragments"})


@pytest.fixture(scope="module")
def sdl() -> GraphQLSchema:
    return build_schema(SDL.read_text("utf-8"))


@pytest.fixture(scope="module")
def tools() -> dict[str, OperationTool]:
    return build_tools(build_ours()._schema)


def test_every_tool_has_a_document_and_every_document_a_tool(tools: dict[str, OperationTool]) -> None:
    assert sorted(tools) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_valid(name: str, sdl: GraphQLSchema, tools: dict[str, OperationTool]) -> None:
    document = parse(tools[name].document)
    assert validate(sdl, document) == []
    operation = document.definitions[0]
    assert operation.name is not None  # type: ignore[attr-defined]
    assert operation.name.value == name  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
def test_a_document_declares_the_variables_that_arguments_become(name: str, tools: dict[str, OperationTool]) -> None:
    declared = {
        variable.variable.name.value
        for variable in parse(tools[name].document).definitions[0].variable_definitions  # type: ignore[attr-defined]
    }
    assert declared == {binding.path[0] for binding in tools[name].inputs.bindings.values()}


def test_every_shared_fragment_is_used(tools: dict[str, OperationTool]) -> None:
    shared = {
        fragment.name.value  # type: ignore[attr-defined]
        for fragment in parse((FOLDER / "fragments.graphql").read_text("utf-8")).definitions
    }
    used = {
        definition.name.value  # type: ignore[attr-defined]
        for tool in tools.values()
        for definition in parse(tool.document).definitions[1:]
    }
    assert used == shared
