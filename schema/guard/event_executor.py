"""Executes events of subscriptions to completion, even if the client has disconnected.

graphql-core resolves an event with nested coroutines. If the task is cancelled before the outer ones have run, the
inner ones are dropped, and Python warns that each was never awaited (a case of
https://github.com/graphql-python/graphql-core/issues/269). Neither library has a hook around the execution of an event,
so one method of the executor is overridden, as its documentation allows:
https://graphql-core-3.readthedocs.io/en/latest/modules/execution.html
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from graphql import OperationType
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

if TYPE_CHECKING:
    from collections.abc import Awaitable


class EventExecutor(StrawberryGraphQLCoreExecutionContext):
    """Strawberry's executor with shielded events; pass as `execution_context_class`."""

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Execute an operation or one event; see `graphql.execution.Executor.execute_operation`."""
        result = super().execute_operation(serially)
        if self.operation.operation is OperationType.SUBSCRIPTION and self.is_awaitable(result):
            return _completed(result)
        return result


async def _completed(answer: Awaitable[Any]) -> Any:
    """Await a result of a few reads; a cancellation is delayed until it is complete."""
    task = asyncio.ensure_future(answer)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,))
        raise
