"""Everything that can be watched."""

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
    run: Run = strawberry.field(resolver=_run_of, description="The run as it is now.")
    cursor: Cursor = strawberry.field(description="Position to go on after.")
    live: bool = strawberry.field(description="Whether everything stored has now been sent; what follows is live.")
    run_id: strawberry.Private[str]

    @strawberry.field(description="Steps whose state or attempts these events changed, as they are now; each once.")
    async def changed_steps(self, info: Info) -> list[RunStep]:
        """One read, however many events concern them."""
        about = [event.record for event in self.events if isinstance(event, StepStateChanged | AttemptStateChanged)]
        ids = dict.fromkeys(record.step_id for record in about if record.step_id is not None)
        found = await info.context.loaders.step.load_many(ids)
        return [RunStep.of(step) for step in found if step is not None]


@strawberry.type(
    description=(
        "The position asked for is no longer stored, or the reader was too slow: read the run again and go on after "
        "`cursor`."
    )
)
class RunEventGap:
    run: Run = strawberry.field(resolver=_run_of, description="The run as it is now.")
    cursor: Cursor = strawberry.field(description="Position to go on after.")
    missed: Long | None = strawberry.field(description="Events left out; null when unknown.")
    run_id: strawberry.Private[str]


@strawberry.type(
    description=(
        "The run has ended and every event was sent; the server completes the subscription after this. A resume adds "
        "events after `cursor`."
    )
)
class RunEventsEnd:
    run: Run = strawberry.field(resolver=_run_of, description="The run as it ended.")
    cursor: Cursor = strawberry.field(description="Position of its last event.")
    run_id: strawberry.Private[str]


RunEventsMessage = Annotated[
    RunEventBatch | RunEventGap | RunEventsEnd,
    strawberry.union("RunEventsMessage", description="What runEvents sends."),
]


@strawberry.type(
    description=(
        "Runs that appeared, changed or were deleted. Wake-ups may be missed: after a reconnect, read the list again."
    )
)
class RunChanges:
    runs: list[Run] = strawberry.field(description="The runs, as they are now; each once.")
    deleted_ids: list[strawberry.ID] = strawberry.field(description="Ids of runs that are gone.")
    more: bool = strawberry.field(description="More changed than is told here: read the list again.")


@strawberry.type(description="Lines and entries, oldest first.")
class AttemptOutputBatch:
    lines: list[LogLine] = strawberry.field(description="Lines logged.")
    entries: list[TranscriptEntry] = strawberry.field(description="Transcript entries added.")
    cursor: Cursor = strawberry.field(description="Position to go on after.")
    live: bool = strawberry.field(description="Whether everything stored has now been sent; what follows is live.")


@strawberry.type(description="Output was left out, as too much or no longer stored: go on after `cursor`.")
class AttemptOutputGap:
    cursor: Cursor = strawberry.field(description="Position to go on after.")


@strawberry.type(
    description=("The attempt has ended and all output was sent; the server completes the subscription after this.")
)
class AttemptOutputEnd:
    attempt: Attempt = strawberry.field(description="The attempt as it ended.")
    cursor: Cursor = strawberry.field(description="Position of its last output.")


AttemptOutputMessage = Annotated[
    AttemptOutputBatch | AttemptOutputGap | AttemptOutputEnd,
    strawberry.union("AttemptOutputMessage", description="What attemptOutput sends."),
]


@strawberry.type(
    description=(
        "Everything that can be watched. Each message carries a cursor; subscribe again after the last one seen."
    )
)
class Subscription:
    @strawberry.subscription(
        description=(
            "A run's events from a position on: what is stored, in batches, then what happens, until the run has ended."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def run_events(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The run.")],
        after: Annotated[
            Cursor | None,
            strawberry.argument(description="Go on after this position, exclusive; from the beginning when absent."),
        ] = None,
    ) -> AsyncGenerator[RunEventsMessage, None]:
        position = event_position(after, id) or 0
        stream = await _refusable(watch_run(info.context.context, id=id, after=position))
        async with aclosing(stream) as messages:
            async for message in messages:
                cursor = EVENTS.encode((id, message.position))
                match message:
                    case Batch(events, live):
                        told = [event_of(event) for event in events]
                        yield RunEventBatch(events=told, cursor=cursor, live=live, run_id=id)
                    case Gap(_, missed) | Behind(_, missed):
                        yield RunEventGap(cursor=cursor, missed=None if missed is None else Long(missed), run_id=id)
                    case _:
                        yield RunEventsEnd(cursor=cursor, run_id=id)

    @strawberry.subscription(
        description=(
            "Runs that appear or change, for lists: one message on connecting, then at most one a second. There is no "
            "replay: read the list again."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def run_changes(
        self,
        info: Info,
        filter: Annotated[
            RunFilter | None,
            strawberry.argument(description="Only runs that match, before or after the change."),
        ] = None,
    ) -> AsyncGenerator[RunChanges, None]:
        stream = await _refusable(watch_runs(info.context.context, query=(filter or RunFilter()).query()))
        async with aclosing(stream) as messages:
            async for message in messages:
                yield RunChanges(
                    runs=[Run.of(run) for run in message.runs],
                    deleted_ids=[strawberry.ID(run_id) for run_id in message.deleted_ids],
                    more=message.more,
                )

    @strawberry.subscription(
        description="What an attempt logs and what its agent says and does, until it has ended.",
        directives=[Requires(scope=Scope.READ), Cost(weight=10)],
    )
    async def attempt_output(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The attempt.")],
        after: Annotated[
            Cursor | None,
            strawberry.argument(description="Go on after this position, exclusive; from the beginning when absent."),
        ] = None,
    ) -> AsyncGenerator[AttemptOutputMessage, None]:
        position = output_position(after, id)
        asked = _fields_asked(info.selected_fields)
        stream = await _refusable(
            watch_attempt(
                info.context.context, id=id, after=position, lines="lines" in asked, entries="entries" in asked
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


def _fields_asked(selections: Iterable[Selection]) -> set[str]:
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


async def _refusable(opening: Any) -> Any:  # noqa: ANN401 - passes on whatever stream the use case opens
    """Open a stream; a refusal becomes an error of the subscription."""
    try:
        return await opening
    except Refusal as refusal:
        raise PublicError(refusal.message, refusal.code) from refusal
