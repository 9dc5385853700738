"""Lists, stores, grants, tests and deletes credentials. Never returns a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from resolvers.operations import operation
from resolvers.problems import Invalid, NotFound, Unavailable
from runner.excerpts import excerpt
from runner.failures import PackError
from runner.issues import Hint, argument_error, has_errors, hint_of
from runner.json_values import forbidden_text
from runner.packs.availability import Requirement
from runner.packs.needs import CREDENTIAL_KEY
from runner.secrets.credential_kinds import KINDS, CredentialKind, kind_issues, merged_fields
from runner.secrets.credential_tests import test_credential
from runner.secrets.vault_sync import VaultLockedError
from store.access.callers import find_caller_of, find_callers
from store.pipelines.reads import find_pipeline
from store.secrets.credentials import (
    GRANTS_MAX,
    KEEP,
    CredentialChange,
    CredentialRecord,
    GrantChange,
    Keep,
    TooManyGrantsError,
    count_credentials,
    delete_credential,
    find_credential,
    find_credentials,
    grants_of,
    list_credentials,
    put_credential,
    record_test,
)
from store.secrets.vault_proof import VaultChangedError
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.issues import Issue
    from runner.packs.pack import Pack
    from store.database.dialects import Connection
    from store.database.paging import PageWindow

#: Longest description, in characters.
DESCRIPTION_CHARACTERS = 500
#: How often a change is tried when another one commits at the same time.
ATTEMPTS = 5


@operation("credentials", scope=Scope.MANAGE, kind="query")
async def list_stored(context: Context, *, window: PageWindow) -> list[CredentialRecord]:
    """List credentials, newest first, and one more than the window asks for if there are more."""
    return await list_credentials(context.services.store, window)


async def count_stored(context: Context) -> int:
    return await count_credentials(context.services.store)


@operation("credential_kinds", scope=Scope.READ, kind="query")
async def list_kinds(context: Context) -> list[CredentialKind]:
    return list(KINDS.values())


async def find_stored(context: Context, credential_id: str) -> CredentialRecord | None:
    """Find a credential by id; None if it does not exist or the caller may not see it."""
    if not context.caller.may(Scope.MANAGE):
        return None
    return (await find_credentials(context.services.store, [credential_id])).get(credential_id)


async def targets_of(context: Context, credential_id: str) -> list[str]:
    """List whom a credential is granted to: names of packs, ids of pipelines and callers."""
    return await grants_of(context.services.store, credential_id)


def is_readable(context: Context, record: CredentialRecord) -> bool:
    """Whether the vault can decrypt a credential now."""
    found = context.services.vault.get(record.key)
    return found is not None and found.fields is not None


def packs_that_need(context: Context, key: str) -> list[Pack]:
    """List the packs whose newest version uses a credential, by name."""
    registry = context.services.registry
    packs = [pack for name in sorted(registry.names()) if (pack := registry.find(name)) is not None]
    return [pack for pack in packs if any(need.key == key for need in pack.credentials)]


@operation("set_credential", scope=Scope.MANAGE, kind="command", idempotent=True, target="key", private=("fields",))
async def set_credential(
    context: Context,
    *,
    key: str,
    kind: str,
    description: str | Keep | None = KEEP,
    fields: JSONValue | Keep = KEEP,
    grants: Sequence[str] | None = None,
    add_grants: Sequence[str] = (),
    remove_grants: Sequence[str] = (),
    expires_at: datetime | Keep | None = KEEP,
) -> CredentialRecord:
    """Store a credential, or change the given parts; null removes a field, an absent field stays.

    `grants` replaces all grants; `add_grants` and `remove_grants` do not touch grants that others change meanwhile.
    """
    issues = _shape_issues(key, kind, description)
    given: Mapping[str, JSONValue] | None = None
    if isinstance(fields, dict):
        given = fields
    elif fields is not KEEP and fields is not None:
        issues.append(argument_error("fields", "wrong_type", "The fields must be an object of texts."))
    if expires_at is not KEEP and expires_at is not None and expires_at <= context.services.now():
        issues.append(argument_error("expires_at", "past", "The expiry is in the past.", "Give a later time."))
    if grants is not None and (add_grants or remove_grants):
        issues.append(
            argument_error(
                "grants", "given_twice", "Either replace all grants, or add and remove some; not both in one call."
            )
        )
    if has_errors(issues):
        raise Invalid(issues, summary="The credential cannot be stored")
    shared = await _grant_change(context, grants, add_grants, remove_grants)
    for _ in range(ATTEMPTS):
        change = await _change(context, key, kind, description, given, shared, expires_at)
        try:
            credential_id = await _store(context, change)
        except VaultChangedError:
            await context.services.vault_sync.refresh()
            continue
        except TooManyGrantsError as refused:
            message = f"{refused} grants exceed the limit of {GRANTS_MAX}."
            raise Invalid([argument_error("grants", "too_many", message)]) from refused
        await context.services.vault_sync.refresh()
        found = await find_stored(context, credential_id)
        if found is not None:
            return found
    raise Unavailable(f"Others changed the credential `{key}` during every attempt.", (), hint="Try again.")


async def _store(context: Context, change: CredentialChange) -> str:
    return await context.commit(lambda conn: put_credential(conn, change), str)


async def _change(
    context: Context,
    key: str,
    kind: str,
    description: str | Keep | None,
    given: Mapping[str, JSONValue] | None,
    grants: GrantChange,
    expires_at: datetime | Keep | None,
) -> CredentialChange:
    """Make the change to store, from the caller's values and what is stored.

    Raises:
        Invalid: The fields do not fit the kind.
        Unavailable: The vault is locked.
    """
    vault_sync = context.services.vault_sync
    await vault_sync.refresh()
    stored = await find_credential(context.services.store, key)
    change = CredentialChange(
        key=key,
        kind=kind,
        description=description,
        expires_at=expires_at,
        values=None,
        grants=grants,
    )
    is_same_kind = stored is not None and stored.kind == kind
    if given is None and is_same_kind:
        return change
    opened = context.services.vault.get(key)
    before = dict(opened.fields) if opened is not None and opened.fields is not None and is_same_kind else {}
    fields, issues = merged_fields(KINDS[kind], before, given or {})
    if issues:
        raise Invalid(issues, summary=f"The credential `{key}` cannot be stored")
    try:
        return await vault_sync.seal(change, fields, before=vault_sync.sealed(key))
    except VaultLockedError as locked:
        lack = Requirement.of("credential", key, locked.missing)
        raise Unavailable(locked.missing.message, (lack,), hint=locked.missing.hint) from locked


def _shape_issues(key: str, kind: str, description: str | Keep | None) -> list[Issue]:
    issues = kind_issues(kind)
    if not CREDENTIAL_KEY.match(key):
        issues.append(
            argument_error(
                "key",
                "bad_key",
                f"`{excerpt(key, 80)}` is not a valid key.",
                "Use up to 64 lower-case letters, digits, `-` and `_`, beginning with a letter.",
            )
        )
    if isinstance(description, str):
        issues += [issue.under_argument("description") for issue in forbidden_text(description)]
        if len(description) > DESCRIPTION_CHARACTERS:
            message = f"The description exceeds the limit of {DESCRIPTION_CHARACTERS} characters."
            issues.append(argument_error("description", "too_long", message))
    return issues


async def _grant_change(
    context: Context, grants: Sequence[str] | None, add: Sequence[str], remove: Sequence[str]
) -> GrantChange:
    """Resolve changes of grants to names of packs and ids of pipelines and callers.

    Raises:
        NotFound: A pack, pipeline or caller to add does not exist; one to remove may be gone.
        Invalid: There are too many.
    """
    given = add if grants is None else grants
    if max(len(given), len(remove)) > GRANTS_MAX:
        message = f"{max(len(given), len(remove))} grants exceed the limit of {GRANTS_MAX}."
        raise Invalid([argument_error("grants", "too_many", message)])
    found = [await _target(context, target) for target in given]
    for target, known in zip(given, found, strict=True):
        if known is None:
            raise NotFound(
                "pack, pipeline or caller",
                target,
                hint="Give the name of a pack, the id or key of a pipeline, or the id or subject of a caller. "
                "Restart the server to load a new pack.",
            )
    return GrantChange(
        add=frozenset(known for known in found if known is not None),
        remove=frozenset([*remove, *[known for target in remove if (known := await _target(context, target))]]),
        replaces=grants is not None,
    )


async def _target(context: Context, ref: str) -> str | None:
    """Resolve a grant's target to the name of a pack, or the id of a pipeline or caller."""
    if context.services.registry.find(ref) is not None:
        return ref
    store = context.services.store
    if ref in await find_callers(store, [ref]):
        return ref
    caller = await find_caller_of(store, ref)
    pipeline = await find_pipeline(store, ref)
    if pipeline is not None and pipeline.deleted_at is None:
        return pipeline.id
    return None if caller is None else caller.id


