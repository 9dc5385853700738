"""Webhooks of triggers, and what they received."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime, timedelta

import strawberry

from resolvers.records import KEEP_DAYS, TriggerRecord
from resolvers.triggers.deliveries import SHOWN_CHARACTERS, shown_delivery
from resolvers.triggers.webhooks import url_of
from runner.triggers.webhooks import Preset, WebhookSettings
from schema.base.context import Info
from schema.base.enums import described_enum
from store.states import TriggerKind

described_enum(
    TriggerKind,
    "What a trigger fires by.",
    {
        "SCHEDULE": "A cron expression or an interval.",
        "WEBHOOK": "Signed requests to its address.",
        "RUN_ENDED": "The end of runs of other pipelines.",
    },
)
described_enum(
    Preset,
    "How deliveries of a webhook prove where they come from.",
    {
        "GITHUB": "`X-Hub-Signature-256`: HMAC-SHA256 of the body, as GitHub, Gitea and Forgejo sign.",
        "STANDARD_WEBHOOKS": "`webhook-signature`, as the Standard Webhooks specification says.",
        "TIMESTAMPED": "`Stripe-Signature` or `X-Signature`: `t=` and a time, `v1=` and the HMAC-SHA256 of time, dot "
        "and body, as Stripe signs.",
        "BEARER": "`Authorization: Bearer` and the secret.",
    },
    name="WebhookPreset",
)


@strawberry.type(description="The address of a trigger, and how its deliveries are verified.")
class Webhook:
    preset: Preset = strawberry.field(description="How deliveries prove where they come from.")
    events: list[str] = strawberry.field(description="The events it fires for. Empty for all.")
    trigger: strawberry.Private[TriggerRecord]

    @classmethod
    def of(cls, trigger: TriggerRecord, settings: WebhookSettings) -> "Webhook":
        return cls(preset=settings.preset, events=list(settings.events), trigger=trigger)

    @strawberry.field(description="The URL to deliver to, with `POST`.")
    async def url(self, info: Info) -> str:
        address = await info.context.loaders.webhook_address.load(self.trigger.id)
        if address is None:
            raise LookupError(f"The webhook {self.trigger.id} is gone.")
        return url_of(info.context.context, address)

    @strawberry.field(description="Until when the secret before the last rotation is valid. Null if it no longer is.")
    async def previous_secret_until(self, info: Info) -> datetime | None:
        found = await info.context.loaders.overlap_end.load(self.trigger.id)
        return found if found is not None and found > info.context.context.services.now() else None


@strawberry.type(description="What a webhook received, with secrets masked.")
class Delivery:
    delivery_id: str | None = strawberry.field(
        description="The sender's id of it. Null if it gave none, or the delivery cannot be opened."
    )
    event: str | None = strawberry.field(
        description="The name of the event. Null if the sender gave none, or the delivery cannot be opened."
    )
    payload: str | None = strawberry.field(
        description=f"The JSON of the payload, up to {SHOWN_CHARACTERS:,} characters. Null if it cannot be opened, "
        "because the vault is locked or was reset."
    )
    is_cut: bool = strawberry.field(description="Whether the payload has more than what is shown.")
    size_bytes: int = strawberry.field(description="Size of the body.")
    received_at: datetime = strawberry.field(description="When it was received.")
    kept_until: datetime = strawberry.field(description="Until when it can be replayed.")


async def load_delivery(info: Info, firing_id: str) -> Delivery | None:
    context = info.context.context
    record = await info.context.loaders.delivery.load(firing_id)
    if record is None:
        return None
    shown = await shown_delivery(context, record)
    return Delivery(
        delivery_id=None if shown is None else shown.delivery_id,
        event=None if shown is None else shown.event,
        payload=None if shown is None else shown.payload,
        is_cut=shown is not None and shown.is_cut,
        size_bytes=record.size_bytes,
        received_at=record.created_at,
        kept_until=record.created_at + timedelta(days=KEEP_DAYS),
    )
