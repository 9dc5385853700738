"""How operations are executed: as graphql-core does, with two additions.

Plain leaf fields, attributes that are scalars or enums, are read and written without the machinery that resolvers need
(7 µs each in graphql-core 3.3 with Strawberry 0.341, most of what a list costs). Whatever is unusual about one, an
exception, a null where none may be, an awaitable, takes the ordinary path and ends as it would have.

Each event of a subscription is resolved in a context of its own when the context can renew itself.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from graphql import GraphQLNonNull, GraphQLObjectType, Undefined, is_leaf_type
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types.field import StrawberryField

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphql import GraphQLField, GraphQLSchema
    from graphql.execution import Executor
    from graphql.pyutils import Path

_LEAVES = "packline-leaves"


@runtime_checkable
class EventContext(Protocol):
    """A context that can renew what must not outlive one event of a subscription, such as caching loaders."""

    def for_event(self) -> object:
        """Return the context in which the next event is resolved."""
        ...


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


def _leaf(field: GraphQLField) -> _Leaf | None:
    definition = field.extensions.get("strawberry-definition")
    plain = getattr(field.resolve, "_is_default", False) and not field.args  # Strawberry's mark for attributes
    if not plain or not isinstance(definition, StrawberryField) or definition.default_resolver is not getattr:
        return None
    nullable = not isinstance(field.type, GraphQLNonNull)
    inner = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
    return _Leaf(definition.python_name, inner.coerce_output_value, nullable) if is_leaf_type(inner) else None


class OperationExecutor(StrawberryGraphQLCoreExecutionContext):
    """Executes one operation; pass as `execution_context_class`."""

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

    def build_per_event_executor(self, payload: Any) -> Executor[Any]:
        """Return the executor of one event of a subscription."""
        executor = super().build_per_event_executor(payload)
        if isinstance(executor.context_value, EventContext):
            executor.context_value = executor.context_value.for_event()
        return executor
