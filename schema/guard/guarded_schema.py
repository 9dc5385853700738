"""The schema class with limits, cost, scopes and error masking built in.

Every surface (HTTP, WebSockets, streams, MCP tools, tests) executes operations through it, so none can skip a check.
"""

# ruff: noqa: ANN401 - the signatures are Strawberry's
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import strawberry
from graphql import (
    GraphQLDefaultInput,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    Undefined,
    get_nullable_type,
    is_leaf_type,
)
from strawberry.schema.config import StrawberryConfig
from strawberry.types.execution import PreExecutionError

from schema.base.context import ContextExtension
from schema.base.directives import Cost, Mcp, RefuseCommand, Requires, describe_directives, guard_fields
from schema.base.masking import mask_errors
from schema.base.scalars import SCALAR_MAP
from schema.guard.documents import DocumentGuard, Documents
from schema.guard.event_executor import EventExecutor
from schema.guard.limits import RequestLimits

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from graphql import GraphQLArgument, GraphQLInputField, GraphQLSchema
    from strawberry.extensions import SchemaExtension
    from strawberry.schema.schema import StreamResult
    from strawberry.types import ExecutionContext
    from strawberry.types.base import StrawberryType
    from strawberry.types.execution import ExecutionResult
    from strawberry.types.graphql import OperationType


def _normalize_defaults(schema: GraphQLSchema) -> None:
    """Make the defaults of arguments and input fields printable by introspection.

    `= null` is removed, since it means the same as no default and clutters the SDL; Python's default still applies.
    Objects of the scalar JSON are passed as external values, because graphql-core cannot print internal ones as
    literals and fails queries for `defaultValue`.
    """
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            given: list[GraphQLArgument | GraphQLInputField] = [
                argument for field in kind.fields.values() for argument in field.args.values()
            ]
        elif isinstance(kind, GraphQLInputObjectType):
            given = [*kind.fields.values()]
        else:
            continue
        for argument in given:
            if argument.default_value is None:
                argument.default_value = Undefined
            elif isinstance(argument.default_value, dict) and is_leaf_type(get_nullable_type(argument.type)):
                argument.default = GraphQLDefaultInput(value=argument.default_value)


async def _single(result: ExecutionResult) -> AsyncGenerator[ExecutionResult, None]:
    yield result


class GuardedSchema(strawberry.Schema):
    """A Strawberry schema that checks every document before execution and masks internal errors.

    Args:
        query: Root type, as for `strawberry.Schema`.
        mutation: Root type.
        subscription: Root type.
        types: Types that no field returns by name, such as implementations of interfaces.
        limits: Limits of one request.
        refuse_command: Answers a mutation whose `@requires` scope is missing; see `guard_fields`.
    """

    def __init__(
        self,
        query: type,
        mutation: type | None = None,
        subscription: type | None = None,
        *,
        types: Iterable[type | StrawberryType] = (),
        limits: RequestLimits | None = None,
        refuse_command: RefuseCommand | None = None,
    ) -> None:
        super().__init__(
            query,
            mutation,
            subscription,
            types=(*types, Requires, Cost, Mcp),
            extensions=(self._guard, ContextExtension),
            execution_context_class=EventExecutor,
            config=StrawberryConfig(scalar_map=SCALAR_MAP),
        )
        self.limits = limits or RequestLimits()
        _normalize_defaults(self._schema)
        guard_fields(self._schema, refuse_command)
        describe_directives(self._schema)
        self.documents = Documents(self._schema, self.limits)

    def _guard(self) -> SchemaExtension:
        return DocumentGuard(self.documents)

    async def execute(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,
    ) -> ExecutionResult:
        """Run a query or mutation once; see `strawberry.Schema.execute`. Parse errors are returned, not raised."""
        refusal = self._refusal(query, operation_name)
        if refusal is not None:
            return refusal
        return await super().execute(
            query,
            variable_values,
            context_value,
            root_value,
            operation_name,
            allowed_operation_types,
            operation_extensions,
        )

    async def stream(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        operation_extensions: dict[str, Any] | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
    ) -> StreamResult:
        """Run any operation as a stream of results; see `strawberry.Schema.stream`."""
        refusal = self._refusal(query, operation_name)
        if refusal is not None:
            return _single(refusal)
        return await super().stream(
            query,
            variable_values,
            context_value,
            root_value,
            operation_name,
            operation_extensions,
            allowed_operation_types,
        )

    def _refusal(self, query: str | None, operation_name: str | None) -> PreExecutionError | None:
        """Return the response to a text that is not a document or does not determine an operation, or None."""
        errors = self.documents.get(query or "").selection_errors(operation_name)
        if not errors:
            return None
        self.process_errors(errors)
        return PreExecutionError(None, errors)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Mask errors in place. Strawberry calls this for every result of every transport."""
        mask_errors(errors, None if execution_context is None else execution_context.operation_name)
