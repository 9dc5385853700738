"""Credentials: list, store, share, test, delete. No value ever comes out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from resolvers.operations import operation
from resolvers.problems import Invalid, NotFound, Unavailable
from runner.excerpts import excerpt
from runner.failures import PackError
from runner.issues import Hint, argument_error, has_errors, hint_of
from runner.json_values import forbidden_text
from runner.packs.availability import Requirement
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
    delete_credential,
    find_credential,
    find_credentials,
    grants_of,
    list_credentials,
    note_test,
    put_credential,
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
#: How often a change is tried anew when another one came between.
TRIES = 5
_KEY = re.compile(r"[a-z][a-z0-9_-]{0,63}\Z")


@operation("credentials", scope=Scope.MANAGE, kind="query")
async def list_stored(context: Context, *, window: PageWindow) -> list[CredentialRecord]:
    """Credentials, newest first; one more than the window asks for when there are more."""
    return await list_credentials(context.services.store, window)


@operation("credential_kinds", scope=Scope.READ, kind="query")
async def list_kinds(context: Context) -> list[CredentialKind]:
    """Every kind there is."""
    return list(KINDS.values())


async def find_stored(context: Context, credential_id: str) -> CredentialRecord | None:
    """A credential by id; None when there is none or the caller may not know of it."""
    if not context.caller.may(Scope.MANAGE):
        return None
    return (await find_credentials(context.services.store, [credential_id])).get(credential_id)


async def targets_of(context: Context, credential_id: str) -> list[str]:
    """Whom a credential is granted to: names of packs, ids of pipelines and callers."""
    return await grants_of(context.services.store, credential_id)


def is_readable(context: Context, record: CredentialRecord) -> bool:
    """Whether the vault can read a credential now."""
    found = context.services.vault.get(record.key)
    return found is not None and found.fields is not None


def packs_that_need(context: Context, key: str) -> list[Pack]:
    """The packs that ask for a credential, in the version in use, by name."""
    registry = context.services.registry
    packs = [pack for name in sorted(registry.names()) if (pack := registry.find(name)) is not None]
    return [pack for pack in packs if any(need.key == key for need in pack.credentials)]


@operation("set_credential", scope=Scope.MANAGE, kind="command", idempotent=True, target="key")
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
    """Stores a credential, or changes what is given of it; a field that is null is removed, an absent one stays.

    `grants` replaces all grants; `add_grants` and `remove_grants` leave those that others change meanwhile alone.
    """
    issues = _shape_issues(key, kind, description)
    given: Mapping[str, JSONValue] | None = None
    if isinstance(fields, dict):
        given = fields
    elif fields is not KEEP and fields is not None:
        issues.append(argument_error("fields", "wrong_type", "The fields are an object of texts."))
    if expires_at is not KEEP and expires_at is not None and expires_at <= context.services.now():
        issues.append(argument_error("expires_at", "past", "It would have expired already.", "Give a later time."))
    if grants is not None and (add_grants or remove_grants):
        issues.append(
            argument_error(
                "grants", "given_twice", "Replace all grants, or add and take back some: not both in one call."
            )
        )
    if has_errors(issues):
        raise Invalid(issues, summary="The credential cannot be stored")
    shared = await _grant_change(context, grants, add_grants, remove_grants)
    for _ in range(TRIES):
        change = await _change(context, key, kind, description, given, shared, expires_at)
        try:
            credential_id = await _store(context, change)
        except VaultChangedError:
            await context.services.vault_sync.refresh()
            continue
        except TooManyGrantsError as refused:
            message = f"{refused} grants are too many; at most {GRANTS_MAX} are kept."
            raise Invalid([argument_error("grants", "too_many", message)]) from refused
        await context.services.vault_sync.refresh()
        found = await find_stored(context, credential_id)
        if found is not None:
            return found
    raise Unavailable(f"The credential `{key}` keeps being changed by others.", (), hint="Try again.")


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
    """What is to be stored, given what is.

    Raises:
        Invalid: the fields do not fit the kind.
        Unavailable: the vault is locked.
    """
    keeper = context.services.vault_sync
    await keeper.refresh()
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
        return await keeper.seal(change, fields, before=keeper.sealed(key))
    except VaultLockedError as locked:
        lack = Requirement.of("credential", key, locked.missing)
        raise Unavailable(locked.missing.message, (lack,), hint=locked.missing.hint) from locked


def _shape_issues(key: str, kind: str, description: str | Keep | None) -> list[Issue]:
    issues = kind_issues(kind)
    if not _KEY.match(key):
        issues.append(
            argument_error(
                "key",
                "bad_key",
                f"`{excerpt(key, 80)}` is no key.",
                "Use lower-case letters, digits, `-` and `_`, at most 64, beginning with a letter.",
            )
        )
    if isinstance(description, str):
        issues += [issue.under_argument("description") for issue in forbidden_text(description)]
        if len(description) > DESCRIPTION_CHARACTERS:
            message = f"The description has more than {DESCRIPTION_CHARACTERS} characters."
            issues.append(argument_error("description", "too_long", message))
    return issues


async def _grant_change(
    context: Context, grants: Sequence[str] | None, add: Sequence[str], remove: Sequence[str]
) -> GrantChange:
    """What to change about grants, in names of packs and ids of pipelines and callers.

    Raises:
        NotFound: there is no such pack, pipeline or caller to share it with. What is to be taken back may be gone.
        Invalid: there are too many.
    """
    given = add if grants is None else grants
    if max(len(given), len(remove)) > GRANTS_MAX:
        message = f"{max(len(given), len(remove))} grants are too many; at most {GRANTS_MAX} are kept."
        raise Invalid([argument_error("grants", "too_many", message)])
    found = [await _target(context, target) for target in given]
    for target, known in zip(given, found, strict=True):
        if known is None:
            raise NotFound(
                "pack, pipeline or caller",
                target,
                hint="Give the name of a pack, the id or key of a pipeline, or the id or subject of a caller. A pack "
                "that was added since the server started is known after a restart.",
            )
    return GrantChange(
        add=frozenset(known for known in found if known is not None),
        remove=frozenset([*remove, *[known for target in remove if (known := await _target(context, target))]]),
        replaces=grants is not None,
    )


async def _target(context: Context, ref: str) -> str | None:
    """Name of a pack, id of a pipeline or caller, from what people call it by; None when there is none."""
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
    """Deletes a credential with its grants, for good; its id. What runs now may hold its value a while longer."""
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
    """Asks the service whether it accepts a credential, and keeps what it said."""
    found = await _get(context, id)
    services = context.services
    await services.vault_sync.refresh()
    if (locked := services.vault.locked) is not None:
        raise _untested(found.key, locked.message, locked.hint)
    opened, sealed = services.vault.get(found.key), services.vault_sync.sealed(found.key)
    if opened is None or opened.fields is None or sealed is None:
        raise _untested(
            found.key,
            f"The credential `{found.key}` cannot be read: it was changed in the database.",
            "Store it again.",
        )
    kind = KINDS.get(found.kind)
    if kind is None or kind.test is None:
        raise _untested(
            found.key, f"Credentials of kind {found.kind} have no test.", "Run a pipeline that uses it to see."
        )
    resources = services.engine.resources
    # Asked where it is used: a key for a proxy is shown to the proxy and not to the vendor.
    users = resources.gateway.roles.providers.values()
    used_at = {
        str(user.kind): user.base_url for user in users if user.credential == found.key and user.kind == kind.test
    }
    try:
        verdict = await test_credential(kind, opened.fields, resources.egress, {**used_at, **resources.service_urls})
    except PackError as failed:
        failure = failed.failure
        raise _untested(found.key, f"Nothing is known: {failure.message}", failure.hint) from failed
    message = services.redactor.text(verdict.message)
    context.audit_target(found.id)
    await context.commit(
        lambda conn: note_test(conn, found.id, sealed=sealed, accepted=verdict.accepted, message=message)
    )
    return await _get(context, found.id)


def _untested(key: str, message: str, hint: str | None) -> Unavailable:
    return Unavailable(message, (Requirement("credential", key, (), message, hint_of(hint)),))


async def _get(context: Context, ref: str) -> CredentialRecord:
    """A credential by id or key.

    Raises:
        NotFound: there is none.
    """
    store = context.services.store
    found = (await find_credentials(store, [ref])).get(ref) or await find_credential(store, ref)
    if found is None:
        raise _not_found(ref)
    return found


def _not_found(ref: str) -> NotFound:
    return NotFound("credential", ref, hint=Hint(operation="credentials"))


def field_names(record: CredentialRecord) -> list[str]:
    """Names of the fields that are set."""
    names: list[str] = orjson.loads(record.fields_set)
    return names
