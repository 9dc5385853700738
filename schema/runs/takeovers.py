"""Takeovers: changes of the worker that executes a run."""

from datetime import datetime

import strawberry

from resolvers.records import TakeoverRecord


@strawberry.type(description="A worker went on with a run that another worker had before.")
class Takeover:
    at: datetime = strawberry.field(description="When the worker claimed the run.")
    worker: str = strawberry.field(description="Name of the worker that claimed the run.")
    previous_worker: str = strawberry.field(description="Name of the worker that had the run before.")
    lost: bool = strawberry.field(
        description="Whether the previous worker was lost while it held the run. False if it had released the run, "
        "for example when it stopped, or if the run waited or was resumed."
    )

    @classmethod
    def of(cls, record: TakeoverRecord) -> "Takeover":
        return cls(at=record.at, worker=record.worker, previous_worker=record.previous_worker, lost=record.lost)
