"""How operations are executed: as graphql-core does, with some shortcuts.

Plain leaf fields are read and written without the machinery that resolvers need, and lists of objects without looking
at each item for what it may be. Whatever is unusual about one takes the ordinary path and ends as it would have. What
a selection asks for is found out once for a document; see `schema.plans`.

Each event of a subscription is resolved in a context of its own when the context can renew itself; one that many
watch, once for all who ask the same of it.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import (
    ExecutionResult,
    GraphQLError,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfoHelpers,
    OperationType,
    Undefined,
)
from graphql.execution.values import get_argument_values
from graphql.pyutils import Path, gather_with_cancel
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from schema.leaves import is_plain_list, leaves_of, plain_items, rows_of, written_leaf
from schema.members import members_of
from schema.plans import ArgumentPlan, FieldPlan, PlanBook, Plans, Selection, argument_plan

if TYPE_CHECKING:
    from graphql import GraphQLField
    from graphql.execution import Executor


class SharedData(dict[str, Any]):
    """Data that several readers get, not to be changed.

    Attributes:
        text: The data as JSON, once somebody wrote it.
    """

    text: bytes | None = None


#: Lists up to this long do not have what their items ask for gathered.
_SHORT = 3


class OperationExecutor(StrawberryGraphQLCoreExecutionContext):
    """Executes one operation; pass as `execution_context_class`.

    Args:
        plans: Of the document that is executed; without, what it takes is found out for this operation alone.
    """

    def __init__(self, *args: Any, plans: PlanBook | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.follow(plans)

    @property
    def async_helpers(self) -> GraphQLResolveInfoHelpers:
        """What resolvers may use of the executor, made when one is told.

        Kept, it would tie every executor into a ring, which only the collection of garbage takes apart: with all that
        the request read, 20 objects of it.
        """
        return GraphQLResolveInfoHelpers(gather=self.gather_async_work, track=self.track_async_work)

    @async_helpers.setter
    def async_helpers(self, _kept: GraphQLResolveInfoHelpers) -> None:
        """Nothing: graphql-core keeps them."""

    def follow(self, plans: PlanBook | None) -> None:
        """Take the plans that fit the operation and its variables; without, make some for this operation alone."""
        named = self.operation.name
        name = named.value if named is not None else None
        self._plans = Plans() if plans is None else plans.of(name, self.variable_values.coerced)
        self._relevant_sub_fields = self._plans.subfields

    def execute_collected_root_fields(
        self, root_type: Any, root_value: Any, grouped_field_set: Any, serially: bool, new_defer_usages: Any
    ) -> Any:
        """Resolve the fields at the top; see `graphql.execution.Executor`. Nothing here defers."""
        plans = self._plans
        if plans.root is None:
            plans.root = grouped_field_set
        # One field alone is in order either way, and with others it costs a reduction over coroutines.
        execute = self.execute_fields_serially if serially and len(plans.root) > 1 else self.execute_fields
        return execute(root_type, root_value, None, plans.root, None)

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Path | None,
        grouped_field_set: dict[str, list[Any]],
        position_context: Any,
    ) -> Any:
        """Resolve the fields of one object; see `graphql.execution.Executor.execute_fields`."""
        is_awaitable = self.is_awaitable
        results: dict[str, Any] = {}
        waiting: list[str] = []
        try:
            for planned in self._selection(parent_type, grouped_field_set).fields:
                name, constant, leaf, field, details, _, _ = planned
                if constant is not None:
                    results[name] = constant
                    continue
                if leaf is not None:
                    written = written_leaf(leaf, source_value)
                    if written is not Undefined:
                        results[name] = written
                        continue
                field_path = Path(path, name, parent_type.name)
                if leaf is None and field is not None:
                    result = self._resolved(parent_type, source_value, planned, field, field_path, position_context)
                else:
                    result = super().execute_field(parent_type, source_value, details, field_path, position_context)
                if result is not Undefined:
                    results[name] = result
                    if type(result) is not dict and is_awaitable(result):
                        waiting.append(name)
        except Exception:
            if waiting:
                self.settle_in_background([results[name] for name in waiting])
            raise
        return self._gathered(results, waiting) if waiting else results

    def execute_field(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        field_details_list: list[Any],
        path: Path,
        position_context: Any,
    ) -> Any:
        """Resolve one field; see `graphql.execution.Executor.execute_field`."""
        leaf = leaves_of(parent_type).get(field_details_list[0].node.name.value)
        if leaf is not None:
            written = written_leaf(leaf, source)
            if written is not Undefined:
                return written
        return super().execute_field(parent_type, source, field_details_list, path, position_context)

    def complete_value(
        self, return_type: Any, field_details_list: list[Any], info: Any, path: Path, result: Any, position_context: Any
    ) -> Any:
        """Complete a value, an object by its fields; see `graphql.execution.Executor.complete_value`."""
        inner = return_type.of_type if type(return_type) is GraphQLNonNull else return_type
        if type(inner) is GraphQLList and type(result) is list:
            plain = plain_items(inner)
            if plain is not None and is_plain_list(result, plain):
                return list(result)
            completed = self._rows(inner.of_type, field_details_list, info, result)
            if completed is not None:
                return completed
            if len(result) > _SHORT and hasattr(self.context_value, "gathers"):
                self.context_value.gathers = True
            if self._are_objects(inner.of_type, info, result):
                return self._objects(inner.of_type, field_details_list, path, result, position_context)
        elif (
            type(inner) is GraphQLObjectType
            and result is not None
            and result is not Undefined
            and not isinstance(result, Exception)
            and (inner.is_type_of is None or inner.is_type_of(result, info) is True)
        ):
            return self.collect_and_execute_subfields(inner, field_details_list, path, result, position_context)
        return super().complete_value(return_type, field_details_list, info, path, result, position_context)

    def collect_and_execute_subfields(
        self, return_type: Any, field_details_list: list[Any], path: Path, result: Any, position_context: Any
    ) -> Any:
        """Resolve what is asked of an object; see `graphql.execution.Executor`."""
        fields = self.collect_subfields(return_type, field_details_list).grouped_field_set
        return self.execute_fields(return_type, result, path, fields, position_context)

    def complete_abstract_value(
        self, return_type: Any, field_details_list: list[Any], info: Any, path: Path, result: Any, position_context: Any
    ) -> Any:
        """Complete a member of a union or an interface; see `graphql.execution.Executor.complete_abstract_value`."""
        kind = members_of(return_type).get(type(result))
        if kind is None:
            return super().complete_abstract_value(
                return_type, field_details_list, info, path, result, position_context
            )
        return self.complete_value(kind, field_details_list, info, path, result, position_context)

    def get_stream_usage(self, field_details_list: list[Any], path: Path) -> None:
        """Nothing: there is no `@stream`, and looking for it costs every list 2 µs."""
        return

    def with_abort_signal(self, awaitable: Any) -> Any:
        """Await what a resolver returned; see `graphql.execution.Executor.with_abort_signal`. Nobody gives a signal."""
        return awaitable if self.abort_signal is None else super().with_abort_signal(awaitable)

    def _resolved(
        self, parent_type: Any, source: Any, planned: FieldPlan, field: GraphQLField, path: Path, position_context: Any
    ) -> Any:
        """Resolve a field whose resolver is known, as `execute_field` does."""
        _, _, _, _, details, nodes, plan = planned
        returned, resolve = field.type, field.resolve
        assert resolve is not None, "planned with it"
        try:
            info = self.build_resolve_info(field, nodes, parent_type, path)
            arguments = None if plan is None else plan.filled(self.variable_values.coerced)
            if arguments is None:
                detail = details[0]
                arguments = get_argument_values(
                    field, detail.node, self.variable_values, detail.fragment_variable_values, self.hide_suggestions
                )
            result = resolve(source, info, **arguments)
            if result is None and type(returned) is not GraphQLNonNull:
                return None
            if self.is_awaitable(result):
                return self.complete_awaitable_value(returned, details, info, path, result, position_context)
            completed = self.complete_value(returned, details, info, path, result, position_context)
            if type(completed) is not dict and self.is_awaitable(completed):
                return self._settled(completed, returned, details, path)
        except Exception as error:
            self.handle_field_error(error, returned, details, path)
            return None
        return completed

    async def _settled(self, completed: Any, returned: Any, details: list[Any], path: Path) -> Any:
        try:
            return await completed
        except Exception as error:
            self.handle_field_error(error, returned, details, path)
            return None

    async def _gathered(self, results: dict[str, Any], waiting: list[str]) -> dict[str, Any]:
        if len(waiting) == 1:
            results[waiting[0]] = await results[waiting[0]]
        else:
            awaited = await gather_with_cancel(*(results[name] for name in waiting))
            results.update(zip(waiting, awaited, strict=True))
        return results

    def _rows(self, item_type: Any, details: list[Any], info: Any, items: list[Any]) -> list[dict[str, Any]] | None:
        """A list of objects of which nothing but plain leaves is asked for; None where something is unusual."""
        kind = item_type.of_type if type(item_type) is GraphQLNonNull else item_type
        if type(kind) is not GraphQLObjectType:
            return None
        leaves = self._selection(kind, self.collect_subfields(kind, details).grouped_field_set).leaves
        if leaves is None:
            return None
        return rows_of(items, leaves, kind, info)

    def _are_objects(self, item_type: Any, info: Any, items: list[Any]) -> bool:
        """Whether all items are objects of their type, at hand and as they should be."""
        kind = item_type.of_type if type(item_type) is GraphQLNonNull else item_type
        if type(kind) is not GraphQLObjectType:
            return False
        # Mostly all are of one class, which is looked at once.
        for item in {type(item): item for item in items}.values():
            if item is None or item is Undefined or isinstance(item, Exception) or self.is_awaitable(item):
                return False
        is_type_of = kind.is_type_of
        return is_type_of is None or all(is_type_of(item, info) is True for item in items)

    def _objects(self, item_type: Any, details: list[Any], path: Path, items: list[Any], position_context: Any) -> Any:
        """A list of objects by their fields, without the layers that look at each item for what it may be."""
        kind = item_type.of_type if type(item_type) is GraphQLNonNull else item_type
        fields = self.collect_subfields(kind, details).grouped_field_set
        results: list[Any] = []
        waiting: list[int] = []
        try:
            for index, item in enumerate(items):
                place = Path(path, index, None)
                try:
                    completed = self.execute_fields(kind, item, place, fields, position_context)
                    if type(completed) is not dict and self.is_awaitable(completed):
                        completed = self._settled(completed, item_type, details, place)
                        waiting.append(index)
                except Exception as error:
                    self.handle_field_error(error, item_type, details, place)
                    completed = None
                results.append(completed)
        except Exception:
            if waiting:
                self.settle_in_background([results[index] for index in waiting])
            raise
        return self._listed(results, waiting) if waiting else results

    async def _listed(self, results: list[Any], waiting: list[int]) -> list[Any]:
        if len(waiting) == 1:
            results[waiting[0]] = await results[waiting[0]]
        else:
            awaited = await gather_with_cancel(*(results[index] for index in waiting))
            for index, completed in zip(waiting, awaited, strict=True):
                results[index] = completed
        return results

    def _selection(self, parent_type: GraphQLObjectType, grouped: dict[str, list[Any]]) -> Selection:
        known = self._plans.selections.get((parent_type, id(grouped)))
        if known is not None:
            return known
        marked = leaves_of(parent_type)
        fields = []
        for name, details in grouped.items():
            nodes = [detail.node for detail in details]
            called = nodes[0].name.value
            field = self.schema.get_field(parent_type, called)
            if field is not None and field.resolve is None:
                field = None
            constant = parent_type.name if called == "__typename" else None
            plan = None if field is None else self._argument_plan(field, details[0])
            fields.append(FieldPlan(name, constant, marked.get(called), field, details, nodes, plan))
        leaves = [(planned.name, planned.leaf) for planned in fields if planned.leaf is not None]
        found = Selection(grouped, fields, leaves if len(leaves) == len(fields) else None)
        self._plans.selections[parent_type, id(grouped)] = found
        return found

    def _argument_plan(self, field: GraphQLField, detail: Any) -> ArgumentPlan | None:
        """What is known of a field's arguments once for all operations of the document."""
        if detail.fragment_variable_values is not None:
            return None
        try:
            found = get_argument_values(field, detail.node, self.variable_values, None, self.hide_suggestions)
        except GraphQLError:
            return None  # said where the field is executed
        return argument_plan(field, detail.node, found)

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Resolve the operation; see `graphql.execution.Executor.execute_operation`.

        What came of an event with a dictionary `shared` is kept there for the same operation with the same variables,
        if nothing of it had to be waited for: only readers do, and only they look at who asks.
        """
        shared = getattr(self.root_value, "shared", None)
        if shared is None:
            return self._executed(serially)
        try:
            key = (id(self.operation), frozenset(self.variable_values.coerced.items()))
            kept = shared.get(key)
        except TypeError:  # a variable that is a list or an object
            return self._executed(serially)
        if kept is None:
            result = self._executed(serially)
            if not isinstance(result, ExecutionResult) or result.errors or result.data is None:
                return result
            result.data = SharedData(result.data)
            kept = shared[key] = (self.operation, result)  # with the operation, whose id no other may get meanwhile
        return kept[1]

    def _executed(self, serially: bool | None) -> Any:
        """Resolve the operation; its fields at the top are not collected anew when they are known."""
        root, operation = self._plans.root, self.operation
        root_type = self.schema.get_root_type(operation.operation)
        if root is None or root_type is None or self.abort_signal is not None:
            return super().execute_operation(serially)
        if serially is None:
            serially = operation.operation is OperationType.MUTATION
        try:
            data = self.execute_collected_root_fields(root_type, self.root_value, root, serially, ())
        except GraphQLError as error:
            self.collected_errors.add(error, None)
            data = None
        return self._answered(data) if self.is_awaitable(data) else self.build_response(data)

    async def _answered(self, awaited: Any) -> ExecutionResult:
        try:
            data = await awaited
        except GraphQLError as error:
            self.collected_errors.add(error, None)
            data = None
        return self.build_response(data)

    def build_response(self, data: dict[str, Any] | None) -> ExecutionResult:
        """The answer; see `graphql.execution.Executor.build_response`. Nothing is left to be delivered later."""
        return ExecutionResult(data, self.collected_errors.errors or None)

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
