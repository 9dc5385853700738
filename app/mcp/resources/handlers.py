"""The protocol's requests for resources, and subscriptions to runs. Imports `mcp`."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server import CacheHint
from mcp.server.caching import apply_cache_hint
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.shared.exceptions import MCPError

from app.mcp.resources.resources import CATALOG_TTL_MS, RUN, NoSuchResourceError, ResourceRefusedError, read, readables
from resolvers.problems import Problem
from resolvers.runs.runs import get_run
from resolvers.runs.watching import watch_run
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from mcp.server import Server

    from app.mcp.session import Session
    from app.mcp.tools.toolbox import Toolbox
    from app.mcp.transport.parts import RequestContext, SessionOf

#: Most open subscriptions, those of one caller, and runs in one of them.
STREAMS_MAX: Final = 256
STREAMS_OF_CALLER_MAX: Final = 64
RUNS_MAX: Final = 50
#: Shortest interval between two notifications about a run, in seconds.
PAUSE_SECONDS: Final = 0.2
_JSON: Final = "application/json"
_CATALOG: Final = CacheHint(ttl_ms=CATALOG_TTL_MS, scope="private")


def add_to(server: Server[Any], session_of: SessionOf, toolbox: Toolbox) -> None:
    """Serve resources, templates and, to clients of 2026, subscriptions to runs."""

    async def list_resources(ctx: RequestContext, _: types.PaginatedRequestParams) -> types.ListResourcesResult:
        found = [
            types.Resource(uri=one.uri, name=one.name, title=one.title, description=one.description, mime_type=_JSON)
            for one in readables(toolbox, session_of(ctx))
            if not one.is_template
        ]
        return apply_cache_hint(types.ListResourcesResult(resources=found), _CATALOG)

    async def list_templates(ctx: RequestContext, _: types.PaginatedRequestParams) -> types.ListResourceTemplatesResult:
        found = [
            types.ResourceTemplate(
                uri_template=one.uri, name=one.name, title=one.title, description=one.description, mime_type=_JSON
            )
            for one in readables(toolbox, session_of(ctx))
            if one.is_template
        ]
        return apply_cache_hint(types.ListResourceTemplatesResult(resource_templates=found), _CATALOG)

    async def read_resource(ctx: RequestContext, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text, readable = await read(toolbox, session_of(ctx), uri)
        except NoSuchResourceError as error:
            raise MCPError(types.INVALID_PARAMS, f"Resource not found: {error}", {"uri": excerpt(uri, 500)}) from error
        except ResourceRefusedError as error:
            raise MCPError(types.INVALID_REQUEST, str(error), {"uri": uri}) from error
        content = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
        return types.ReadResourceResult(contents=[content], ttl_ms=readable.ttl_ms, cache_scope="private")

    server.add_request_handler("resources/list", types.PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, _Listening(session_of))


class _Listening:
    """One call is one stream: it notifies of changed runs until the client leaves or its token ends.

    A run's events, of this process and others, cause notifications, which only say that there is something new to read.
    The lists of tools and resources cause none: they only change with the packs, and clients cache them for a minute.
    An ended run gets a last notification; subscribe again after a resume.
    """

    def __init__(self, session_of: SessionOf) -> None:
        self._session_of = session_of
        #: Open streams, by caller.
        self._streams: Counter[str] = Counter()

    async def __call__(
        self, ctx: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        session = self._session_of(ctx)
        caller_id = session.caller.id
        if self._streams[caller_id] >= STREAMS_OF_CALLER_MAX or self._streams.total() >= STREAMS_MAX:
            raise MCPError(types.INTERNAL_ERROR, "Too many streams are open. Close some, or use wait_run.")
        self._streams[caller_id] += 1
        try:
            return await self._listen(ctx, session, params.notifications)
        finally:
            self._streams[caller_id] -= 1
            if not self._streams[caller_id]:
                del self._streams[caller_id]

    async def _listen(
        self, ctx: RequestContext, session: Session, wanted: types.SubscriptionFilter
    ) -> types.SubscriptionsListenResult:
        runs = await _visible_runs(session, wanted.resource_subscriptions or ())
        honoured = types.SubscriptionFilter(
            tools_list_changed=wanted.tools_list_changed or None,
            prompts_list_changed=wanted.prompts_list_changed or None,
            resources_list_changed=wanted.resources_list_changed or None,
            resource_subscriptions=list(runs) or None,
        )
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        acknowledged = types.SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
        changed: set[str] = set()
        flag = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            followers = [
                group.create_task(_follow(session, run_id, after, uri, changed, flag))
                for uri, (run_id, after) in runs.items()
            ]
            await ctx.session.send_notification(
                types.SubscriptionsAcknowledgedNotification(params=acknowledged), related_request_id=ctx.request_id
            )
            ended = group.create_task(session.ended())
            try:
                await _notify(ctx, meta, changed, flag, ended)
            finally:
                for task in (*followers, ended):
                    task.cancel()
        return types.SubscriptionsListenResult(_meta=meta)


async def _visible_runs(session: Session, uris: Any) -> dict[str, tuple[str, int]]:  # noqa: ANN401 - a list or nothing
    """The runs among the addresses that the caller may see: id and latest event, by address."""
    found: dict[str, tuple[str, int]] = {}
    if session.caller.tools is not None and "get_run" not in session.caller.tools:
        return found
    for uri in list(dict.fromkeys(map(str, uris)))[:RUNS_MAX]:
        named = RUN.match(uri)
        run = None if named is None else await get_run(session.context, id=named["run_id"])
        if run is not None:
            found[uri] = (run.id, run.next_seq - 1)
    return found


async def _follow(session: Session, run_id: str, after: int, uri: str, changed: set[str], flag: asyncio.Event) -> None:
    with contextlib.suppress(Problem):  # the run was deleted
        async with aclosing(await watch_run(session.context, id=run_id, after=after)) as messages:  # type: ignore[type-var]
            async for _ in messages:
                changed.add(uri)
                flag.set()


async def _notify(
    ctx: RequestContext, meta: dict[str, Any], changed: set[str], flag: asyncio.Event, ended: asyncio.Task[None]
) -> None:
    """Send a notification of each change until the caller's token ends."""
    while not ended.done():
        waiting = asyncio.ensure_future(flag.wait())
        try:
            await asyncio.wait({waiting, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:  # a client that leaves cancels the stream here
            waiting.cancel()
        flag.clear()
        uris = sorted(changed)
        changed.clear()
        for uri in uris:
            params = types.ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
            await ctx.session.send_notification(
                types.ResourceUpdatedNotification(params=params), related_request_id=ctx.request_id
            )
        await asyncio.sleep(PAUSE_SECONDS)
