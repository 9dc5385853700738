from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest

from runner.triggers.samples import USUAL_EVENTS, sample_payload
from runner.triggers.webhooks import Preset, new_secret, read_delivery, sign

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


@pytest.mark.parametrize("preset", Preset)
@pytest.mark.parametrize("event", [None, "pull_request", "issues", "issue_comment", "release", "ping", "star", "x.y"])
def test_a_sample_is_read_as_its_senders_deliveries_are(preset: Preset, event: str | None) -> None:
    event = event or USUAL_EVENTS[preset]
    body = orjson.dumps(sample_payload(preset, event, delivery_id="test-1", now=NOW))
    headers = sign(preset, new_secret(preset), body, event=event, delivery_id="test-1", now=NOW)
    read = read_delivery(preset, {"content-type": "application/json", **headers}, body, "test-1")
    assert (read.event, read.delivery_id) == (event, "test-1")


@pytest.mark.parametrize(
    ("event", "path", "value"),
    [
        ("push", ("head_commit", "message"), "Correct the spelling in the README file"),
        ("push", ("repository", "full_name"), "octocat/hello-world"),
        ("pull_request", ("pull_request", "head", "ref"), "changes"),
        ("issues", ("action",), "opened"),
        ("issue_comment", ("comment", "body"), "You are totally right!"),
        ("release", ("release", "tag_name"), "v1.0.0"),
        ("star", ("sender", "login"), "octocat"),
    ],
)
def test_githubs_samples_have_what_pipelines_read(event: str, path: tuple[str, ...], value: str) -> None:
    found = sample_payload(Preset.GITHUB, event, delivery_id="test-1", now=NOW)
    for part in path:
        assert isinstance(found, dict)
        found = found[part]
    assert found == value


def test_stripes_sample_is_an_event_object() -> None:
    found = sample_payload(Preset.TIMESTAMPED, "customer.subscription.created", delivery_id="evt", now=NOW)
    assert isinstance(found, dict)
    assert (found["object"], found["type"]) == ("event", "customer.subscription.created")
    assert found["data"]["object"]["object"] == "subscription"  # type: ignore[index,call-overload]
