"""Arguments shared by several fields of runs; each field only sets the default."""

from datetime import datetime
from typing import Annotated

import strawberry

from resolvers.runs.target import DefinitionChoice
from runner.resuming.plan import UNCHANGED, StepInputChange
from schema.base.enums import described_enum
from schema.base.learned import LearnedField
from schema.base.payloads import as_json
from schema.base.scalars import JSON, Key

described_enum(
    DefinitionChoice,
    "Which pipeline definition a run uses.",
    {
        "OF_RUN": "The version the run was started with.",
        "CURRENT": "The pipeline's current version. To resume on it, the steps that succeeded must be unchanged in it.",
    },
)

FromMemory = Annotated[
    list[LearnedField],
    strawberry.argument(description="Names of the inputs whose values come from myDefaults. Recorded with the run."),
]
AgentProfile = Annotated[
    str | None,
    strawberry.argument(
        description="Agent profile for the run's agent steps, if they allow it. By default each step selects its own."
    ),
]
Force = Annotated[bool, strawberry.argument(description="Ignore cached results of packs and replace them.")]
WaitSeconds = Annotated[
    int,
    strawberry.argument(description="Seconds to wait for the run to end before answering, 0 to 50."),
]
IdempotencyKey = Annotated[
    str | None, strawberry.argument(description="Calls with the same key start only one run. Kept for 24 hours.")
]
StartAt = Annotated[
    datetime | None,
    strawberry.argument(
        description="When the run may start, at most 366 days ahead; it is WAITING until then. Its deadline begins at "
        "the start. By default it starts as soon as it can."
    ),
]
DryRun = Annotated[bool, strawberry.argument(description="Only check; start nothing.")]

StepInput = Annotated[
    JSON | None,
    strawberry.argument(
        description="Input that replaces the failed step's own input. Later resumes keep it; null discards "
        "one given earlier."
    ),
]


def step_input_change(given: JSON | None) -> StepInputChange:
    """Distinguish an absent `stepInput`, which keeps earlier ones, from null, which drops them."""
    return UNCHANGED if given is strawberry.UNSET else as_json(given)


ResumeDefinition = Annotated[DefinitionChoice, strawberry.argument(description="The definition to continue with.")]
RerunDefinition = Annotated[DefinitionChoice, strawberry.argument(description="The definition to run.")]
FromStep = Annotated[
    Key | None,
    strawberry.argument(
        description="Key of the first step to run; the recorded outputs of earlier steps are reused. Runs "
        "all steps by default."
    ),
]
