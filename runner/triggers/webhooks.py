"""Verifies and signs deliveries of webhooks, and reads their bodies. Pure functions over values, headers and a clock.

Sources: GitHub's "Validating webhook deliveries", the Standard Webhooks specification (its library verifies), and
Stripe's "Verify webhook signatures manually".
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import orjson
from standardwebhooks import Webhook, WebhookVerificationError

from runner.excerpts import excerpt
from runner.issues import Issue, error
from runner.json_values import MAX_KEPT_DEPTH, is_too_deep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from runner.failures import JSONValue

#: How far the time of a signature may be from the server's, as in the Standard Webhooks specification.
TOLERANCE_SECONDS = 300
SECRET_CHARACTERS_MIN = 16
SECRET_CHARACTERS_MAX = 200
EVENTS_MAX = 50
EVENT_CHARACTERS = 100
#: Longest delivery id that a sender may give.
_DELIVERY_ID_CHARACTERS = 200
_FORM_FIELDS_MAX = 1_000
_STANDARD_SECRET = re.compile(r"(whsec_)?([A-Za-z0-9+/]{4})+([A-Za-z0-9+/]{2}={0,2}|[A-Za-z0-9+/]{3}=?)?")
_HEX_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
#: Time of a signature: seconds since 1970, before the year 5138.
_SECONDS = re.compile(r"[0-9]{1,11}")


class Preset(StrEnum):
    """How deliveries prove where they come from."""

    GITHUB = "github"
    STANDARD_WEBHOOKS = "standard_webhooks"
    TIMESTAMPED = "timestamped"
    BEARER = "bearer"


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """The settings of a trigger of kind `webhook`.

    Attributes:
        events: Names of the events it fires for; empty for all.
    """

    preset: Preset
    events: tuple[str, ...] = ()

    @classmethod
    def read(cls, settings: Mapping[str, JSONValue]) -> WebhookSettings:
        """Read what `to_json` wrote."""
        events = settings["events"]
        assert isinstance(events, list), "written by `to_json`"
        return cls(Preset(str(settings["preset"])), tuple(map(str, events)))

    def to_json(self) -> dict[str, JSONValue]:
        """Return the settings of a trigger."""
        return {"preset": self.preset.value, "events": list(self.events)}


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a sender delivered.

    Attributes:
        delivery_id: The sender's id of it; None if it gives none, so that repeats cannot be recognized.
        event: The name of the event, if the sender gives one.
    """

    payload: JSONValue
    delivery_id: str | None
    event: str | None

    def to_json(self) -> dict[str, JSONValue]:
        """Return what is stored of it."""
        return {"payload": self.payload, "delivery_id": self.delivery_id, "event": self.event}

    @classmethod
    def read(cls, stored: Mapping[str, JSONValue]) -> Delivery:
        """Read what `to_json` wrote."""
        delivery_id, event = stored["delivery_id"], stored["event"]
        return cls(
            stored["payload"],
            None if delivery_id is None else str(delivery_id),
            None if event is None else str(event),
        )


class UnverifiedError(Exception):
    """A delivery does not prove where it comes from; the argument is the reason, for the sender."""


class UnreadableBodyError(Exception):
    """A body cannot be read; the argument is the reason, for the sender.

    Attributes:
        is_media_type: Whether it is of a media type that is not accepted.
    """

    def __init__(self, reason: str, *, is_media_type: bool = False) -> None:
        super().__init__(reason)
        self.is_media_type = is_media_type


def new_secret(preset: Preset) -> str:
    """Make a secret of 192 random bits."""
    if preset is Preset.STANDARD_WEBHOOKS:
        return "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
    return secrets.token_urlsafe(24)


def check_webhook(settings: WebhookSettings) -> list[Issue]:
    """Find what is wrong with the settings of a webhook."""
    if len(settings.events) > EVENTS_MAX:
        message = f"{len(settings.events)} events exceed the limit of {EVENTS_MAX}."
        return [error(("events",), "too_many", message, "Leave the list empty to fire for all events.")]
    return [
        error(("events", str(index)), "out_of_range", f"An event has 1 to {EVENT_CHARACTERS} visible characters.")
        for index, event in enumerate(settings.events)
        if not 1 <= len(event) <= EVENT_CHARACTERS or not event.isprintable()
    ]


