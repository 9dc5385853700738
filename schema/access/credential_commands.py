"""Commands on credentials: store, share, test, delete."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from datetime import datetime
from typing import Annotated, Any

import strawberry

from resolvers.access.credentials import delete, set_credential
from resolvers.access.credentials import test as try_credential
from resolvers.records import KEEP
from schema.access.credentials import Credential
from schema.base.context import Info
from schema.base.directives import Requires
from schema.base.problems import ForbiddenProblem, InvalidProblem, NotFoundProblem, UnavailableProblem, refusable
from schema.base.scalars import JSON, Key
from schema.runs.commands import DeleteSuccess
from store.states import Scope


@strawberry.type(description="The credential was stored or tested.")
class CredentialSuccess:
    credential: Credential = strawberry.field(description="The credential, without its secret.")


SetCredentialResult = Annotated[
    CredentialSuccess | NotFoundProblem | InvalidProblem | UnavailableProblem | ForbiddenProblem,
    strawberry.union("SetCredentialResult", description="The result of setCredential."),
]
DeleteCredentialResult = Annotated[
    DeleteSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("DeleteCredentialResult", description="The result of deleteCredential."),
]
TestCredentialResult = Annotated[
    CredentialSuccess | NotFoundProblem | UnavailableProblem | ForbiddenProblem,
    strawberry.union("TestCredentialResult", description="The result of testCredential."),
]


def _given(value: Any) -> Any:  # noqa: ANN401 - arguments of any type
    """Distinguish an absent argument, which keeps the stored value, from null, which removes it."""
    return KEEP if value is strawberry.UNSET else value


@strawberry.type
class CredentialMutations:
    @strawberry.mutation(description="Creates or replaces a credential.", directives=[Requires(scope=Scope.MANAGE)])
    @refusable
    async def set_credential(
        self,
        info: Info,
        key: Annotated[
            Key, strawberry.argument(description="Key by which packs and definitions refer to the credential.")
        ],
        kind: Annotated[str, strawberry.argument(description="Kind of credential, as listed by `credentialKinds`.")],
        description: Annotated[
            str | None, strawberry.argument(description="What the credential is for.")
        ] = strawberry.UNSET,
        fields: Annotated[
            JSON | None,
            strawberry.argument(
                description="Secret fields by name. They can be written but not read. Fields that are absent keep "
                "their value; null removes a field."
            ),
        ] = strawberry.UNSET,
        grants: Annotated[
            list[strawberry.ID] | None,
            strawberry.argument(
                description="Packs by id, pipelines by id, key or alias, and callers by id or subject that may use it, "
                "replacing all current grants. Absent: unchanged."
            ),
        ] = strawberry.UNSET,
        add_grants: Annotated[
            list[strawberry.ID] | None,
            strawberry.argument(
                description="Packs, pipelines and callers to add to the grants, by id, key, alias or subject as "
                "in `grants`. Cannot be combined with it."
            ),
        ] = None,
        remove_grants: Annotated[
            list[strawberry.ID] | None,
            strawberry.argument(
                description="Packs, pipelines and callers to remove from the grants, by id, key, alias or subject "
                "as in `grants`. Cannot be combined with it."
            ),
        ] = None,
        expires_at: Annotated[
            datetime | None, strawberry.argument(description="When the credential expires, if known.")
        ] = strawberry.UNSET,
    ) -> SetCredentialResult | None:
        replacing = _given(grants)
        record = await set_credential(
            info.context.context,
            key=key,
            kind=kind,
            description=_given(description),
            fields=_given(fields),
            grants=None if replacing is KEEP else tuple(replacing or ()),
            add_grants=tuple(add_grants or ()),
            remove_grants=tuple(remove_grants or ()),
            expires_at=_given(expires_at),
        )
        return CredentialSuccess(credential=Credential.of(record))

    @strawberry.mutation(description="Deletes a credential.", directives=[Requires(scope=Scope.MANAGE)])
    @refusable
    async def delete_credential(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The credential's id or key.")],
    ) -> DeleteCredentialResult | None:
        deleted = await delete(info.context.context, id=id)
        return DeleteSuccess(deleted_id=strawberry.ID(deleted))

    @strawberry.mutation(
        description="Tests whether the service accepts a credential.", directives=[Requires(scope=Scope.MANAGE)]
    )
    @refusable
    async def test_credential(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The credential's id or key.")],
    ) -> TestCredentialResult | None:
        record = await try_credential(info.context.context, id=id)
        return CredentialSuccess(credential=Credential.of(record))