@operation("delete_credential", scope=Scope.MANAGE, kind="command", destructive=True, target="id")
async def delete(context: Context, *, id: str) -> str:
    """Delete a credential with its grants; returns its id. Current runs may use its value a while longer."""
    found = await _get(context, id)
    context.audit_target(found.id)

    def unit(conn: Connection) -> None:
        if not delete_credential(conn, found.id):
            raise _not_found(id)

    await context.commit(unit)
    await context.services.vault_sync.refresh()
    return found.id


@operation("test_credential", scope=Scope.MANAGE, kind="command", idempotent=True, target="id")
async def test(context: Context, *, id: str) -> CredentialRecord:
    """Ask the service whether it accepts a credential, and store the result."""
    found = await _get(context, id)
    services = context.services
    await services.vault_sync.refresh()
    if (locked := services.vault.locked) is not None:
        raise _untested(found.key, locked.message, locked.hint)
    opened, sealed = services.vault.get(found.key), services.vault_sync.sealed(found.key)
    if opened is None or opened.fields is None or sealed is None:
        raise _untested(
            found.key,
            f"The credential `{found.key}` cannot be decrypted: its row was changed in the database.",
            "Store it again.",
        )
    kind = KINDS.get(found.kind)
    if kind is None or kind.test is None:
        refusal = Unavailable(
            f"Credentials of kind {found.kind} cannot be tested.", hint="Run a pipeline that uses this one."
        )
        refusal.retryable = False
        raise refusal
    resources = services.engine.resources
    # Tested at the configured base URL: a key for a proxy must not reach the vendor.
    users = resources.gateway.roles.providers.values()
    used_at = {
        str(user.kind): user.base_url for user in users if user.credential == found.key and user.kind == kind.test
    }
    try:
        result = await test_credential(kind, opened.fields, resources.egress, {**used_at, **resources.service_urls})
    except PackError as failed:
        failure = failed.failure
        raise _untested(found.key, f"The credential could not be tested: {failure.message}", failure.hint) from failed
    message = services.redactor.text(result.message)
    context.audit_target(found.id)
    await context.commit(
        lambda conn: record_test(conn, found.id, sealed=sealed, accepted=result.accepted, message=message)
    )
    return await _get(context, found.id)


def _untested(key: str, message: str, hint: str | None) -> Unavailable:
    return Unavailable(message, (Requirement("credential", key, (), message, hint_of(hint)),))


async def _get(context: Context, ref: str) -> CredentialRecord:
    """Get a credential by id or key.

    Raises:
        NotFound: It does not exist.
    """
    store = context.services.store
    found = (await find_credentials(store, [ref])).get(ref) or await find_credential(store, ref)
    if found is None:
        raise _not_found(ref)
    return found


def _not_found(ref: str) -> NotFound:
    return NotFound("credential", ref, hint=Hint(operation="credentials"))


def field_names(record: CredentialRecord) -> list[str]:
    """List the names of the fields that are set."""
    names: list[str] = orjson.loads(record.fields_set)
    return names
