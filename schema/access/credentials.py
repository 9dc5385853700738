"""Credentials in the vault, without their secrets, and the kinds there are."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from datetime import datetime
from typing import TYPE_CHECKING

import strawberry

from resolvers.access.credentials import (
    count_stored,
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


@strawberry.type(description="The result of testing a credential.")
class CredentialTest:
    at: datetime = strawberry.field(description="When the test ran.")
    accepted: bool = strawberry.field(description="Whether the service accepted the credential.")
    message: str = strawberry.field(description="The result, for display.")


@strawberry.type(description="A secret in the vault for packs and agent steps. Its values can be written but not read.")
class Credential(Node):
    key: Key = strawberry.field(description="Key by which packs and definitions refer to the credential.")
    kind: str = strawberry.field(description="The kind of credential.")
    description: str | None = strawberry.field(description="What the credential is for.")
    fields_set: list[str] = strawberry.field(
        description="Names of the fields that have a value. The values cannot be read."
    )
    fingerprint: str = strawberry.field(
        description="The beginning of a keyed hash, to tell whether two credentials are identical."
    )
    created_at: datetime = strawberry.field(description="When the credential was first stored.")
    updated_at: datetime = strawberry.field(description="When the credential was last replaced.")
    expires_at: datetime | None = strawberry.field(description="When the credential expires. Null if unknown.")
    last_used_at: datetime | None = strawberry.field(description="When the credential was last used. Null if never.")
    last_test: CredentialTest | None = strawberry.field(
        description="The result of the last test. Null if it was never tested."
    )
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

    @strawberry.field(description="Whether the server can decrypt it. False after the vault key was changed.")
    def readable(self, info: Info) -> bool:
        return is_readable(info.context.context, self.record)

    @strawberry.field(
        description="Packs, pipelines and callers that may use it. Empty by default.", directives=[Cost(weight=10)]
    )
    async def grants(self, info: Info) -> list[Node]:
        from schema.node import load_node

        found = [await load_node(info, target) for target in await targets_of(info.context.context, self.id)]
        return [node for node in found if node is not None]

    @strawberry.field(description="Packs that require it, by name.")
    def needed_by(self, info: Info) -> list[Pack]:
        return [Pack.of(pack) for pack in packs_that_need(info.context.context, self.record.key)]


@strawberry.type(description="A field of a kind of credential.")
class CredentialField:
    name: str = strawberry.field(description="Name of the field.")
    description: str = strawberry.field(description="What to enter.")
    secret: bool = strawberry.field(
        description="Whether the value is masked everywhere. Secret values need at least 8 characters."
    )
    required: bool = strawberry.field(description="Whether the field is required.")
    multiline: bool = strawberry.field(description="Whether the value may have several lines, as a key file does.")


@strawberry.type(description="A kind of credential, with its fields.")
class CredentialKind:
    name: str = strawberry.field(description="Name of the kind, as passed to `setCredential`.")
    description: str = strawberry.field(description="What the credential gives access to.")
    fields: list[CredentialField] = strawberry.field(description="The fields. Empty if fields can have any name.")
    free_fields: bool = strawberry.field(description="Whether fields can have any name. If so, all of them are secret.")
    testable: bool = strawberry.field(description="Whether `testCredential` supports this kind.")

    @classmethod
    def of(cls, kind: "KnownKind") -> "CredentialKind":
        return cls(
            name=kind.name,
            description=kind.description,
            fields=[
                CredentialField(
                    name=field.name,
                    description=field.description,
                    secret=field.secret,
                    required=field.required,
                    multiline=field.multiline,
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
        description="Credentials in the vault, newest first, without their secrets.",
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
        context = info.context.context
        rows = await list_stored(context, window=arguments.window)
        page = page_of(rows, arguments, lambda row: _CREDENTIALS.encode((row.id,)))
        return CredentialConnection.of(page, Credential.of, lambda: count_stored(context))

    @strawberry.field(
        description="All kinds of credentials, with their fields.", directives=[Requires(scope=Scope.READ)]
    )
    async def credential_kinds(self, info: Info) -> list[CredentialKind]:
        return [CredentialKind.of(kind) for kind in await list_kinds(info.context.context)]
