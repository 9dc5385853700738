"""The one kind of schema Packline executes: limits, cost, scopes, masking and fresh contexts built in.

Every way in (HTTP, sockets, streams, MCP tools, tests) runs operations through it, so none can forget a check.
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


def _settle_defaults(schema: GraphQLSchema) -> None:
    """Make the defaults of arguments and input fields such as introspection can tell.

    `= null` is taken off: absent already means it, and the SDL says less; Python's own default still fills the
    parameter in. Objects of the scalar JSON are given as values from outside, too: graphql-core cannot write those
    from inside as literals, and would fail whoever asks for `defaultValue`.
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


async def _only(result: ExecutionResult) -> AsyncGenerator[ExecutionResult, None]:
    yield result


class GuardedSchema(strawberry.Schema):
    """A Strawberry schema that checks what it is asked and says only what callers may know.

    Args:
        query: Root types, as for `strawberry.Schema`.
        mutation: See above.
        subscription: See above.
        types: Types that no field names, such as members of interfaces.
        limits: What one request may ask for.
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
        _settle_defaults(self._schema)
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
        """Run a query or mutation once; see `strawberry.Schema.execute`. An error answers what cannot be parsed."""
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
            return _only(refusal)
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
        """Return the answer to a text that is no document, or that leaves open which operation is meant."""
        errors = self.documents.get(query or "").unclear(operation_name)
        if not errors:
            return None
        self.process_errors(errors)
        return PreExecutionError(None, errors)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Mask, in place, what was not made for callers. Called for every result of every transport."""
        mask_errors(errors, None if execution_context is None else execution_context.operation_name)
