"""How packs change external systems."""

from enum import Enum

import strawberry


@strawberry.enum(description="How a pack changes external systems.")
class PackEffects(Enum):
    NONE = strawberry.enum_value("none", description="Changes nothing outside Packline.")
    IDEMPOTENT = strawberry.enum_value(
        "idempotent", description="Changes an external system, but repeating the call changes nothing more."
    )
    EXTERNAL = strawberry.enum_value(
        "external", description="Changes an external system on every call, such as sending mail or making a payment."
    )
