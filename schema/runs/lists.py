"""Reads of runs: one by id, filtered lists, and waiting for one."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import Annotated

import strawberry

from resolvers.runs.runs import RunQuery, count_visible_runs, get_run, list_visible_runs, wait_run
from schema.base.context import Info
from schema.base.cursors import EVENTS, RUNS, event_position
from schema.base.directives import Cost, Requires, published
from schema.base.pagination import After, Before, Connection, First, Last, PageArguments, page_of
from schema.base.scalars import Cursor
from schema.runs.runs import Run
from schema.runs.states import RunCause, RunState
from store.states import Scope

RunConnection = Connection[Run]


@strawberry.input(description="Filters for runs. All given fields must match; within a field, any value.")
class RunFilter:
    states: list[RunState] | None = strawberry.field(default=None, description="Only runs in one of these states.")
    pipelines: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Only runs of one of these pipelines, by id, key or alias."
    )
    packs: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Only single calls of one of these packs, by id."
    )
    callers: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Only runs started by one of these callers, by id."
    )
    causes: list[RunCause] | None = strawberry.field(default=None, description="Only runs with one of these causes.")
    rerun_of: strawberry.ID | None = strawberry.field(default=None, description="Only re-runs of the run with this id.")
    ended_run: strawberry.ID | None = strawberry.field(
        default=None, description="Only runs that triggers started because the run with this id ended."
    )
    needs_attention: bool | None = strawberry.field(
        default=None,
        description="True: only failed runs that are not acknowledged and have no successful re-run. False: "
        "all others.",
    )
    text: str | None = strawberry.field(
        default=None, description="Words to search for in titles, inputs and failure messages."
    )
    created_from: datetime | None = strawberry.field(
        default=None, description="Only runs created at or after this time."
    )
    created_before: datetime | None = strawberry.field(default=None, description="Only runs created before this time.")

    def query(self) -> RunQuery:
        return RunQuery(
            states=tuple(self.states) if self.states is not None else None,
            pipelines=tuple(self.pipelines) if self.pipelines is not None else None,
            packs=tuple(self.packs) if self.packs is not None else None,
            callers=tuple(self.callers) if self.callers is not None else None,
            causes=tuple(self.causes) if self.causes is not None else None,
            rerun_of=self.rerun_of,
            ended_run=self.ended_run,
            needs_attention=self.needs_attention,
            text=self.text,
            created_from=self.created_from,
            created_before=self.created_before,
        )


@strawberry.type(description="The result of waiting for a run.")
class WaitRunAnswer:
    run: Run = strawberry.field(description="The run in its current state.")
    timed_out: bool = strawberry.field(description="Whether the wait timed out.")
    cursor: Cursor = strawberry.field(description="Cursor to pass as `after` in the next call.")


async def run_page(
    info: Info, query: RunQuery, first: int | None, after: str | None, last: int | None, before: str | None
) -> RunConnection:
    arguments = PageArguments.parse(RUNS, first=first, after=after, last=last, before=before)
    context = info.context.context

    async def count() -> int:
        return await count_visible_runs(context, query)

    rows = await list_visible_runs(context, query=query, window=arguments.window)
    page = page_of(rows, arguments, lambda row: RUNS.encode((row.id,)))
    return RunConnection.of(page, Run.of, count)


async def newest_runs_page(info: Info, pipeline_id: str, first: int | None) -> RunConnection:
    """The first page of a pipeline's runs, like `run_page`; one query for all pipelines of a list."""
    arguments = PageArguments.parse(RUNS, first=first)
    context = info.context.context

    async def count() -> int:
        return await count_visible_runs(context, RunQuery(pipelines=(pipeline_id,)))

    rows = await info.context.loaders.newest_runs.load((pipeline_id, arguments.limit + 1))
    return RunConnection.of(page_of(rows, arguments, lambda row: RUNS.encode((row.id,))), Run.of, count)


@strawberry.type
class RunQueries:
    @strawberry.field(
        description="A run with its state, failure, steps, artifacts and available actions.",
        directives=[Requires(scope=Scope.READ), published(get_run)],
    )
    async def run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run's id.")],
    ) -> Run | None:
        found = await get_run(info.context.context, id=id)
        return None if found is None else Run.of(found)

    @strawberry.field(
        description="Runs, newest first.",
        directives=[Requires(scope=Scope.READ), published(list_visible_runs)],
    )
    async def runs(
        self,
        info: Info,
        filter: Annotated[RunFilter | None, strawberry.argument(description="Only runs that match the filter.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> RunConnection:
        return await run_page(info, (filter or RunFilter()).query(), first, after, last, before)

    @strawberry.field(
        description=("Waits until a run ends or changes. A timeout is a normal result; call again to keep waiting."),
        directives=[Requires(scope=Scope.READ), Cost(weight=20), published(wait_run)],
    )
    async def wait_run(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run's id.")],
        wait_seconds: Annotated[int, strawberry.argument(description="Maximum wait in seconds, 0 to 50.")] = 45,
        until_change: Annotated[
            bool, strawberry.argument(description="Return at the first change instead of at the end of the run.")
        ] = False,
        after: Annotated[
            Cursor | None,
            strawberry.argument(description="Only changes after this cursor count. Defaults to the time of the call."),
        ] = None,
    ) -> WaitRunAnswer | None:
        waited = await wait_run(
            info.context.context,
            id=id,
            wait_seconds=wait_seconds,
            until_change=until_change,
            after=event_position(after, id),
        )
        if waited is None:
            return None
        return WaitRunAnswer(
            run=Run.of(waited.run), timed_out=waited.timed_out, cursor=EVENTS.encode((id, waited.sequence))
        )
