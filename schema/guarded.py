"""The one kind of schema Packline executes: limits, cost, scopes, masking and fresh contexts built in.

Every way in (HTTP, sockets, streams, MCP tools, tests) runs operations through it, so none can forget a check.
"""

# ruff: noqa: ANN401 - the signatures are Strawberry's
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import strawberry
from graphql import (
    ExecutionResult as GraphQLCoreResult,
)
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
from graphql import (
    OperationType as GraphQLOperationType,
)
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.schema.name_converter import NameConverter
from strawberry.types.execution import ExecutionResult, PreExecutionError
from strawberry.types.graphql import OperationType
from strawberry.utils.str_converters import to_camel_case

from schema.context import RequestContext
from schema.directives import Cost, Mcp, RefuseCommand, Requires, describe_directives, guard_fields
from schema.documents import CheckedDocument, DocumentGuard, Documents, no_operation
from schema.execution import OperationExecutor
from schema.executors import executor_of
from schema.leaves import mark_leaves
from schema.limits import RequestLimits
from schema.masking import mask_errors
from schema.members import mark_members
from schema.resolver_calls import shorten_resolvers
from schema.scalars import SCALAR_MAP

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from graphql import GraphQLArgument, GraphQLInputField, GraphQLSchema
    from strawberry.extensions import SchemaExtension
    from strawberry.schema.schema import StreamResult
    from strawberry.types import ExecutionContext
    from strawberry.types.base import StrawberryType


#: Strawberry's own of graphql-core's.
_KINDS = {kind: OperationType(kind.value) for kind in GraphQLOperationType}
_QUERY_OR_MUTATION = frozenset({OperationType.QUERY, OperationType.MUTATION})
_camel_case = cache(to_camel_case)


class _Names(NameConverter):
    """Strawberry's names, each made once: it asks for those of all arguments in every call of a resolver."""

    def apply_naming_config(self, name: str) -> str:
        return _camel_case(name) if self.auto_camel_case else name


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
            extensions=(self._guard,),
            execution_context_class=OperationExecutor,
            config=StrawberryConfig(name_converter=_Names(), scalar_map=SCALAR_MAP),
        )
        self.limits = limits or RequestLimits()
        _settle_defaults(self._schema)
        shorten_resolvers(self._schema)
        guard_fields(self._schema, refuse_command)
        describe_directives(self._schema)
        mark_leaves(self._schema)
        mark_members(self._schema)
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
        """Run a query or mutation once; see `strawberry.Schema.execute`. What cannot be parsed is told, not raised.

        Not through Strawberry's own: its contexts and hooks for extensions, of which there are none but the check made
        here, take a quarter of the time of a small query (`make bench`, row "graphql").
        """
        checked = self.documents.get(query or "")
        if checked.document is None:
            return _refused(checked)
        kind = checked.kind_of(operation_name)
        if kind is None:
            raise CannotGetOperationTypeError(operation_name)
        asked = _KINDS[kind]
        if asked not in (allowed_operation_types or _QUERY_OR_MUTATION):
            raise InvalidOperationTypeError(asked)
        errors = checked.verdict(operation_name, variable_values or {}, self.limits)
        if not errors:
            try:
                assert checked.plans is not None, "it is not refused"
                executor = executor_of(
                    self._schema,
                    checked.document,
                    checked.plans,
                    operation=operation_name,
                    variables=variable_values,
                    context=context_value,
                    root=root_value,
                    extensions=operation_extensions,
                )
                result: Any
                if isinstance(executor, OperationExecutor):
                    result = executor.execute_operation()
                    if not isinstance(result, GraphQLCoreResult):
                        result = await result
                else:
                    result = GraphQLCoreResult(None, executor)
                if result.errors:
                    mask_errors(result.errors, checked.name_of(operation_name))
                told = context_value.extensions if isinstance(context_value, RequestContext) else None
                return ExecutionResult(result.data, result.errors, told)
            except GraphQLError as error:
                errors = [error]
            except Exception as error:
                errors = [GraphQLError(str(error), original_error=error)]
        mask_errors(errors, checked.name_of(operation_name))
        return PreExecutionError(None, errors)

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
        """Run any operation as a stream of results; see `strawberry.Schema.stream`.

        A query or mutation has one result, the same as `execute` has, with all that is told beside the data.
        """
        unreadable = self._unreadable(query, operation_name)
        if unreadable is not None:
            return _only(unreadable)
        kind = self.documents.get(query or "").kind_of(operation_name)
        if kind is not None and _KINDS[kind] in _QUERY_OR_MUTATION:
            return _only(
                await self.execute(
                    query,
                    variable_values,
                    context_value,
                    root_value,
                    operation_name,
                    allowed_operation_types,
                    operation_extensions,
                )
            )
        return await super().stream(
            query,
            variable_values,
            context_value,
            root_value,
            operation_name,
            operation_extensions,
            allowed_operation_types,
        )

    def _unreadable(self, query: str | None, operation_name: str | None) -> PreExecutionError | None:
        """The answer to a text that is no document, or holds no such operation."""
        checked = self.documents.get(query or "")
        if checked.document is None:
            return _refused(checked)
        if checked.kind_of(operation_name) is None:
            refusal = GraphQLError(no_operation(operation_name), extensions={"code": "BAD_REQUEST"})
            return PreExecutionError(None, [refusal])
        return None

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Mask, in place, what was not made for callers. Called for every result of every transport."""
        mask_errors(errors, None if execution_context is None else execution_context.operation_name)


def _refused(checked: CheckedDocument) -> PreExecutionError:
    """The answer to a text that is no document."""
    errors = list(checked.errors)
    mask_errors(errors)
    return PreExecutionError(None, errors)
