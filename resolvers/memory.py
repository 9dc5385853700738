"""Audit memory and defaults: read, forget, pin, exclude, pause. Other callers' memory needs the `manage` scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from catalog.memory.audit_memory import ScopeError, parse_scope
from catalog.memory.learning import VALUE_CHARACTERS, LearnedField, is_learnable
from resolvers.not_found import no_pack, no_pipeline, no_target
from resolvers.operations import operation
from resolvers.problems import Forbidden, Invalid, NotFound, Unavailable
from resolvers.tools import Parameter, Tool
from runner.issues import Hint, argument_error, did_you_mean
from runner.packs.availability import Requirement
from runner.secrets.vault_sync import VaultLockedError
from store.access.callers import find_callers
from store.memory.entries import MemoryRecord, MemoryScope, count_memory, find_memory, forget, list_memory
from store.memory.overrides import OverrideRecord, drop_override, override_place, put_override
from store.memory.state import set_learning as store_learning
from store.pipelines.reads import find_pipeline, find_pipelines
from store.secrets.vault_proof import VaultChangedError
from store.states import Scope

if TYPE_CHECKING:
    from catalog.memory.defaults import CallerDefaults
    from resolvers.context import Context
    from store.database.dialects import Connection
    from store.database.paging import PageWindow
    from store.memory.entries import TargetKind

DefaultRule = Literal["learned", "pinned", "excluded"]

#: How often a pin is tried when the vault key changes at the same time.
_ATTEMPTS = 3


@operation(
    "my_defaults",
    scope=Scope.READ,
    kind="query",
    tool=Tool(
        title="Get usual choices",
        description="Returns your usual choices for the packs and pipelines you use most, learned from "
        "successful runs of the last 30 days. Call it before asking the user; confirm the values you "
        "use, and list them in from_memory when you start the run.",
        name="get_defaults",
        parameters={"caller": Parameter(hidden=True)},
    ),
)
async def my_defaults(context: Context, *, caller: str | None = None, target: str | None = None) -> CallerDefaults:
    """Return what a caller usually chooses: for the most used targets, or for one alone."""
    found = await defaults_of(context, caller)
    if target is None:
        return found
    kind, known = await target_of(context, target)
    return found.only(kind, known)


async def defaults_of(context: Context, caller: str | None) -> CallerDefaults:
    """Return a caller's defaults for commands that change them; does not check the `read` scope."""
    return await context.services.defaults.of(await memory_owner(context, caller))


@operation("memory_entries", scope=Scope.READ, kind="query")
async def list_entries(
    context: Context, *, caller: str | None = None, scope: str = "all", window: PageWindow
) -> list[MemoryRecord]:
    """List rows of memory, newest first, and one more than the window asks for if there are more."""
    caller_id, wanted = await memory_owner(context, caller), scope_of(scope)
    await context.services.memory.catch_up()
    return await list_memory(context.services.store, caller_id, wanted, window)


async def count_entries(context: Context, *, caller: str | None, scope: str) -> int:
    """Count rows of memory up to a cap; the surface has checked the scope."""
    caller_id, wanted = await memory_owner(context, caller), scope_of(scope)
    return await count_memory(context.services.store, caller_id, wanted)


async def find_entry(context: Context, entry_id: str) -> MemoryRecord | None:
    """Find a row by id; None if it does not exist or the caller may not see it."""
    found = (await find_memory(context.services.store, [entry_id])).get(entry_id)
    may_see = found is not None and (found.caller_id == context.caller.id or context.caller.may(Scope.MANAGE))
    return found if may_see else None


def learned_of(context: Context, entry: MemoryRecord) -> dict[LearnedField, str] | None:
    """Return the values a row holds, by field; None if they cannot be decrypted."""
    if entry.sealed is None:
        return {}
    return context.services.memory.learned(entry.caller_id, entry.run_id, entry.step_id, entry.sealed)


