"""Creates webhooks, rotates their secrets, and replays their deliveries."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from resolvers.operations import operation
from resolvers.problems import Conflict, Invalid, NotFound, Unavailable
from resolvers.tools import Parameter, Tool
from resolvers.triggers.deliveries import read_stored
from resolvers.triggers.triggers import (
    changeable_trigger,
    create_of_kind,
    current_trigger,
    find_trigger,
    fire_or_refuse,
    save_settings,
)
from resolvers.visible import deliveries
from runner.issues import argument_error
from runner.json_values import canonical_json
from runner.secrets.vault_sync import VaultLockedError
from runner.triggers.webhooks import WebhookSettings, check_secret, check_webhook, new_secret
from store.database.ids import new_id
from store.secrets.vault_proof import VaultChangedError, require_proof
from store.states import Scope, TriggerKind
from store.triggers.reads import find_firing
from store.triggers.webhooks import (
    SealedSecret,
    add_webhook,
    replace_secret,
    secret_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from resolvers.context import Context
    from runner.failures import JSONValue
    from runner.secrets.vault_sync import VaultCipher
    from runner.triggers.webhooks import Preset
    from store.database.dialects import Connection
    from store.triggers.reads import TriggerRecord

#: How long the secret before a rotation stays valid.
OVERLAP_SECONDS = 86_400
OVERLAP_SECONDS_MAX = 7 * 86_400
_ADDRESS_BYTES = 24


@dataclass(frozen=True, slots=True)
class SecretShown:
    """A trigger, and its new secret, which is not shown again."""

    trigger: TriggerRecord
    secret: str


def settings_of(trigger: TriggerRecord) -> WebhookSettings | None:
    """Read the settings of a webhook; None for a trigger of another kind."""
    return WebhookSettings.read(orjson.loads(trigger.settings)) if trigger.kind == TriggerKind.WEBHOOK else None


def url_of(context: Context, address: str) -> str:
    """Return the URL that senders deliver to."""
    return f"{context.services.hooks_url}/{address}"


@operation(
    "create_webhook",
    scope=Scope.WRITE,
    kind="command",
    target="pipeline",
    private=("secret",),
    tool=Tool(
        title="Create a webhook",
        description="Creates a trigger whose address starts a run of a pipeline for each signed request of another "
        "service. Returns the address and the secret, which is not shown again: the user gives both to the sender.",
        toolset="author",
        parameters={
            "preset": Parameter(description="How requests are signed; Stripe is `TIMESTAMPED`."),
            "secret": Parameter(hidden=True),
            "version": Parameter(description="Pins a version of the pipeline."),
        },
    ),
)
async def create_webhook(
    context: Context,
    *,
    pipeline: str,
    name: str,
    settings: WebhookSettings,
    inputs: JSONValue,
    secret: str | None = None,
    version: int | None = None,
    enabled: bool = True,
) -> SecretShown:
    """Save a new webhook, owned by the caller; without a secret, one is made.

    Raises:
        Problem: The settings or inputs are wrong, or the vault is locked.
    """
    if issues := check_webhook(settings):
        raise Invalid([replace(issue, in_argument=True) for issue in issues], summary="The webhook cannot be saved")
    chosen, along = await new_address(context, settings.preset, secret)
    trigger = await create_of_kind(
        context,
        kind=TriggerKind.WEBHOOK,
        pipeline=pipeline,
        name=name,
        settings=lambda _: canonical_json(settings.to_json()),
        inputs=inputs,
        version=version,
        enabled=enabled,
        along=along,
    )
    return SecretShown(trigger, chosen)


async def new_address(
    context: Context, preset: Preset, secret: str | None = None
) -> tuple[str, Callable[[Connection, str], None]]:
    """Choose the secret of a new webhook, and return it with the unit that stores it for a trigger's id.

    Raises:
        Problem: The secret is unsuitable, or the vault is locked.
    """
    chosen = _chosen_secret(preset, secret)
    opened = await _for_sealing(context)
    sealed = _seal(opened, chosen)
    context.services.redactor.learn({"webhook secret": chosen})
    address = secrets.token_urlsafe(_ADDRESS_BYTES)

    def along(conn: Connection, trigger_id: str) -> None:
        _require_key(conn, opened)
        add_webhook(conn, trigger_id, address, sealed)

    return chosen, along


@operation("update_webhook", scope=Scope.WRITE, kind="command", target="id")
async def update_webhook(context: Context, *, id: str, events: tuple[str, ...]) -> TriggerRecord:
    """Replace the events that a webhook fires for."""
    trigger, settings = await _changeable_webhook(context, id)
    changed = WebhookSettings(settings.preset, events)
    if issues := check_webhook(changed):
        raise Invalid(
            [argument_error("events", issue.rule, issue.message, issue.hint) for issue in issues],
            summary="The webhook cannot be saved",
        )
    return await save_settings(context, trigger, canonical_json(changed.to_json()))


@operation("rotate_webhook_secret", scope=Scope.WRITE, kind="command", target="id", private=("secret",))
async def rotate_secret(
    context: Context, *, id: str, secret: str | None = None, overlap_seconds: int = OVERLAP_SECONDS
) -> SecretShown:
    """Give a webhook another secret; the present one stays valid for the overlap, and earlier ones end."""
    trigger, settings = await _changeable_webhook(context, id)
    if not 0 <= overlap_seconds <= OVERLAP_SECONDS_MAX:
        message = f"The overlap is {overlap_seconds} s; use 0 to {OVERLAP_SECONDS_MAX}."
        raise Invalid([argument_error("overlap_seconds", "out_of_range", message)])
    chosen = _chosen_secret(settings.preset, secret)
    opened = await _for_sealing(context)
    sealed = _seal(opened, chosen)
    context.services.redactor.learn({"webhook secret": chosen})

    def unit(conn: Connection) -> None:
        _require_key(conn, opened)
        replace_secret(conn, trigger.id, sealed, overlap_seconds=overlap_seconds)

    await context.commit(unit)
    return SecretShown(await current_trigger(context, trigger.id), chosen)


@operation("replay_firing", scope=Scope.RUN, kind="command", target="id")
async def replay(context: Context, *, id: str) -> str:
    """Start a run for the delivery of an earlier firing, as the trigger's owner; returns the run's id.

    It is a new firing, made with the trigger as it is now; neither the signature nor repeats are checked.
    """
    firing = await find_firing(context.services.store, id)
    seen = None if firing is None else await find_trigger(context, firing.trigger_id)
    if seen is None:
        raise NotFound("firing", id)
    trigger = await changeable_trigger(context, seen.id)
    record = (await deliveries(context, [id])).get(id)
    if record is None:
        hint = "Deliveries of webhooks are kept for 7 days; fire the trigger instead."
        raise Conflict("The firing has no delivery, or it is no longer kept.", current_id=id, hint=hint)
    delivery = await read_stored(context, record)
    if delivery is None:
        raise Unavailable("The delivery cannot be opened: the vault is locked, or its key was changed.")
    return await fire_or_refuse(context, trigger, delivery)


async def _changeable_webhook(context: Context, trigger_id: str) -> tuple[TriggerRecord, WebhookSettings]:
    trigger = await changeable_trigger(context, trigger_id)
    settings = settings_of(trigger)
    if settings is None:
        raise Conflict(f"The trigger {trigger.name} is not a webhook.", current_id=trigger_id)
    return trigger, settings


def _chosen_secret(preset: Preset, secret: str | None) -> str:
    if secret is None:
        return new_secret(preset)
    if issues := check_secret(preset, secret):
        raise Invalid([argument_error("secret", issue.rule, issue.message, issue.hint) for issue in issues])
    return secret


async def _for_sealing(context: Context) -> VaultCipher:
    try:
        return await context.services.vault_sync.for_sealing()
    except VaultLockedError as locked:
        raise Unavailable(locked.missing.message, hint=locked.missing.hint) from locked


def _seal(opened: VaultCipher, secret: str) -> SealedSecret:
    secret_id = new_id("sec")
    return SealedSecret(secret_id, opened.cipher.seal(secret, secret_place(secret_id)))


def _require_key(conn: Connection, opened: VaultCipher) -> None:
    try:
        require_proof(conn, opened.proof)
    except VaultChangedError as changed:
        raise Unavailable("The key of the vault was changed meanwhile.", hint="Try again.") from changed
