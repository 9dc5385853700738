"""What the resolvers of one operation share: who calls, and the loaders that batch its reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import strawberry

from schema.loaders import Loaders
from schema.masking import told_of

if TYPE_CHECKING:
    from resolvers.context import Caller, Context


class RequestContext:
    """The context of one operation; a socket gets a new one for each of its operations.

    Attributes:
        context: What use cases are given.
        at_once: Whether reads of a few rows are answered without waiting, and each may be made by itself.
        gathers: Whether reads are gathered: set once a longer list is met, whose items ask for the same.
    """

    __slots__ = ("_loaders", "at_once", "context", "gathers")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.at_once = context.services.store.dialect == "sqlite"
        self.gathers = False
        self._loaders: Loaders | None = None

    @property
    def loaders(self) -> Loaders:
        """Batched reads, remembered for the operation."""
        if self._loaders is None:
            self._loaders = Loaders(self.context, self)
        return self._loaders

    @property
    def caller(self) -> Caller:
        """Who calls."""
        return self.context.caller

    @property
    def extensions(self) -> dict[str, object] | None:
        """What is told beside the data: names the operation looked for in vain, each with the closest there is."""
        misses = self.context.misses
        return {"notFound": [{"message": miss.message, **told_of(miss)} for miss in misses]} if misses else None

    def fresh(self) -> None:
        """Forgets what was read: a command has changed it."""
        self._loaders = None

    def for_event(self) -> RequestContext:
        """The context of one event of a subscription: it sees what is stored by then."""
        return RequestContext(self.context)


Info = strawberry.Info[RequestContext, None]
