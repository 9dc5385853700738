"""Commands on webhooks: create, update, rotate the secret, replay."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from typing import Annotated

import strawberry

from resolvers.triggers.webhooks import (
    OVERLAP_SECONDS,
    OVERLAP_SECONDS_MAX,
    create_webhook,
    replay,
    rotate_secret,
    update_webhook,
)
from runner.triggers.webhooks import (
    EVENTS_MAX,
    SECRET_CHARACTERS_MAX,
    SECRET_CHARACTERS_MIN,
    Preset,
    WebhookSettings,
)
from schema.base.context import Info
from schema.base.directives import Requires, published
from schema.base.payloads import as_json
from schema.base.problems import (
    ConflictProblem,
    ForbiddenProblem,
    InvalidProblem,
    LimitedProblem,
    NotFoundProblem,
    UnavailableProblem,
    refusable,
)
from schema.base.scalars import JSON
from schema.runs.runs import load_run
from schema.triggers.commands import FireTriggerSuccess, TriggerId, TriggerSuccess
from schema.triggers.triggers import Trigger, changed_trigger
from store.states import Scope

GivenSecret = Annotated[
    str | None,
    strawberry.argument(
        description=f"The secret that the sender gives, {SECRET_CHARACTERS_MIN} to {SECRET_CHARACTERS_MAX} characters. "
        "Without it, one is made."
    ),
]


@strawberry.type(description="The webhook has a new secret.")
class WebhookSecretSuccess:
    trigger: Trigger = strawberry.field(description="The trigger in its current state.")
    secret: str = strawberry.field(description="The secret. It is not shown again.")


CreateWebhookResult = Annotated[
    WebhookSecretSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | LimitedProblem
    | UnavailableProblem
    | ForbiddenProblem,
    strawberry.union("CreateWebhookResult", description="The result of createWebhook."),
]
UpdateWebhookResult = Annotated[
    TriggerSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | UnavailableProblem | ForbiddenProblem,
    strawberry.union("UpdateWebhookResult", description="The result of updateWebhook."),
]
RotateWebhookSecretResult = Annotated[
    WebhookSecretSuccess | NotFoundProblem | InvalidProblem | ConflictProblem | UnavailableProblem | ForbiddenProblem,
    strawberry.union("RotateWebhookSecretResult", description="The result of rotateWebhookSecret."),
]
ReplayFiringResult = Annotated[
    FireTriggerSuccess
    | NotFoundProblem
    | InvalidProblem
    | ConflictProblem
    | LimitedProblem
    | UnavailableProblem
    | ForbiddenProblem,
    strawberry.union("ReplayFiringResult", description="The result of replayFiring."),
]


@strawberry.type
class WebhookMutations:
    @strawberry.mutation(
        description="Creates a trigger that starts runs of a pipeline for signed requests to its address, owned by the "
        "caller. Needs `run` as well.",
        directives=[Requires(scope=Scope.WRITE), published(create_webhook)],
    )
    @refusable
    async def create_webhook(
        self,
        info: Info,
        pipeline: Annotated[strawberry.ID, strawberry.argument(description="The pipeline's id, key or alias.")],
        name: Annotated[str, strawberry.argument(description="Name for people.")],
        preset: Annotated[Preset, strawberry.argument(description="How deliveries prove where they come from.")],
        events: Annotated[
            list[str] | None,
            strawberry.argument(
                description=f"The events it fires for, at most {EVENTS_MAX}. Defaults to all but GitHub's `ping`."
            ),
        ] = None,
        inputs: Annotated[
            JSON | None,
            strawberry.argument(
                description="Inputs of its runs. Texts may contain `${{ trigger.payload.… }}`, `${{ trigger.event }}` "
                "and `${{ trigger.delivery_id }}`."
            ),
        ] = None,
        secret: GivenSecret = None,
        version: Annotated[
            int | None,
            strawberry.argument(
                description="Pins a version. Defaults to the current one at each firing; on another caller's "
                "pipeline, to the current one now."
            ),
        ] = None,
        enabled: Annotated[bool, strawberry.argument(description="False: create it paused.")] = True,
    ) -> CreateWebhookResult | None:
        made = await create_webhook(
            info.context.context,
            pipeline=pipeline,
            name=name,
            settings=WebhookSettings(preset, tuple(events or ())),
            inputs={} if inputs is None else as_json(inputs),
            secret=secret,
            version=version,
            enabled=enabled,
        )
        return WebhookSecretSuccess(trigger=changed_trigger(info, made.trigger), secret=made.secret)

    @strawberry.mutation(
        description="Changes the events that a webhook fires for. `updateTrigger` changes its name and inputs.",
        directives=[Requires(scope=Scope.WRITE)],
    )
    @refusable
    async def update_webhook(
        self,
        info: Info,
        id: TriggerId,
        events: Annotated[list[str], strawberry.argument(description="The events. Empty for all.")],
    ) -> UpdateWebhookResult | None:
        changed = await update_webhook(info.context.context, id=id, events=tuple(events))
        return TriggerSuccess(trigger=changed_trigger(info, changed))

    @strawberry.mutation(
        description="Gives a webhook another secret. The present one stays valid for a while, earlier ones end.",
        directives=[Requires(scope=Scope.WRITE)],
    )
    @refusable
    async def rotate_webhook_secret(
        self,
        info: Info,
        id: TriggerId,
        secret: GivenSecret = None,
        overlap_seconds: Annotated[
            int,
            strawberry.argument(
                description=f"How long the present secret stays valid; 0 to {OVERLAP_SECONDS_MAX:,} seconds."
            ),
        ] = OVERLAP_SECONDS,
    ) -> RotateWebhookSecretResult | None:
        made = await rotate_secret(info.context.context, id=id, secret=secret, overlap_seconds=overlap_seconds)
        return WebhookSecretSuccess(trigger=changed_trigger(info, made.trigger), secret=made.secret)

    @strawberry.mutation(
        description="Starts a run for the delivery of an earlier firing, as the trigger's owner, with the trigger as "
        "it is now. Neither the signature nor repeats are checked.",
        directives=[Requires(scope=Scope.RUN)],
    )
    @refusable
    async def replay_firing(
        self, info: Info, id: Annotated[strawberry.ID, strawberry.argument(description="The firing's id.")]
    ) -> ReplayFiringResult | None:
        run_id = await replay(info.context.context, id=id)
        info.context.clear_loaders()
        return FireTriggerSuccess(run=await load_run(info, run_id))