@operation(
    "forget_memory",
    scope=Scope.RUN,
    kind="command",
    idempotent=True,
    destructive=True,
    tool=Tool(
        title="Forget what was learned",
        description="Deletes rows of audit memory and the defaults learned from them, and returns how many. "
        "Runs, artifacts, caches, credentials and pinned defaults are not affected. Count with "
        "dry_run first and confirm with the user.",
        parameters={
            "caller": Parameter(hidden=True),
            "scope": Parameter(
                description="`all`, `packs`, `pipelines`, `pack:<id>`, `pipeline:<id>` or `entry:<id>`."
            ),
        },
    ),
)
async def forget_memory(context: Context, *, scope: str, caller: str | None = None, dry_run: bool = False) -> int:
    """Delete rows of memory, or only count them; returns how many.

    Raises:
        Invalid: The scope is unknown.
        NotFound: The row or the caller does not exist.
        Forbidden: The memory belongs to another caller.
    """
    caller_id, wanted = await memory_owner(context, caller), await _known_scope(context, scope)
    if wanted.entry_id is not None:
        entry = await find_entry(context, wanted.entry_id)
        if entry is None or entry.caller_id != caller_id:
            raise NotFound("memory entry", wanted.entry_id, hint=Hint(operation="memory_entries"))
    elif wanted.target is not None and wanted.kind is not None:
        await _require_known(context, caller_id, wanted.kind, wanted.target)
    await context.services.memory.catch_up()
    return await context.commit(
        lambda conn: forget(conn, caller_id, wanted, dry_run=dry_run), detail=lambda count: {"rows": count}
    )


@operation("set_default", scope=Scope.RUN, kind="command", idempotent=True, target="target", private=("value",))
async def set_default(
    context: Context,
    *,
    target: str,
    field: LearnedField,
    rule: DefaultRule = "pinned",
    value: str | None = None,
    caller: str | None = None,
) -> CallerDefaults:
    """Pin, replace or exclude a default, or return it to learning.

    Raises:
        Invalid: There is no value to pin, or the value may not be stored.
        NotFound: The pack, pipeline or caller does not exist.
        Unavailable: The vault is locked.
    """
    caller_id = await memory_owner(context, caller)
    kind, target_id = await target_of(context, target, caller_id=caller_id)
    if rule != "pinned":
        if value is not None:
            raise _unfit(f"The rule `{rule}` takes no value; only `pinned` does.", "Leave the value out.")
        excluded = OverrideRecord(kind, target_id, field.value, "excluded", None)

        def settle(conn: Connection) -> None:
            if rule == "excluded":
                put_override(conn, caller_id, excluded, proof=None)
            else:
                drop_override(conn, caller_id, kind, target_id, field.value)

        await context.commit(settle)
    else:
        chosen = value if value is not None else await _learned(context, caller_id, kind, target_id, field)
        if not is_learnable(chosen, context.services.redactor):
            raise _unfit(
                "This value cannot be kept as a default.",
                f"Give one line of 1 to {VALUE_CHARACTERS} characters without an address or a secret.",
            )
        await _pin(context, caller_id, OverrideRecord(kind, target_id, field.value, "pinned", chosen.strip()))
    return await context.services.defaults.of(caller_id)


@operation("set_learning", scope=Scope.RUN, kind="command", idempotent=True)
async def set_learning(context: Context, *, paused: bool, caller: str | None = None) -> CallerDefaults:
    """Pause or continue learning; runs that ended before the call follow the earlier rule."""
    caller_id = await memory_owner(context, caller)
    await context.services.memory.catch_up()

    def unit(conn: Connection) -> None:
        store_learning(conn, caller_id, paused=paused)

    await context.commit(unit)
    return await context.services.defaults.of(caller_id)


async def memory_owner(context: Context, caller: str | None) -> str:
    """Return the id of the caller whose memory is meant; the audit records when it is another one.

    Raises:
        Forbidden: The memory is another caller's, and this caller lacks `manage`.
        NotFound: The caller does not exist.
    """
    if caller is None or caller == context.caller.id:
        return context.caller.id
    if not context.caller.may(Scope.MANAGE):
        raise Forbidden(
            "You may only use your own memory.", requires=Scope.MANAGE, hint="Leave the caller out to use your own."
        )
    if caller not in await find_callers(context.services.store, [caller]):
        raise NotFound("caller", caller, hint=Hint(operation="callers"))
    if context.trail is not None:
        context.trail.on_behalf_of = caller
    return caller


