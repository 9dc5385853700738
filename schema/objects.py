"""How objects are answered: their plain attributes in one go, the rest by its resolvers.

What a resolver returns is answered by what the field's type says of it, see `schema.returned`, without the layers that
look at each value for what it may be. Whatever is unusual about one takes graphql-core's path and ends as it would
have.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, Undefined
from graphql.execution.values import get_argument_values
from graphql.pyutils import Path, gather_with_cancel
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from schema.argument_plans import ArgumentPlan, argument_plan
from schema.leaves import leaves_of, write_leaves, written_leaf
from schema.members import members_of
from schema.plans import FieldPlan, Plans, Selection, rows_of
from schema.resolver_calls import LateInfo, ShortResolver
from schema.returned import NOTHING_KNOWN, Returned, returned_of

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLObjectType, GraphQLResolveInfo

#: Lists up to this long do not have what their items ask for gathered.
_SHORT = 3
#: Values of these types are never awaitable: answers, nearly always.
_AT_HAND = frozenset({dict, list, str, int, float, bool, type(None)})


class ObjectExecutor(StrawberryGraphQLCoreExecutionContext):
    """The part of `schema.execution.OperationExecutor` that answers objects."""

    _plans: Plans

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Path | None,
        grouped_field_set: dict[str, list[Any]],
        position_context: Any,
    ) -> Any:
        """Resolve the fields of one object; see `graphql.execution.Executor.execute_fields`."""
        selection = self._selection(parent_type, grouped_field_set)
        return self._object(parent_type, source_value, path, selection, position_context)

    def execute_field(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        field_details_list: list[Any],
        path: Path,
        position_context: Any,
    ) -> Any:
        """Resolve one field; see `graphql.execution.Executor.execute_field`."""
        name = field_details_list[0].node.name.value
        leaf = leaves_of(parent_type).get(name)
        answer: dict[str, Any] = {}
        if leaf is not None and write_leaves([(name, leaf)], source, answer):
            return answer[name]
        return super().execute_field(parent_type, source, field_details_list, path, position_context)

    def complete_value(
        self, return_type: Any, field_details_list: list[Any], info: Any, path: Path, result: Any, position_context: Any
    ) -> Any:
        """Complete a value, an object by its fields; see `graphql.execution.Executor.complete_value`."""
        returned = self._returned(return_type)
        if returned.leaf is not None:
            written = written_leaf(returned.leaf, result)
            if written is not Undefined:
                return written
        completed = self._known(returned, field_details_list, path, result, position_context)
        if completed is not Undefined:
            return completed
        if type(result) is list and len(result) > _SHORT and hasattr(self.context_value, "gathers"):
            self.context_value.gathers = True
        return super().complete_value(return_type, field_details_list, info, path, result, position_context)

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

    def _object(
        self, kind: GraphQLObjectType, source: Any, path: Path | None, selection: Selection, position_context: Any
    ) -> Any:
        """One object by its fields, plain attributes first."""
        results = selection.blank.copy()
        fields = selection.others if write_leaves(selection.leaves, source, results) else selection.whole
        waiting: list[str] = []
        try:
            for planned in fields:
                name, field, short = planned.name, planned.field, planned.short
                if field is None:
                    place = Path(path, name, kind.name)
                    result = super().execute_field(kind, source, planned.details, place, position_context)
                elif short is None:
                    result = self._resolved(kind, source, planned, field, path, position_context)
                else:
                    result = self._called(kind, source, planned, field, short, path, position_context)
                if result is Undefined:
                    del results[name]
                    continue
                results[name] = result
                if type(result) not in _AT_HAND and self.is_awaitable(result):
                    waiting.append(name)
        except Exception:
            if waiting:
                self.settle_in_background([results[name] for name in waiting])
            raise
        return self._gathered(results, waiting) if waiting else results

    def _called(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        planned: FieldPlan,
        field: GraphQLField,
        short: ShortResolver,
        path: Path | None,
        position_context: Any,
    ) -> Any:
        """Resolve a field whose resolver is called as it is."""
        name, _, _, details, _, _, returned = planned
        context = self.context_value
        try:
            info = None
            if short.told:
                info = LateInfo(short.definition, context, self._told, parent_type, planned, field, path)
            result = short.begin(source, info, self._arguments(field, planned), context)
            if result is None and returned.nullable:
                return None
            if returned.leaf is not None:
                written = written_leaf(returned.leaf, result)
                if written is not Undefined:
                    return written
            place = Path(path, name, parent_type.name)
            completed = self._known(returned, details, place, result, position_context)
            if completed is Undefined:
                told = self._told(parent_type, planned, field, path)
                return self._anything(field, details, told, place, result, position_context)
            if type(completed) not in _AT_HAND:
                return self._settled(completed, field.type, details, place)
        except Exception as error:
            self.handle_field_error(error, field.type, details, Path(path, name, parent_type.name))
            return None
        return completed

    def _resolved(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        planned: FieldPlan,
        field: GraphQLField,
        path: Path | None,
        position_context: Any,
    ) -> Any:
        """Resolve a field whose resolver is known, as `execute_field` does."""
        assert field.resolve is not None, "planned with it"
        place = Path(path, planned.name, parent_type.name)
        try:
            info = self._told(parent_type, planned, field, path)
            result = field.resolve(source, info, **self._arguments(field, planned))
            return self._anything(field, planned.details, info, place, result, position_context)
        except Exception as error:
            self.handle_field_error(error, field.type, planned.details, place)
            return None

    def _anything(
        self, field: GraphQLField, details: list[Any], info: Any, place: Path, result: Any, position_context: Any
    ) -> Any:
        """Complete whatever a resolver returned."""
        if type(result) not in _AT_HAND and self.is_awaitable(result):
            return self.complete_awaitable_value(field.type, details, info, place, result, position_context)
        completed = self.complete_value(field.type, details, info, place, result, position_context)
        if type(completed) not in _AT_HAND and self.is_awaitable(completed):
            return self._settled(completed, field.type, details, place)
        return completed

    def _told(
        self, parent_type: GraphQLObjectType, planned: FieldPlan, field: GraphQLField, path: Path | None
    ) -> GraphQLResolveInfo[Any]:
        """What a resolver is told."""
        place = Path(path, planned.name, parent_type.name)
        return self.build_resolve_info(field, planned.nodes, parent_type, place)

    def _arguments(self, field: GraphQLField, planned: FieldPlan) -> dict[str, Any]:
        """What a resolver is given, not to be changed.

        Raises:
            GraphQLError: it does not fit.
        """
        plan = planned.arguments
        given = None if plan is None else plan.filled(self.variable_values.coerced)
        if given is not None:
            return given
        detail = planned.details[0]
        return get_argument_values(
            field, detail.node, self.variable_values, detail.fragment_variable_values, self.hide_suggestions
        )

    async def _settled(self, completed: Any, returned: Any, details: list[Any], path: Path) -> Any:
        try:
            return await completed
        except Exception as error:
            self.handle_field_error(error, returned, details, path)
            return None

    async def _gathered(self, results: Any, waiting: list[Any]) -> Any:
        """The fields of an object or the items of a list, once those that wait, by name or index, are there."""
        if len(waiting) == 1:
            results[waiting[0]] = await results[waiting[0]]
        else:
            awaited = await gather_with_cancel(*(results[place] for place in waiting))
            for place, completed in zip(waiting, awaited, strict=True):
                results[place] = completed
        return results

    def _known(self, returned: Returned, details: list[Any], path: Path, result: Any, position_context: Any) -> Any:
        """An object, or a list of objects, of the class that their type says; Undefined where anything is unusual."""
        _, _, kind, origin, item_type = returned
        if kind is None:
            return Undefined
        if item_type is None:
            if type(result) is not origin:
                return Undefined
            return self._object(kind, result, path, self._subselection(kind, details), position_context)
        if type(result) is not list:
            return Undefined
        for item in result:
            if type(item) is not origin:
                return Undefined
        return self._objects(kind, item_type, details, path, result, position_context)

    def _objects(
        self,
        kind: GraphQLObjectType,
        item_type: Any,
        details: list[Any],
        path: Path,
        items: list[Any],
        position_context: Any,
    ) -> Any:
        """A list of objects by their fields, without the layers that look at each item for what it may be."""
        selection = self._subselection(kind, details)
        if not selection.others:
            rows = rows_of(items, selection)
            if rows is not None:
                return rows
        if len(items) > _SHORT and hasattr(self.context_value, "gathers"):
            self.context_value.gathers = True
        results: list[Any] = []
        waiting: list[int] = []
        try:
            for index, item in enumerate(items):
                place = Path(path, index, None)
                try:
                    completed = self._object(kind, item, place, selection, position_context)
                    if type(completed) is not dict:
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
        return self._gathered(results, waiting) if waiting else results

    def _subselection(self, kind: GraphQLObjectType, details: list[Any]) -> Selection:
        """What a field asks of the objects it leads to."""
        below = self._plans.below
        known = below.get((kind, id(details)))
        if known is None:
            # The details are kept with what is collected of them, so their identity stays theirs.
            known = self._selection(kind, self.collect_subfields(kind, details).grouped_field_set)
            below[kind, id(details)] = known
        return known

    def _selection(self, parent_type: GraphQLObjectType, grouped: dict[str, list[Any]]) -> Selection:
        known = self._plans.selections.get((parent_type, id(grouped)))
        if known is not None:
            return known
        marked = leaves_of(parent_type)
        found = Selection(grouped, dict.fromkeys(grouped), [], [], [])
        for name, details in grouped.items():
            called = details[0].node.name.value
            if called == "__typename":
                found.blank[name] = parent_type.name
                continue
            leaf = marked.get(called)
            planned = self._planned(parent_type, name, called, details)
            if leaf is None:
                found.others.append(planned)
            else:
                found.leaves.append((name, leaf))
                planned = planned._replace(field=None)  # only where something is unusual, so by graphql-core
            found.whole.append(planned)
        self._plans.selections[parent_type, id(grouped)] = found
        return found

    def _planned(self, parent_type: GraphQLObjectType, name: str, called: str, details: list[Any]) -> FieldPlan:
        field = self.schema.get_field(parent_type, called)
        if field is None or field.resolve is None:
            return FieldPlan(name, None, None, details, [], None, NOTHING_KNOWN)
        short = field.resolve if isinstance(field.resolve, ShortResolver) else None
        arguments = self._argument_plan(field, details[0])
        nodes = [detail.node for detail in details]
        return FieldPlan(name, field, short, details, nodes, arguments, self._returned(field.type))

    def _returned(self, return_type: Any) -> Returned:
        """What values of a type are answered as."""
        known = self._plans.returned.get(return_type)
        if known is None:
            known = self._plans.returned[return_type] = returned_of(return_type)
        return known

    def _argument_plan(self, field: GraphQLField, detail: Any) -> ArgumentPlan | None:
        """What is known of a field's arguments once for all operations of the document."""
        if detail.fragment_variable_values is not None:
            return None
        try:
            found = get_argument_values(field, detail.node, self.variable_values, None, self.hide_suggestions)
        except GraphQLError:
            return None  # said where the field is executed
        return argument_plan(field, detail.node, found)
