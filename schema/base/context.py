"""The context shared by the resolvers of one operation: the caller, and the loaders that batch reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import strawberry
from strawberry.extensions import SchemaExtension

from schema.base.loaders import Loaders
from schema.base.masking import error_extensions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strawberry.types.execution import StreamExecutionResult

    from resolvers.context import Caller, Context


class OperationContext:
    """A context that adds extensions to the response and is reused for every event of a subscription."""

    __slots__ = ()

    @property
    def extensions(self) -> dict[str, object]:
        return {}

    def next_event(self) -> None:
        """Clear what was read for the last event of a subscription."""


class ContextExtension(SchemaExtension):
    """Adds the context's extensions to each response, and clears its loaders after each event of a subscription."""

    def get_results(self) -> dict[str, object]:
        """Return the `extensions` of the response."""
        context = self.execution_context.context
        return context.extensions if isinstance(context, OperationContext) else {}

    def on_stream_result(self, result: StreamExecutionResult) -> Iterator[None]:
        """Clear the loaders before the next event is answered."""
        context = self.execution_context.context
        if isinstance(context, OperationContext):
            context.next_event()
        yield


class RequestContext(OperationContext):
    """The context of one operation; a WebSocket creates a new one for each of its operations.

    Attributes:
        context: Passed to use cases.
    """

    __slots__ = ("_loaders", "context")

    def __init__(self, context: Context) -> None:
        self.context = context
        self._loaders: Loaders | None = None

    @property
    def loaders(self) -> Loaders:
        """Batched reads, cached for the operation or for one event of a subscription."""
        if self._loaders is None:
            self._loaders = Loaders(self.context)
        return self._loaders

    @property
    def caller(self) -> Caller:
        return self.context.caller

    @property
    def extensions(self) -> dict[str, object]:
        misses = self.context.misses
        return {"notFound": [{"message": miss.message, **error_extensions(miss)} for miss in misses]} if misses else {}

    def clear_loaders(self) -> None:
        """Forget cached reads; call after a command changed data."""
        self._loaders = None

    def next_event(self) -> None:
        """Clear what was read for the last event of a subscription."""
        self.clear_loaders()
        self.context.misses.clear()


Info = strawberry.Info[RequestContext, None]