def check_secret(preset: Preset, secret: str) -> list[Issue]:
    """Find what is wrong with a secret that a user gives."""
    path = ("secret",)
    if not SECRET_CHARACTERS_MIN <= len(secret) <= SECRET_CHARACTERS_MAX:
        message = f"The secret has {len(secret)} characters; use {SECRET_CHARACTERS_MIN} to {SECRET_CHARACTERS_MAX}."
        return [error(path, "out_of_range", message)]
    if not (secret.isascii() and secret.isprintable()):
        return [error(path, "bad_secret", "The secret may contain only visible ASCII characters and spaces.")]
    if preset is Preset.STANDARD_WEBHOOKS and not _STANDARD_SECRET.fullmatch(secret):
        hint = "Copy it from the sender, or leave it out to have one made."
        return [error(path, "bad_secret", "The secret is not `whsec_` followed by base64.", hint)]
    return []


def verify(preset: Preset, valid: Sequence[str], headers: Mapping[str, str], body: bytes, now: datetime) -> str | None:
    """Verify that a delivery was made with one of the secrets.

    Args:
        preset: How it proves that.
        valid: The secrets.
        headers: With names in lower case.
        body: As it was sent.
        now: The server's clock.

    Returns:
        The id of the delivery that the headers carry, if any.

    Raises:
        UnverifiedError: it was not, or its time is too far from the server's.
    """
    match preset:
        case Preset.GITHUB:
            _verify_github(valid, headers, body)
            return headers.get("x-github-delivery")
        case Preset.STANDARD_WEBHOOKS:
            _verify_standard(valid, headers, body)
            return headers["webhook-id"]
        case Preset.TIMESTAMPED:
            _verify_timestamped(valid, headers, body, now)
            return None
        case Preset.BEARER:
            _verify_bearer(valid, headers)
            return headers.get("idempotency-key") or headers.get("webhook-id")


def sign(preset: Preset, secret: str, body: bytes, *, event: str, delivery_id: str, now: datetime) -> dict[str, str]:
    """Return the headers that a sender gives a delivery, except for its media type."""
    match preset:
        case Preset.GITHUB:
            return {
                "x-hub-signature-256": f"sha256={_digest(secret, body)}",
                "x-github-delivery": delivery_id,
                "x-github-event": event,
            }
        case Preset.STANDARD_WEBHOOKS:
            return {
                "webhook-id": delivery_id,
                "webhook-timestamp": str(int(now.timestamp())),
                "webhook-signature": Webhook(secret).sign(delivery_id, now, body.decode()),
            }
        case Preset.TIMESTAMPED:
            seconds = str(int(now.timestamp()))
            return {"x-signature": f"t={seconds},v1={_digest(secret, seconds.encode() + b'.' + body)}"}
        case Preset.BEARER:
            return {"authorization": f"Bearer {secret}", "idempotency-key": delivery_id, "x-event": event}


def read_delivery(preset: Preset, headers: Mapping[str, str], body: bytes, delivery_id: str | None) -> Delivery:
    """Read a verified delivery.

    Deliveries with a timestamped signature are recognized by the payload's `id`, because their headers carry none; all
    signed ones without an id by their body.

    Raises:
        UnreadableBodyError: the body is not JSON or a form.
    """
    payload = _payload(headers.get("content-type", ""), body)
    fields = payload if isinstance(payload, dict) else {}
    own = fields.get("id")
    if preset is Preset.TIMESTAMPED and isinstance(own, str):
        delivery_id = own
    if preset is not Preset.BEARER:
        delivery_id = delivery_id or hashlib.sha256(body).hexdigest()
    if delivery_id is not None and len(delivery_id) > _DELIVERY_ID_CHARACTERS:
        raise UnreadableBodyError(f"The id of the delivery exceeds {_DELIVERY_ID_CHARACTERS} characters.")
    event: JSONValue
    match preset:
        case Preset.GITHUB:
            event = headers.get("x-github-event")
        case Preset.BEARER:
            event = headers.get("x-event") or fields.get("type")
        case _:
            event = fields.get("type")
    is_name = isinstance(event, str) and len(event) <= EVENT_CHARACTERS
    return Delivery(payload, delivery_id or None, str(event) if is_name else None)


