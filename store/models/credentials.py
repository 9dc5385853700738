"""The vault, its credentials, and the accepted tools of mounted MCP servers."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Text
from sqlmodel import Field, SQLModel

from store.models.declaring import table_of


class VaultRow(SQLModel, table=True):
    """A known text sealed with the vault key, which shows whether a key is the right one. One row."""

    __tablename__ = "vault"

    id: str = Field(primary_key=True)
    sealed: str = Field(sa_type=Text)
    created_at: datetime


class CredentialRow(SQLModel, table=True):
    """A credential; its fields are sealed with AES-256-GCM and bound to its key."""

    __tablename__ = "credential"

    id: str = Field(primary_key=True)
    key: str = Field(unique=True)
    kind: str
    description: str | None = Field(default=None, sa_type=Text)
    sealed: str = Field(sa_type=Text)  # base64 of nonce and ciphertext of the fields' JSON
    fields_set: str = Field(sa_type=Text)  # JSON list of field names
    fingerprint: str  # beginning of a keyed hash over the fields
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    tested_at: datetime | None = None
    test_accepted: bool | None = None
    test_message: str | None = Field(default=None, sa_type=Text)


class CredentialGrantRow(SQLModel, table=True):
    """A grant of a credential to a pack (by name), a pipeline or a caller (by id)."""

    __tablename__ = "credential_grant"

    credential_id: str = Field(primary_key=True, foreign_key="credential.id", ondelete="CASCADE")
    target: str = Field(primary_key=True, index=True)


class McpToolRow(SQLModel, table=True):
    """A tool of a mounted MCP server as it was accepted, and as it is offered when that differs."""

    __tablename__ = "mcp_tool"

    server: str = Field(primary_key=True)
    tool: str = Field(primary_key=True)
    revision: int = 0  # how often it was accepted
    accepted_digest: str | None = None  # SHA-256 over name, description and schemas; NULL before the first acceptance
    accepted: str | None = Field(default=None, sa_type=Text)  # JSON
    accepted_at: datetime | None = None
    accepted_by: str | None = None
    offered_digest: str | None = None  # NULL when the server no longer has it
    offered: str | None = Field(default=None, sa_type=Text)  # JSON
    changed_at: datetime | None = None  # when the offered tool was first seen to differ; NULL while it does not


CREDENTIAL = table_of(CredentialRow)
CREDENTIAL_GRANT = table_of(CredentialGrantRow)
MCP_TOOL = table_of(McpToolRow)
