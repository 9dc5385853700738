"""Webhooks: addresses, secrets and deliveries."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, Text
from sqlmodel import Field, SQLModel

from store.models.declaring import table_of


class WebhookRow(SQLModel, table=True):
    """The address of a trigger of kind `webhook`."""

    __tablename__ = "webhook"
    __table_args__ = (Index("uq_webhook_address", "address", unique=True),)

    trigger_id: str = Field(primary_key=True, foreign_key="trigger.id", ondelete="CASCADE")
    address: str  # the last part of its URL: 192 random bits


class TriggerSecretRow(SQLModel, table=True):
    """A secret that deliveries are signed with; after a rotation, the one before is valid for a while."""

    __tablename__ = "trigger_secret"

    id: str = Field(primary_key=True)
    trigger_id: str = Field(foreign_key="trigger.id", ondelete="CASCADE", index=True)
    sealed: str = Field(sa_type=Text)
    created_at: datetime
    expires_at: datetime | None = None  # None for the current one


class WebhookDeliveryRow(SQLModel, table=True):
    """An accepted delivery, written in the transaction that starts its run."""

    __tablename__ = "webhook_delivery"
    __table_args__ = (Index("uq_webhook_delivery_key", "trigger_id", "key", unique=True),)

    id: str = Field(primary_key=True)
    trigger_id: str = Field(foreign_key="trigger.id", ondelete="CASCADE")
    key: str  # digest of the sender's delivery id, by which repeats are found
    firing_id: str = Field(index=True)  # may dangle: firings are pruned
    run_id: str | None = None  # may dangle: runs are pruned
    sealed: str | None = Field(default=None, sa_type=Text)  # JSON of payload, event and delivery id; None: vault reset
    size_bytes: int  # of the body
    created_at: datetime = Field(index=True)


WEBHOOK = table_of(WebhookRow)
TRIGGER_SECRET = table_of(TriggerSecretRow)
WEBHOOK_DELIVERY = table_of(WebhookDeliveryRow)
