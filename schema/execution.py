"""How operations are executed: as graphql-core does, with some shortcuts.

What a selection asks for is found out once for a document, see `schema.plans`, and objects are answered by what is
known of their types, see `schema.objects`.

Each event of a subscription is resolved in a new context when the context can renew itself.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from graphql import ExecutionResult, GraphQLError, GraphQLResolveInfoHelpers, OperationType

from schema.objects import ObjectExecutor
from schema.plans import PlanBook, Plans

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from graphql.execution import Executor
    from graphql.pyutils import Path


class OperationExecutor(ObjectExecutor):
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

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Resolve the operation; see `graphql.execution.Executor.execute_operation`.

        An event of a subscription is resolved to its end, whenever its listener goes.
        """
        result = self._executed(serially)
        if self.operation.operation is OperationType.SUBSCRIPTION and self.is_awaitable(result):
            return _to_the_end(result)
        return result

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

    def get_stream_usage(self, field_details_list: list[Any], path: Path) -> None:
        """Nothing: there is no `@stream`, and looking for it costs every list 2 µs."""
        return

    def with_abort_signal(self, awaitable: Any) -> Any:
        """Await what a resolver returned; see `graphql.execution.Executor.with_abort_signal`. Nobody gives a signal."""
        return awaitable if self.abort_signal is None else super().with_abort_signal(awaitable)

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


async def _to_the_end(answer: Awaitable[ExecutionResult]) -> ExecutionResult:
    """Await an answer, which takes a few reads, and have it end before a cancellation goes on.

    Fields that wait are coroutines within coroutines. Cancelled before the outer ones have begun, the inner ones are
    dropped, and Python warns of each that it was never awaited.
    """
    task = asyncio.ensure_future(answer)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,))
        raise
