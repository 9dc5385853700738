"""Subscriptions: events of a run, changes of runs, and output of an attempt."""

# mypy: disallow-untyped-decorators=False
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Annotated, Any

import strawberry
from strawberry.types.nodes import SelectedField, Selection

from resolvers.problems import Problem as Refusal
from resolvers.runs.watching import Behind, Output, OutputGap, watch_attempt, watch_run, watch_runs
from runner.watching.tail import Batch, Gap
from schema.base.context import Info
from schema.base.cursors import EVENTS, OUTPUT, event_position, output_position
from schema.base.directives import Cost, Requires
from schema.base.masking import PublicError
from schema.base.scalars import Cursor, Long
from schema.runs.attempts import Attempt, LogLine
from schema.runs.events import AttemptStateChanged, RunEvent, StepStateChanged, event_of
from schema.runs.lists import RunFilter
from schema.runs.runs import Run, load_run
from schema.runs.steps import RunStep
from schema.runs.transcripts import TranscriptEntry
from store.states import Scope


async def _run_of(root: Any, info: Info) -> Run:  # noqa: ANN401 - of any message that names its run
    """Load the run of a message, only if the client selected it."""
    found = await load_run(info, root.run_id)
    if found is None:
        raise PublicError(f"Run {root.run_id} has been deleted.", "NOT_FOUND")
    return found


@strawberry.type(description="Events, oldest first.")
class RunEventBatch:
    events: list[RunEvent] = strawberry.field(description="One or more events.")
    run: Run = strawberry.field(resolver=_run_of, description="The run in its current state.")
    cursor: Cursor = strawberry.field(description="Cursor for continuing after this batch.")
    live: bool = strawberry.field(description="Whether all stored events have been sent. Later batches are live.")
    run_id: strawberry.Private[str]

    @strawberry.field(description="Steps changed by these events, in their current state. Each step is listed once.")
    async def changed_steps(self, info: Info) -> list[RunStep]:
        """One read, however many events concern them."""
        about = [event.record for event in self.events if isinstance(event, StepStateChanged | AttemptStateChanged)]
        ids = dict.fromkeys(record.step_id for record in about if record.step_id is not None)
        found = await info.context.loaders.step.load_many(ids)
        return [RunStep.of(step) for step in found if step is not None]


@strawberry.type(
    description=(
        "Events were left out because they are no longer stored or the client read too slowly. Fetch the run "
        "again and continue after `cursor`."
    )
)
class RunEventGap:
    run: Run = strawberry.field(resolver=_run_of, description="The run in its current state.")
    cursor: Cursor = strawberry.field(description="Cursor for continuing.")
    missed: Long | None = strawberry.field(description="Number of events left out. Null if unknown.")
    run_id: strawberry.Private[str]


@strawberry.type(
    description=(
        "The run has ended and all events were sent; the server then completes the subscription. If the run "
        "is resumed, more events follow after `cursor`."
    )
)
class RunEventsEnd:
    run: Run = strawberry.field(resolver=_run_of, description="The run as it ended.")
    cursor: Cursor = strawberry.field(description="Cursor of the last event.")
    run_id: strawberry.Private[str]


RunEventsMessage = Annotated[
    RunEventBatch | RunEventGap | RunEventsEnd,
    strawberry.union("RunEventsMessage", description="The messages of `runEvents`."),
]


@strawberry.type(
    description=(
        "Runs that were created, changed or deleted. Changes can be missed while disconnected: fetch the "
        "list again after a reconnect."
    )
)
class RunChanges:
    runs: list[Run] = strawberry.field(description="The runs in their current state. Each run is listed once.")
    deleted_ids: list[strawberry.ID] = strawberry.field(description="Ids of deleted runs.")
    more: bool = strawberry.field(
        description="Whether there are more changes than listed here. If so, fetch the list again."
    )


@strawberry.type(description="New log lines and transcript entries, oldest first.")
class AttemptOutputBatch:
    lines: list[LogLine] = strawberry.field(description="Log lines that were added.")
    entries: list[TranscriptEntry] = strawberry.field(description="Transcript entries that were added.")
    cursor: Cursor = strawberry.field(description="Cursor for continuing after this batch.")
    live: bool = strawberry.field(description="Whether all stored output has been sent. Later batches are live.")


@strawberry.type(
    description="Output was left out because there is too much or it is no longer stored. Continue after `cursor`."
)
class AttemptOutputGap:
    cursor: Cursor = strawberry.field(description="Cursor for continuing.")


