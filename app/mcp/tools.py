"""Every tool there is, and which of them a caller is shown.

A tool is a published field of the schema: its declaration is the operation's, its parameters are the field's arguments,
its answer is the declared selection. It runs as one document on the same schema, parsed once, with the same scopes,
limits and refusals as anybody else's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import OperationType

from app.mcp.inputs import Inputs, inputs_of
from app.mcp.outputs import Outputs, outputs_of
from resolvers.operations import OPERATIONS
from schema.directives import publication_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLField, GraphQLSchema

    from resolvers.operations import Operation
    from store.states import Scope


@dataclass(frozen=True, slots=True)
class ToolText:
    """What is told of a tool, in the words of the protocol."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


@dataclass(frozen=True, slots=True)
class OperationTool:
    """A use case as a tool.

    Attributes:
        text: What is told of it.
        scope: What its caller must hold; None where anybody signed in may ask.
        toolset: The set it is shown in.
        document: What is run, its answer under `answer`.
    """

    text: ToolText
    scope: Scope | None
    toolset: str
    document: str
    inputs: Inputs
    outputs: Outputs

    @property
    def name(self) -> str:
        """As clients call it."""
        return self.text.name


def build_tools(schema: GraphQLSchema) -> dict[str, OperationTool]:
    """The tools of all published fields, by name, in the order of their names.

    Raises:
        ValueError: a field is published that no operation declares, or a declaration does not fit its field.
    """
    declared = {
        operation.tool.name or operation.name: operation
        for operation in OPERATIONS.values()
        if operation.tool is not None
    }
    found: dict[str, OperationTool] = {}
    for kind, root in ((OperationType.QUERY, schema.query_type), (OperationType.MUTATION, schema.mutation_type)):
        for name, field in (root.fields if root else {}).items():
            mark = publication_of(field)
            if mark is None:
                continue
            operation = declared.get(mark.tool or "")
            if operation is None:
                raise ValueError(f"The field {name} is published as {mark.tool}, which no operation declares.")
            tool = _build(schema, kind, name, field, operation)
            found[tool.name] = tool
    return dict(sorted(found.items()))


def _build(
    schema: GraphQLSchema, kind: OperationType, name: str, field: GraphQLField, operation: Operation[..., Any]
) -> OperationTool:
    tool = operation.tool
    assert tool is not None, "only operations with a tool are built"
    called = tool.name or operation.name
    inputs, outputs = inputs_of(field, tool), outputs_of(schema, field, tool)
    head = f"{kind.value} {called}{f'({inputs.declared})' if inputs.declared else ''}"
    text = ToolText(
        name=called,
        title=tool.title,
        description=tool.description,
        input_schema=inputs.schema,
        output_schema=outputs.schema,
        read_only=operation.kind == "query",
        destructive=operation.destructive,
        idempotent=operation.idempotent,
        open_world=tool.open_world,
    )
    document = f"{head} {{ answer: {name}{inputs.passed} {outputs.text} }}"
    return OperationTool(text, operation.scope, tool.toolset, document, inputs, outputs)
