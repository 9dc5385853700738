"""`packline`, its GraphQL served by stock Strawberry: the same types and contexts in its own schema and application.

Documents are cached by Strawberry's own extensions; nothing is limited, weighed, guarded by scope or masked.

python -m tests.bench.stock_graphql up …
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import strawberry
from strawberry.asgi import GraphQL
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.schema.config import StrawberryConfig

from app.auth.identity import bearer_token
from app.cli import main
from schema.base.scalars import SCALAR_MAP
from schema.mutation import Mutation
from schema.query import Query
from schema.subscription import Subscription

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from app.graphql.endpoint import Authenticate, MakeContext


class StockGraphQL(GraphQL[Any, None]):
    """Takes the place of `app.graphql.endpoint.GraphQLApp`."""

    def __init__(
        self, _: object, *, authenticate: Authenticate[Any], make_context: MakeContext[Any], **__: object
    ) -> None:
        stock = strawberry.Schema(
            Query,
            Mutation,
            Subscription,
            extensions=[ParserCache, ValidationCache],
            config=StrawberryConfig(scalar_map=SCALAR_MAP),
        )
        super().__init__(stock, graphql_ide=None)
        self._authenticate = authenticate
        self._make_context = make_context

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Any:
        """The context of a request, as Packline makes it."""
        del response
        caller = await self._authenticate(request, bearer_token(request.headers["authorization"]))
        assert caller is not None, "the benchmark has a token"
        return self._make_context(caller, request)

    def stop(self) -> None:
        """Nothing: there are no streams."""


if __name__ == "__main__":
    with patch("app.surfaces.GraphQLApp", StockGraphQL):
        main()
