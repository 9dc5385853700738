"""Why a run or step does not go on, and until when."""

from datetime import datetime
from enum import Enum

import strawberry


@strawberry.enum(description="What a run or step can wait for.")
class WaitReason(Enum):
    SLOT = strawberry.enum_value("slot", description="A free worker, or the caller's limit of concurrent runs.")
    RETRY = strawberry.enum_value("retry", description="The back-off before the next attempt.")


@strawberry.type(description="Why something does not go on, and until when.")
class Wait:
    reason: WaitReason = strawberry.field(description="What for.")
    message: str = strawberry.field(description="For people: `2 runs ahead`, `retry 2 of 3`.")
    until: datetime | None = strawberry.field(description="When it goes on at the latest; null when unknown.")
