"""The interface of everything that can be fetched again by its id."""

import strawberry


@strawberry.interface(
    description=(
        "Anything that can be fetched again by its id. The prefix tells the type: pipe_ Pipeline (starters: "
        "`builtin.<slug>`), pver_ PipelineVersion, run_ Run, step_ RunStep, att_ Attempt, art_ Artifact, call_ Caller, "
        "tok_ ApiToken, cred_ Credential, aud_ AuditEntry; a pack's id is its name."
    )
)
class Node:
    id: strawberry.ID = strawberry.field(description="Its id, stable for life.")
