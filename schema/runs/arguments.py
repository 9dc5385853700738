"""Arguments that several commands and reads of runs take, declared once; a field only gives them their default."""

from typing import Annotated

import strawberry

from resolvers.runs.proposals import DefinitionChoice
from runner.resuming.plan import UNCHANGED, StepInputChange
from schema.base.enums import described_enum
from schema.base.learned import LearnedField
from schema.base.payloads import as_json
from schema.base.scalars import JSON, Key

described_enum(
    DefinitionChoice,
    "Which definition a run is to use.",
    {
        "OF_RUN": "The version the run was started on.",
        "CURRENT": "The pipeline's current version; a resume needs its succeeded steps to be identical in it.",
    },
)

FromMemory = Annotated[
    list[LearnedField],
    strawberry.argument(description="Inputs whose values were taken from myDefaults; the run tells them."),
]
AgentProfile = Annotated[
    str | None,
    strawberry.argument(
        description="Agent profile for its agent steps, among those they may use; left to them when absent."
    ),
]
Force = Annotated[bool, strawberry.argument(description="Take nothing from the caches of packs; they are filled anew.")]
WaitSeconds = Annotated[
    int,
    strawberry.argument(description="Hold the answer until the run has ended, at most this many seconds, 0 to 50."),
]
IdempotencyKey = Annotated[
    str | None, strawberry.argument(description="Two calls with one key start one run; kept for a day.")
]
DryRun = Annotated[bool, strawberry.argument(description="Check everything, start nothing.")]

StepInput = Annotated[
    JSON | None,
    strawberry.argument(
        description="Input for the failed step in place of the one its definition makes. Kept by later resumes; null "
        "drops those given earlier."
    ),
]


def step_input_change(given: JSON | None) -> StepInputChange:
    """Tell an absent `stepInput`, which keeps earlier ones, from null, which drops them."""
    return UNCHANGED if given is strawberry.UNSET else as_json(given)


ResumeDefinition = Annotated[DefinitionChoice, strawberry.argument(description="Which definition to go on with.")]
RerunDefinition = Annotated[DefinitionChoice, strawberry.argument(description="Which definition to run.")]
FromStep = Annotated[
    Key | None,
    strawberry.argument(
        description="Reuse the recorded outputs of the steps before this one; every step runs when absent."
    ),
]
