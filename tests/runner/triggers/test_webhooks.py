"""Signatures of webhooks, by the published samples, and bodies."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook

from runner.triggers.webhooks import (
    TOLERANCE_SECONDS,
    Preset,
    UnreadableBodyError,
    UnverifiedError,
    WebhookSettings,
    check_secret,
    check_webhook,
    is_wanted,
    new_secret,
    read_delivery,
    sign,
    verify,
)

NOW = datetime.now(UTC)
#: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
GITHUB_SECRET, GITHUB_BODY = "It's a Secret to Everybody", b"Hello, World!"
GITHUB_SIGNATURE = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
#: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
STANDARD_SECRET, STANDARD_ID = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
STANDARD_BODY, STANDARD_AT = b'{"test": 2432232314}', datetime.fromtimestamp(1614265330, UTC)
STANDARD_SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def github(signature: str, *secrets: str) -> str | None:
    headers = {"x-hub-signature-256": signature, "x-github-delivery": "72d3162e"}
    return verify(Preset.GITHUB, secrets or (GITHUB_SECRET,), headers, GITHUB_BODY, NOW)


def standard(at: datetime, signature: str | None = None) -> dict[str, str]:
    signed = signature or Webhook(STANDARD_SECRET).sign(STANDARD_ID, at, STANDARD_BODY.decode())
    return {
        "webhook-id": STANDARD_ID,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signed,
    }


def stamped(at: datetime, body: bytes, secret: str = GITHUB_SECRET) -> str:
    seconds = int(at.timestamp())
    digest = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


def test_githubs_sample_is_verified_in_either_case_and_with_each_secret():
    for signature in (f"sha256={GITHUB_SIGNATURE}", f"sha256={GITHUB_SIGNATURE.upper()}", f"SHA256={GITHUB_SIGNATURE}"):
        assert github(signature) == "72d3162e"
    assert github(f"sha256={GITHUB_SIGNATURE}", "another secret of ours", GITHUB_SECRET)


@pytest.mark.parametrize(
    "signature",
    [
        "sha256=" + "0" * 64,
        GITHUB_SIGNATURE,
        f"sha1={GITHUB_SIGNATURE}",
        f"sha256={GITHUB_SIGNATURE[:-1]}",
        f"sha256= {GITHUB_SIGNATURE}",
        "sha256=" + base64.b64encode(bytes.fromhex(GITHUB_SIGNATURE)).decode(),
        "sha256=é" + GITHUB_SIGNATURE[1:],
        "",
    ],
)
def test_other_signatures_of_githubs_sample_are_refused(signature: str):
    with pytest.raises(UnverifiedError):
        github(signature)


def test_the_standard_webhooks_sample_is_verified():
    assert Webhook(STANDARD_SECRET).sign(STANDARD_ID, STANDARD_AT, STANDARD_BODY.decode()) == STANDARD_SIGNATURE
    with pytest.raises(UnverifiedError, match="too old"):
        verify(Preset.STANDARD_WEBHOOKS, [STANDARD_SECRET], standard(STANDARD_AT), STANDARD_BODY, NOW)
    now = datetime.now(UTC)
    assert verify(Preset.STANDARD_WEBHOOKS, [STANDARD_SECRET], standard(now), STANDARD_BODY, now) == STANDARD_ID
    rotated = [new_secret(Preset.STANDARD_WEBHOOKS), STANDARD_SECRET]
    assert verify(Preset.STANDARD_WEBHOOKS, rotated, standard(now), STANDARD_BODY, now) == STANDARD_ID


@pytest.mark.parametrize("signature", ["v1,AAAA", "v1", "v1,é", "v2," + STANDARD_SIGNATURE[3:], "v1,a,b", "nonsense"])
def test_malformed_standard_signatures_are_refused(signature: str):
    with pytest.raises(UnverifiedError):
        verify(Preset.STANDARD_WEBHOOKS, [STANDARD_SECRET], standard(NOW, signature), STANDARD_BODY, NOW)
    with pytest.raises(UnverifiedError):
        verify(Preset.STANDARD_WEBHOOKS, [STANDARD_SECRET], standard(datetime.now(UTC)), b"\xff", NOW)


def test_a_timestamped_signature_is_verified_within_the_tolerance():
    def tried(at: datetime, header: str | None = None) -> None:
        headers = {"stripe-signature": header or stamped(at, b"{}")}
        verify(Preset.TIMESTAMPED, [GITHUB_SECRET], headers, b"{}", NOW)

    tried(NOW)
    tried(NOW, stamped(NOW, b"{}") + ",v0=abc,v1=" + "0" * 64)
    for off in (-TOLERANCE_SECONDS - 2, TOLERANCE_SECONDS + 2):
        with pytest.raises(UnverifiedError, match="time"):
            tried(NOW + timedelta(seconds=off))
    for header in ("t=1", "t=x,v1=" + "0" * 64, "v1=" + "0" * 64, stamped(NOW, b"[]"), "t=" + "9" * 400 + ",v1=aa"):
        with pytest.raises(UnverifiedError):
            tried(NOW, header)


def test_a_timestamped_signature_may_be_in_either_case_but_in_no_other_encoding():
    def tried(header: str) -> None:
        verify(Preset.TIMESTAMPED, [GITHUB_SECRET], {"x-signature": header}, b"{}", NOW)

    signed = stamped(NOW, b"{}")
    time, digest = signed.split(",v1=")
    for header in (f"{time},v1={digest.upper()}", f" {time} , v1={digest}", f"v1={digest},{time}"):
        tried(header)
    raw = bytes.fromhex(digest)
    for header in (
        f"{time},v1={base64.b64encode(raw).decode()}",
        f"{time},v1={base64.urlsafe_b64encode(raw).decode()}",
        f"{time},v1=0x{digest}",
        f"{time},v1={digest[:-1]}",
        f"{time},v1=%{digest}",
        f"{time},V1={digest}",
        f"{time},{time},v1={digest}",
        f"{time}.0,v1={digest}",
        f"t={2_000 * 366 * 86_400},v1={digest}",
        f"t=-1,v1={digest}",
        f"t=\N{FULLWIDTH DIGIT FIVE},v1={digest}",
        f"{time},v1={digest[:-1]}\N{FULLWIDTH DIGIT ZERO}",
        f"{time},v1={digest[:-1]}\N{CYRILLIC SMALL LETTER A}",
        ",".join([time, *["v1=" + "0" * 64] * 10, f"v1={digest}"]),
    ):
        with pytest.raises(UnverifiedError):
            tried(header)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("webhook-timestamp", "nan"),
        ("webhook-timestamp", "inf"),
        ("webhook-timestamp", "1e400"),
        ("webhook-timestamp", "9" * 400),
        ("webhook-timestamp", str(2_000 * 366 * 86_400)),
        ("webhook-timestamp", "-62135596800"),
        ("webhook-timestamp", "2026-11-28T10:00:00Z"),
        ("webhook-timestamp", ""),
        ("webhook-id", ""),
        ("webhook-id", STANDARD_ID.upper()),
        ("webhook-signature", ""),
        ("webhook-signature", " ".join(["v1," + "A" * 43 + "="] * 1_000)),
    ],
)
def test_standard_headers_that_were_not_signed_are_refused(name: str, text: str):
    headers = {**standard(datetime.now(UTC)), name: text}
    with pytest.raises(UnverifiedError):
        verify(Preset.STANDARD_WEBHOOKS, [STANDARD_SECRET], headers, STANDARD_BODY, datetime.now(UTC))


def test_a_standard_signature_in_another_case_or_encoding_is_refused():
    now = datetime.now(UTC)
    version, _, text = standard(now)["webhook-signature"].partition(",")
    raw = base64.b64decode(text)
    for signature in (
        f"{version.upper()},{text}",
        f"{version},{text.swapcase()}",
        f"{version},{raw.hex()}",
        f"{version}={text}",
        f"{version},{base64.b64encode(raw[:-1]).decode()}",
        f"{version},{base64.b32encode(raw).decode()}",
    ):
        with pytest.raises(UnverifiedError):
            verify(Preset.STANDARD_WEBHOOKS, [STANDARD_SECRET], standard(now, signature), STANDARD_BODY, now)


def test_a_bearer_secret_is_compared():
    def tried(header: str) -> str | None:
        headers = {"authorization": header, "idempotency-key": "k"}
        return verify(Preset.BEARER, [GITHUB_SECRET], headers, b"", NOW)

    assert tried(f"Bearer {GITHUB_SECRET}") == tried(f"bearer {GITHUB_SECRET}") == "k"
    for header in ("", "Bearer", "Bearer é", f"Basic {GITHUB_SECRET}", f"Bearer {GITHUB_SECRET.upper()}"):
        with pytest.raises(UnverifiedError):
            tried(header)


def test_bodies_are_json_or_forms():
    def read(body: bytes, media_type: str, preset: Preset = Preset.GITHUB) -> object:
        return read_delivery(preset, {"content-type": media_type}, body, "id").payload

    assert read(b'{"a": 1}', "application/json; charset=utf-8") == {"a": 1}
    assert read(b"[1]", "application/cloudevents+json") == [1]
    assert read(b"payload=%7B%22a%22%3A1%7D", "application/x-www-form-urlencoded") == {"a": 1}
    assert read(b"a=1&b=&a=2", "application/x-www-form-urlencoded") == {"a": "2", "b": ""}
    for body, media_type in (
        (b"{", "application/json"),
        (b"\xff", "application/json"),
        (b"NaN", "application/json"),
        (b"1" + b"0" * 400, "application/json"),
        (b"[" * 201 + b"]" * 201, "application/json"),
        (b"a=%ff", "application/x-www-form-urlencoded"),
        (b"&".join([b"a=1"] * 1_001), "application/x-www-form-urlencoded"),
    ):
        with pytest.raises(UnreadableBodyError) as refused:
            read(body, media_type)
        assert not refused.value.is_media_type
    for media_type in ("", "text/plain", "multipart/form-data"):
        with pytest.raises(UnreadableBodyError) as refused:
            read(b"{}", media_type)
        assert refused.value.is_media_type


def test_deliveries_have_the_id_and_event_of_their_sender():
    def read(preset: Preset, delivery_id: str | None, body: bytes = b'{"id": "evt_1", "type": "paid"}', **more: str):
        headers = {"content-type": "application/json", **{name.replace("_", "-"): text for name, text in more.items()}}
        found = read_delivery(preset, headers, body, delivery_id)
        return found.delivery_id, found.event

    assert read(Preset.GITHUB, "72d3162e", x_github_event="push") == ("72d3162e", "push")
    assert read(Preset.STANDARD_WEBHOOKS, "msg_1") == ("msg_1", "paid")
    assert read(Preset.TIMESTAMPED, None) == ("evt_1", "paid")
    by_body, _ = read(Preset.TIMESTAMPED, None, b"{}")
    assert by_body == read(Preset.GITHUB, None, b"{}")[0] == hashlib.sha256(b"{}").hexdigest()
    assert read(Preset.BEARER, None) == (None, "paid")
    with pytest.raises(UnreadableBodyError):
        read(Preset.BEARER, "x" * 201)


def test_events_are_filtered():
    assert is_wanted(WebhookSettings(Preset.GITHUB), "push")
    assert not is_wanted(WebhookSettings(Preset.GITHUB), "ping")
    assert is_wanted(WebhookSettings(Preset.GITHUB, ("ping",)), "ping")
    assert is_wanted(WebhookSettings(Preset.BEARER), None)
    assert not is_wanted(WebhookSettings(Preset.BEARER, ("paid",)), None)


def test_settings_and_secrets_are_checked():
    assert not check_webhook(WebhookSettings(Preset.GITHUB, ("push",)))
    assert [issue.rule for issue in check_webhook(WebhookSettings(Preset.GITHUB, ("", "x" * 101, "a\nb")))] == [
        "out_of_range"
    ] * 3
    assert [issue.rule for issue in check_webhook(WebhookSettings(Preset.GITHUB, ("a",) * 51))] == ["too_many"]
    for preset in Preset:
        assert not check_secret(preset, new_secret(preset))
    for preset, secret in (
        (Preset.GITHUB, "short"),
        (Preset.GITHUB, "x" * 201),
        (Preset.GITHUB, "sixteen chars é…"),
        (Preset.STANDARD_WEBHOOKS, "whsec_not base64 at all"),
    ):
        assert check_secret(preset, secret), secret


@pytest.mark.parametrize("preset", Preset)
def test_what_is_signed_is_verified_and_nothing_else(preset: Preset):
    secret, body, now = new_secret(preset), b'{"id": "one", "type": "push"}', datetime.now(UTC)
    headers = sign(preset, secret, body, event="push", delivery_id="one", now=now)
    found = verify(preset, [secret], headers, body, now)
    delivery = read_delivery(preset, {**headers, "content-type": "application/json"}, body, found)
    assert (delivery.event, delivery.delivery_id) == ("push", "one")
    with pytest.raises(UnverifiedError):
        verify(preset, [new_secret(preset)], headers, body, now)
