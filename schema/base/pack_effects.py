"""What a pack changes outside."""

from enum import Enum

import strawberry


@strawberry.enum(description="What a pack changes outside.")
class PackEffects(Enum):
    NONE = strawberry.enum_value("none", description="Nothing.")
    IDEMPOTENT = strawberry.enum_value("idempotent", description="Something, but repeating it changes no more.")
    EXTERNAL = strawberry.enum_value("external", description="Something, each time it runs: a mail, a post, a payment.")