def is_wanted(settings: WebhookSettings, event: str | None) -> bool:
    """Whether a webhook fires for an event; for GitHub's `ping` only if it is listed."""
    if not settings.events:
        return not (settings.preset is Preset.GITHUB and event == "ping")
    return event in settings.events


def _verify_github(valid: Sequence[str], headers: Mapping[str, str], body: bytes) -> None:
    signature = headers.get("x-hub-signature-256")
    if signature is None:
        raise UnverifiedError("The header `X-Hub-Signature-256` is missing. Set a secret for the webhook at GitHub.")
    scheme, _, digest = signature.partition("=")
    if scheme.lower() != "sha256" or not _HEX_SHA256.fullmatch(digest):
        raise UnverifiedError("The header `X-Hub-Signature-256` is not `sha256=` and 64 hexadecimal digits.")
    if not _signed(valid, body, [digest]):
        raise UnverifiedError("The signature does not fit the body and the secret.")


def _verify_standard(valid: Sequence[str], headers: Mapping[str, str], body: bytes) -> None:
    reason = "The header `webhook-signature` is missing."
    for secret in valid:
        try:
            Webhook(secret).verify(body, dict(headers), json_parse=False)
        except WebhookVerificationError as refused:
            reason = f"{refused}."
        except ValueError:
            reason = "The signature or the body is not well formed."
        else:
            return
    raise UnverifiedError(reason)


def _verify_timestamped(valid: Sequence[str], headers: Mapping[str, str], body: bytes, now: datetime) -> None:
    signature = headers.get("stripe-signature") or headers.get("x-signature")
    if signature is None:
        raise UnverifiedError("The header `Stripe-Signature` or `X-Signature` is missing.")
    pairs = [part.strip().partition("=")[::2] for part in signature.split(",")]
    times = [value for name, value in pairs if name == "t"]
    digests = [value for name, value in pairs if name == "v1" and _HEX_SHA256.fullmatch(value)]
    if len(times) != 1 or not _SECONDS.fullmatch(times[0]) or not digests:
        raise UnverifiedError("The signature is not `t=` and a time in seconds, `,v1=` and 64 hexadecimal digits.")
    if not _signed(valid, times[0].encode() + b"." + body, digests):
        raise UnverifiedError("The signature does not fit the time, the body and the secret.")
    if abs(now.timestamp() - int(times[0])) > TOLERANCE_SECONDS:
        raise UnverifiedError(f"The signature's time is more than {TOLERANCE_SECONDS} s from the server's.")


def _verify_bearer(valid: Sequence[str], headers: Mapping[str, str]) -> None:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise UnverifiedError("Send the secret as `Authorization: Bearer …`.")
    presented = given.strip().encode()
    # Compares with each, so that the time does not say which one fits.
    if not any([hmac.compare_digest(presented, secret.encode()) for secret in valid]):
        raise UnverifiedError("The secret is wrong.")


def _signed(valid: Sequence[str], text: bytes, digests: Sequence[str]) -> bool:
    expected = [_digest(secret, text) for secret in valid]
    return any([hmac.compare_digest(digest.lower(), one) for digest in digests[:10] for one in expected])


def _digest(secret: str, text: bytes) -> str:
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def _payload(content_type: str, body: bytes) -> JSONValue:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json")):
        return _json(body)
    if media_type != "application/x-www-form-urlencoded":
        shown = f"`{excerpt(media_type, 60)}`" if media_type else "not given"
        raise UnreadableBodyError(
            f"The media type is {shown}. Send `application/json` or `application/x-www-form-urlencoded`.",
            is_media_type=True,
        )
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=_FORM_FIELDS_MAX
        )
    except ValueError as wrong:
        raise UnreadableBodyError("The body is not a form in UTF-8.") from wrong
    if len(fields) == 1 and fields[0][0] == "payload":  # as GitHub sends JSON in a form
        return _json(fields[0][1].encode())
    return dict(fields)


def _json(body: bytes) -> JSONValue:
    try:
        value: JSONValue = orjson.loads(body)
    except orjson.JSONDecodeError as wrong:
        raise UnreadableBodyError("The body is not JSON in UTF-8.") from wrong
    if is_too_deep(value):
        raise UnreadableBodyError(f"The body is nested deeper than {MAX_KEPT_DEPTH} levels.")
    return value