@strawberry.type(
    description=("The attempt has ended and all output was sent; the server then completes the subscription.")
)
class AttemptOutputEnd:
    attempt: Attempt = strawberry.field(description="The attempt as it ended.")
    cursor: Cursor = strawberry.field(description="Cursor of the last output.")


AttemptOutputMessage = Annotated[
    AttemptOutputBatch | AttemptOutputGap | AttemptOutputEnd,
    strawberry.union("AttemptOutputMessage", description="The messages of `attemptOutput`."),
]


@strawberry.type(
    description=(
        "The root of all subscriptions. Most messages carry a cursor; pass the last one as `after` to continue."
    )
)
class Subscription:
    @strawberry.subscription(
        description=(
            "Streams the events of a run: first the stored ones in batches, then live ones until the run ends."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def run_events(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run's id.")],
        after: Annotated[
            Cursor | None,
            strawberry.argument(description="Cursor to continue after. Starts at the beginning by default."),
        ] = None,
    ) -> AsyncGenerator[RunEventsMessage, None]:
        position = event_position(after, id) or 0
        stream = await _open_stream(watch_run(info.context.context, id=id, after=position))
        async with aclosing(stream) as messages:
            async for message in messages:
                cursor = EVENTS.encode((id, message.position))
                match message:
                    case Batch(events, live):
                        shown = [event_of(event) for event in events]
                        yield RunEventBatch(events=shown, cursor=cursor, live=live, run_id=id)
                    case Gap(_, missed) | Behind(_, missed):
                        yield RunEventGap(cursor=cursor, missed=None if missed is None else Long(missed), run_id=id)
                    case _:
                        yield RunEventsEnd(cursor=cursor, run_id=id)

    @strawberry.subscription(
        description=(
            "Streams changes of runs: one message on connecting, then at most one per second. Changes are "
            "not replayed; fetch the list after a reconnect."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def run_changes(
        self,
        info: Info,
        filter: Annotated[
            RunFilter | None,
            strawberry.argument(description="Only runs that match the filter before or after the change."),
        ] = None,
    ) -> AsyncGenerator[RunChanges, None]:
        stream = await _open_stream(watch_runs(info.context.context, query=(filter or RunFilter()).query()))
        async with aclosing(stream) as messages:
            async for message in messages:
                yield RunChanges(
                    runs=[Run.of(run) for run in message.runs],
                    deleted_ids=[strawberry.ID(run_id) for run_id in message.deleted_ids],
                    more=message.more,
                )

    @strawberry.subscription(
        description="Streams the log and transcript of an attempt until it ends.",
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def attempt_output(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The attempt's id.")],
        after: Annotated[
            Cursor | None,
            strawberry.argument(description="Cursor to continue after. Starts at the beginning by default."),
        ] = None,
    ) -> AsyncGenerator[AttemptOutputMessage, None]:
        position = output_position(after, id)
        selected = _selected_fields(info.selected_fields)
        stream = await _open_stream(
            watch_attempt(
                info.context.context, id=id, after=position, lines="lines" in selected, entries="entries" in selected
            )
        )
        async with aclosing(stream) as messages:
            async for message in messages:
                cursor = OUTPUT.encode((id, message.position.lines, message.position.entries))
                match message:
                    case Output(lines, entries, _, live):
                        yield AttemptOutputBatch(
                            lines=[LogLine.of(line) for line in lines],
                            entries=[TranscriptEntry.of(entry) for entry in entries],
                            cursor=cursor,
                            live=live,
                        )
                    case OutputGap():
                        yield AttemptOutputGap(cursor=cursor)
                    case _:
                        yield AttemptOutputEnd(attempt=Attempt.of(message.attempt), cursor=cursor)


def _selected_fields(selections: Iterable[Selection]) -> set[str]:
    """Names of the fields selected on a subscription's messages; the others are not read."""
    found: set[str] = set()
    for root in selections:
        fragments = list(root.selections)
        while fragments:
            selected = fragments.pop()
            if isinstance(selected, SelectedField):
                found.add(selected.name)
            else:
                fragments += selected.selections
    return found


async def _open_stream(stream: Any) -> Any:  # noqa: ANN401 - passes on the use case's stream
    """Open a stream; a refusal becomes an error of the subscription."""
    try:
        return await stream
    except Refusal as refusal:
        raise PublicError(refusal.message, refusal.code) from refusal
