"""The interface of objects that can be fetched by id."""

import strawberry


@strawberry.interface(
    description=(
        "An object with an id. The prefix names the type: pipe_ Pipeline (starters: `builtin.<slug>`), pver_ "
        "PipelineVersion, run_ Run, step_ RunStep, att_ Attempt, art_ Artifact, call_ Caller, tok_ ApiToken, "
        "cred_ Credential, aud_ AuditEntry, gap_ GapProposal, mem_ MemoryEntry. The id of a pack is its name."
    )
)
class Node:
    id: strawberry.ID = strawberry.field(description="The object's id. It never changes.")
