"""How operations are executed: as graphql-core does, with three additions.

Plain leaf fields, attributes that are scalars or enums, are read and written without the machinery that resolvers need
(7 µs each in graphql-core 3.3 with Strawberry 0.341, most of what a list costs), and where an object is asked for
nothing else, all of them at once. Whatever is unusual about one, an exception, a null where none may be, an awaitable,
takes the ordinary path and ends as it would have.

Resolvers without arguments are called without the layers Strawberry puts around them for extensions and conversions,
which such fields have none of (25 µs of an asynchronous one).

Each event of a subscription is resolved in a context of its own when the context can renew itself; one that many
watch, once for all who ask the same of it.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from datetime import datetime
from enum import Enum
from functools import cache
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from graphql import ExecutionResult, GraphQLEnumType, GraphQLNonNull, GraphQLObjectType, Undefined, is_leaf_type
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types.field import StrawberryField
from strawberry.types.info import Info

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import GraphQLField, GraphQLSchema
    from graphql.execution import Executor
    from graphql.pyutils import Path

_LEAVES = "packline-leaves"


class _Leaf(NamedTuple):
    attribute: str
    write: Callable[[Any], Any]
    nullable: bool


def mark_leaves(schema: GraphQLSchema) -> None:
    """Find the plain leaf fields of every object type; called once, when the schema has its final resolvers."""
    for graphql_type in schema.type_map.values():
        if isinstance(graphql_type, GraphQLObjectType):
            found = {name: leaf for name, field in graphql_type.fields.items() if (leaf := _leaf(field)) is not None}
            if found:
                graphql_type.extensions[_LEAVES] = found


def shorten_resolvers(schema: GraphQLSchema) -> None:
    """Call resolvers that take no arguments as they are; called once, before anything else wraps them."""
    for graphql_type in schema.type_map.values():
        if isinstance(graphql_type, GraphQLObjectType):
            for field in graphql_type.fields.values():
                short = _short(field)
                if short is not None:
                    field.resolve = short


def _short(field: GraphQLField) -> Callable[..., Any] | None:
    definition = field.extensions.get("strawberry-definition")
    if not isinstance(definition, StrawberryField) or definition.base_resolver is None or definition.is_subscription:
        return None
    resolver = definition.base_resolver
    if field.args or definition.extensions or resolver.parent_parameter or resolver.root_parameter:
        return None
    told = resolver.info_parameter
    if resolver.self_parameter is None:
        return None
    call = cast("Callable[..., Any]", resolver.wrapped_func)
    if told is None:
        return lambda source, _info: call(source)
    if told.name != "info":
        return None
    return lambda source, info: call(source, info=Info(_raw_info=info, _field=definition))


def _only_leaves(
    parent_type: GraphQLObjectType, grouped_field_set: dict[str, list[Any]]
) -> list[tuple[str, _Leaf]] | None:
    """The leaves by response name when nothing else is asked for, in the order asked; else None."""
    marked = parent_type.extensions.get(_LEAVES, {})
    found = [(name, marked.get(details[0].node.name.value)) for name, details in grouped_field_set.items()]
    return None if any(leaf is None for _, leaf in found) else found


def _leaf(field: GraphQLField) -> _Leaf | None:
    definition = field.extensions.get("strawberry-definition")
    plain = getattr(field.resolve, "_is_default", False) and not field.args  # Strawberry's mark for attributes
    if not plain or not isinstance(definition, StrawberryField) or definition.default_resolver is not getattr:
        return None
    nullable = not isinstance(field.type, GraphQLNonNull)
    inner = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
    if not is_leaf_type(inner):
        return None
    write = inner.coerce_output_value
    # Strawberry looks an enum's member up anew each time, at 3 µs; there are few of them, and they never change.
    return _Leaf(definition.python_name, cache(write) if isinstance(inner, GraphQLEnumType) else write, nullable)


class SharedData(dict[str, Any]):
    """Data that several readers get, not to be changed.

    Attributes:
        text: The data as JSON, once somebody wrote it.
    """

    text: bytes | None = None


#: Attributes of these types are neither awaitable nor errors.
_PLAIN = frozenset({str, int, float, bool, datetime})


class OperationExecutor(StrawberryGraphQLCoreExecutionContext):
    """Executes one operation; pass as `execution_context_class`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # By identity: selections of one operation are collected once for all items of a list, and live as long as it.
        self._leaves_of: dict[tuple[int, int], tuple[Any, list[tuple[str, _Leaf]] | None]] = {}

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Path | None,
        grouped_field_set: dict[str, list[Any]],
        position_context: Any,
    ) -> Any:
        """Resolve the fields of one object; see `graphql.execution.Executor.execute_fields`."""
        key = (id(parent_type), id(grouped_field_set))
        known = self._leaves_of.get(key)
        if known is None:
            known = self._leaves_of[key] = (grouped_field_set, _only_leaves(parent_type, grouped_field_set))
        leaves = known[1]
        if leaves is not None:
            results: dict[str, Any] = {}
            try:
                for name, leaf in leaves:
                    value = getattr(source_value, leaf.attribute)
                    if value is None and leaf.nullable:
                        results[name] = None
                        continue
                    if type(value) not in _PLAIN and not isinstance(value, Enum):
                        break
                    written = leaf.write(value)
                    if written is None or written is Undefined:
                        break
                    results[name] = written
                else:
                    return results
            except Exception:
                pass
        return super().execute_fields(parent_type, source_value, path, grouped_field_set, position_context)

    def execute_field(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        field_details_list: list[Any],
        path: Path,
        position_context: Any,
    ) -> Any:
        """Resolve one field; see `graphql.execution.Executor.execute_field`."""
        leaves = parent_type.extensions.get(_LEAVES)
        if leaves is not None:
            leaf = leaves.get(field_details_list[0].node.name.value)
            if leaf is not None:
                try:
                    value = getattr(source, leaf.attribute)
                    if value is None and leaf.nullable:
                        return None
                    if iscoroutine(value):
                        value.close()  # the ordinary path asks again, and awaits
                    elif value is not None and not isinstance(value, Exception) and not self.is_awaitable(value):
                        written = leaf.write(value)
                        if written is not None and written is not Undefined:
                            return written
                except Exception:
                    pass
        return super().execute_field(parent_type, source, field_details_list, path, position_context)

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Resolve the operation; see `graphql.execution.Executor.execute_operation`.

        What came of an event with a dictionary `shared` is kept there for the same operation with the same variables,
        if nothing of it had to be waited for: only readers do, and only they look at who asks.
        """
        shared = getattr(self.root_value, "shared", None)
        if shared is None:
            return super().execute_operation(serially)
        try:
            key = (id(self.operation), frozenset(self.variable_values.coerced.items()))
            kept = shared.get(key)
        except TypeError:  # a variable that is a list or an object
            return super().execute_operation(serially)
        if kept is None:
            result = super().execute_operation(serially)
            if not isinstance(result, ExecutionResult) or result.errors or result.data is None:
                return result
            result.data = SharedData(result.data)
            kept = shared[key] = (self.operation, result)  # with the operation, whose id no other may get meanwhile
        return kept[1]

    def build_per_event_executor(self, payload: Any) -> Executor[Any]:
        """Return the executor of one event of a subscription.

        A context with a method `for_event` is replaced by what that returns: what must not outlive one event, such as
        caching loaders, is new in it.
        """
        executor = super().build_per_event_executor(payload)
        renew = getattr(executor.context_value, "for_event", None)
        if renew is not None:
            executor.context_value = renew()
        return executor
