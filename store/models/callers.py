"""Callers, their tokens and the audit trail."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text
from sqlmodel import Field, SQLModel

from store.models.declaring import table_of


class CallerRow(SQLModel, table=True):
    """A person, agent or script; all tokens and logins of one subject are one caller."""

    __tablename__ = "caller"

    id: str = Field(primary_key=True)
    subject: str = Field(unique=True)
    name: str
    created_at: datetime
    last_seen_at: datetime | None = None
    disabled_at: datetime | None = None  # since when nothing may happen in its name
    vouched_at: datetime | None = None  # when the OpenID provider first vouched for it


class CallerSpendingRow(SQLModel, table=True):
    """What models cost a caller in a month, counted with each answered call."""

    __tablename__ = "caller_spending"
    # Sums up a month, and lists its callers.
    __table_args__ = (Index("ix_caller_spending_month", "month", "cost_micros", "caller_id"),)

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")
    month: str = Field(primary_key=True)  # such as 2026-11, in UTC
    tokens: int = Field(sa_type=BigInteger)  # read and written, as far as reported
    cost_micros: int = Field(sa_type=BigInteger)  # 10^-6 US dollars, as far as known
    unpriced_calls: int  # calls of unknown cost


class CallerSlotRow(SQLModel, table=True):
    """One row per caller, locked first by every claim so that the caller's limit is counted without a race."""

    __tablename__ = "caller_slot"

    caller_id: str = Field(primary_key=True, foreign_key="caller.id", ondelete="CASCADE")


class TokenRow(SQLModel, table=True):
    """A bearer token, browser login, one-time login link or an agent's token; only its SHA-256 is kept."""

    __tablename__ = "token"

    id: str = Field(primary_key=True)
    caller_id: str = Field(foreign_key="caller.id", ondelete="CASCADE", index=True)
    kind: str  # token | browser | login_link | agent
    name: str
    beginning: str
    hash: str = Field(unique=True)
    scopes: str = Field(sa_type=Text)  # JSON list of store.states.Scope; an agent's also `tool:<name>`
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    made_by: str | None = Field(default=None, index=True)  # the caller; NULL for logins, the machine's and older tokens


class AuditRow(SQLModel, table=True):
    """An audited action; append-only, kept 365 days."""

    __tablename__ = "audit"
    __table_args__ = (Index("ix_audit_actor", "actor_id", "id"),)

    id: str = Field(primary_key=True)
    at: datetime = Field(index=True)
    actor_id: str | None = None  # NULL when the actor is unknown, as at a refused sign-in
    on_behalf_of: str | None = None
    action: str = Field(index=True)
    accepted: bool
    target_id: str | None = None
    detail: str | None = Field(default=None, sa_type=Text)


CALLER = table_of(CallerRow)
CALLER_SPENDING = table_of(CallerSpendingRow)
TOKEN = table_of(TokenRow)
AUDIT = table_of(AuditRow)
