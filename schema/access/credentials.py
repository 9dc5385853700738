"""Credentials: what the vault holds, without any value."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from datetime import datetime
from typing import TYPE_CHECKING

import strawberry

from resolvers.access.credentials import (
    field_names,
    find_stored,
    is_readable,
    list_kinds,
    list_stored,
    packs_that_need,
    targets_of,
)
from resolvers.records import CredentialRecord
from schema.base.context import Info
from schema.base.directives import Cost, Requires
from schema.base.node_interface import Node
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.scalars import Key
from schema.packs.packs import Pack
from store.states import Scope

if TYPE_CHECKING:
    from runner.secrets.credential_kinds import CredentialKind as KnownKind

_CREDENTIALS = CursorKind("credentials", (str,))


@strawberry.type(description="What testing a credential came to.")
class CredentialTest:
    at: datetime = strawberry.field(description="When.")
    accepted: bool = strawberry.field(description="Whether the service accepted it.")
    message: str = strawberry.field(description="For people.")


@strawberry.type(description="A secret the vault holds for packs and agent steps. Written, never read.")
class Credential(Node):
    key: Key = strawberry.field(description="Handle packs and definitions ask for.")
    kind: str = strawberry.field(description="Kind of credential.")
    description: str | None = strawberry.field(description="What it is for.")
    fields_set: list[str] = strawberry.field(description="Names of the fields that are set; never their values.")
    fingerprint: str = strawberry.field(description="Beginning of a keyed hash, to tell whether two are the same.")
    created_at: datetime = strawberry.field(description="When it was stored.")
    updated_at: datetime = strawberry.field(description="When it was last replaced.")
    expires_at: datetime | None = strawberry.field(description="When it stops working, where known.")
    last_used_at: datetime | None = strawberry.field(description="When it was last used.")
    last_test: CredentialTest | None = strawberry.field(description="What the last test came to.")
    record: strawberry.Private[CredentialRecord]

    @classmethod
    def of(cls, record: CredentialRecord) -> "Credential":
        return cls(
            id=strawberry.ID(record.id),
            key=Key(record.key),
            kind=record.kind,
            description=record.description,
            fields_set=field_names(record),
            fingerprint=record.fingerprint,
            created_at=record.created_at,
            updated_at=record.updated_at,
            expires_at=record.expires_at,
            last_used_at=record.last_used_at,
            last_test=None
            if record.tested_at is None
            else CredentialTest(
                at=record.tested_at, accepted=bool(record.test_accepted), message=record.test_message or ""
            ),
            record=record,
        )

    @strawberry.field(description="Whether the vault can read it; false after the vault key changed.")
    def readable(self, info: Info) -> bool:
        return is_readable(info.context.context, self.record)

    @strawberry.field(
        description="Packs, pipelines and callers it is granted to; nobody by default.", directives=[Cost(weight=10)]
    )
    async def grants(self, info: Info) -> list[Node]:
        from schema.node import load_node

        found = [await load_node(info, target) for target in await targets_of(info.context.context, self.id)]
        return [node for node in found if node is not None]

    @strawberry.field(description="Packs that ask for it.")
    def needed_by(self, info: Info) -> list[Pack]:
        return [Pack.of(pack) for pack in packs_that_need(info.context.context, self.record.key)]


@strawberry.type(description="A field of a kind of credential.")
class CredentialField:
    name: str = strawberry.field(description="Its name.")
    description: str = strawberry.field(description="What belongs into it.")
    secret: bool = strawberry.field(
        description="Whether it is masked everywhere; such a field has at least 8 characters."
    )
    required: bool = strawberry.field(description="Whether it must be set.")


@strawberry.type(description="A kind of credential: which fields it has, and whether it can be tested.")
class CredentialKind:
    name: str = strawberry.field(description="Its name, as `setCredential` takes it.")
    description: str = strawberry.field(description="What it opens.")
    fields: list[CredentialField] = strawberry.field(description="Its fields; none when fields may have any name.")
    free_fields: bool = strawberry.field(description="Whether fields may have any name; all are secret then.")
    testable: bool = strawberry.field(description="Whether `testCredential` can ask the service.")

    @classmethod
    def of(cls, kind: "KnownKind") -> "CredentialKind":
        return cls(
            name=kind.name,
            description=kind.description,
            fields=[
                CredentialField(
                    name=field.name, description=field.description, secret=field.secret, required=field.required
                )
                for field in kind.fields
            ],
            free_fields=kind.is_free,
            testable=kind.test is not None,
        )


CredentialConnection = Connection[Credential]


async def load_credential(info: Info, credential_id: str) -> Credential | None:
    found = await find_stored(info.context.context, credential_id)
    return None if found is None else Credential.of(found)


@strawberry.type
class CredentialQueries:
    @strawberry.field(
        description="Credentials the vault holds. What is secret never leaves it.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    async def credentials(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> CredentialConnection:
        arguments = PageArguments.parse(_CREDENTIALS, first=first, after=after, last=last, before=before)
        rows = await list_stored(info.context.context, window=arguments.window)
        return CredentialConnection.of(
            page_of(rows, arguments, lambda row: _CREDENTIALS.encode((row.id,))), Credential.of
        )

    @strawberry.field(description="Kinds of credentials, with their fields.", directives=[Requires(scope=Scope.READ)])
    async def credential_kinds(self, info: Info) -> list[CredentialKind]:
        return [CredentialKind.of(kind) for kind in await list_kinds(info.context.context)]