async def target_of(context: Context, ref: str, *, caller_id: str | None = None) -> tuple[TargetKind, str]:
    """Return the kind and id of a target by id, name, key or alias; deleted targets are found while memory has them.

    Raises:
        NotFound: The pack or pipeline does not exist.
    """
    pipeline = await find_pipeline(context.services.store, ref)
    if pipeline is not None:
        return "pipeline", pipeline.id
    if context.services.registry.find(ref) is not None:
        return "pack", ref
    defaults = await context.services.defaults.of(caller_id or context.caller.id)
    for kind, target in defaults.entries:
        if target == ref:
            return kind, target
    raise await no_target(context, ref)


def scope_of(text: str) -> MemoryScope:
    """Parse a scope.

    Raises:
        Invalid: The scope is unknown.
    """
    try:
        return parse_scope(text)
    except ScopeError as refused:
        near = did_you_mean(text, ("all", "packs", "pipelines"))
        raise Invalid([argument_error("scope", "unknown_scope", str(refused), near)]) from refused


async def _known_scope(context: Context, text: str) -> MemoryScope:
    """Parse a scope that may name a pipeline by its key."""
    scope = scope_of(text)
    if scope.kind == "pipeline" and scope.target is not None:
        pipeline = await find_pipeline(context.services.store, scope.target)
        if pipeline is not None:
            return MemoryScope(kind="pipeline", target=pipeline.id)
    return scope


async def _require_known(context: Context, caller_id: str, kind: TargetKind, target: str) -> None:
    """Refuse an unknown name, so that a typo does not look like an empty memory; deleted targets may have rows left.

    Raises:
        NotFound: The pack or pipeline does not exist, and memory has no row of it.
    """
    if kind == "pack" and context.services.registry.find(target) is not None:
        return
    if kind == "pipeline" and await find_pipelines(context.services.store, [target]):
        return
    if await context.services.memory.count(caller_id, MemoryScope(kind=kind, target=target)):
        return
    miss = await (no_pack if kind == "pack" else no_pipeline)(context, target)
    near = None if miss.suggestion is None else f"{kind}:{miss.suggestion}"
    raise NotFound(kind, f"{kind}:{target}", suggestion=near)


async def _learned(context: Context, caller_id: str, kind: TargetKind, target: str, field: LearnedField) -> str:
    defaults = await context.services.defaults.of(caller_id)
    known = defaults.of(kind, target).common_inputs.get(field.value)
    if known is None or known.value is None:
        raise _unfit(f"There is no learned value for `{field.value}` of {target} yet.", "Give the value to pin.")
    return known.value


async def _pin(context: Context, caller_id: str, override: OverrideRecord) -> None:
    assert override.sealed is not None, "a pin has a value"
    place = override_place(caller_id, override.kind, override.target, override.field)
    for _ in range(_ATTEMPTS):
        try:
            opened = await context.services.vault_sync.for_sealing()
        except VaultLockedError as locked:
            lack = locked.missing
            raise Unavailable(lack.message, [Requirement.of("credential", "vault", lack)]) from locked
        sealed = OverrideRecord(
            override.kind, override.target, override.field, "pinned", opened.cipher.seal(override.sealed, place)
        )
        proof = opened.proof

        def unit(conn: Connection, sealed: OverrideRecord = sealed, proof: str = proof) -> None:
            put_override(conn, caller_id, sealed, proof=proof)

        try:
            await context.commit(unit)
        except VaultChangedError:
            continue
        return
    raise Unavailable("The vault key changed during every attempt.", (), hint="Try again.")


def _unfit(message: str, hint: str) -> Invalid:
    return Invalid([argument_error("value", "unfit", message, hint)])
