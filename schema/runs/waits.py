"""Why a run or step is waiting, and until when."""

from datetime import datetime
from enum import Enum

import strawberry


@strawberry.enum(description="What a run or step can wait for.")
class WaitReason(Enum):
    SLOT = strawberry.enum_value(
        "slot", description="A free worker, or a free slot within the caller's limit of concurrent runs."
    )
    WORKER = strawberry.enum_value("worker", description="A worker that has what the next step needs; none is alive.")
    START_TIME = strawberry.enum_value("start_time", description="The start time that was asked for.")
    RETRY = strawberry.enum_value("retry", description="The delay before the next attempt.")


@strawberry.type(description="Why a run or step is waiting, and until when.")
class Wait:
    reason: WaitReason = strawberry.field(description="What it is waiting for.")
    message: str = strawberry.field(description="The wait for display, such as `2 runs ahead` or `retry 2 of 3`.")
    until: datetime | None = strawberry.field(description="Latest time at which it continues. Null if unknown.")
