"""Answers events of subscriptions to their end, also when their listener has gone.

graphql-core answers an event by coroutines within coroutines. Cancelled before the outer ones have run, the inner ones
are dropped, and Python warns of each that it was never awaited (a case of
https://github.com/graphql-python/graphql-core/issues/269). Neither library offers a hook around the answer to an event,
so one method of the executor is extended, which is the class meant to be:
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
    """Strawberry's own, with one addition; pass as `execution_context_class`."""

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Execute an operation or one event; see `graphql.execution.Executor.execute_operation`."""
        result = super().execute_operation(serially)
        if self.operation.operation is OperationType.SUBSCRIPTION and self.is_awaitable(result):
            return _to_the_end(result)
        return result


async def _to_the_end(answer: Awaitable[Any]) -> Any:
    """Await an answer, which takes a few reads; a cancellation goes on once it has ended."""
    task = asyncio.ensure_future(answer)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,))
        raise
