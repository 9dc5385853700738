"""What each thing that can go wrong at GitHub becomes, and that no token is ever told."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from packline import PackError
from tests.support.github_server import READ_ONLY_TOKEN, TOKEN
from tests.support.pack_harness import Harness, load_module, load_pack
from tests.support.scripted_http import cut_off, not_json, other_json, reset, silence, status, wrong_length

if TYPE_CHECKING:
    from packline import Pack
    from runner.failures import Failure
    from tests.support.github_server import GitHubDouble, Repository

client = load_module("github/_client.py")
PACKS: list[tuple[Pack, dict[str, Any]]] = [
    (load_pack("github/get_issue.py"), {"repo": "octo/lights", "issue_number": 1}),
    (load_pack("github/list_issues.py"), {"repo": "octo/lights"}),
    (load_pack("github/search.py"), {"query": "lamp"}),
    (load_pack("github/create_issue.py"), {"repo": "octo/lights", "title": "Lamp"}),
    (load_pack("github/create_pr.py"), {"repo": "octo/lights", "title": "Lamp", "head": "fix-lamp"}),
    (load_pack("github/post_comment.py"), {"repo": "octo/lights", "issue_number": 1, "body": "x"}),
]
SECONDARY = {
    "message": "You have exceeded a secondary rate limit.",
    "documentation_url": "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
    "#about-secondary-rate-limits",
}
each_pack = pytest.mark.parametrize(("pack", "input"), PACKS, ids=[pack.name for pack, _ in PACKS])
create_issue, ISSUE = PACKS[3]


async def failure(harness: Harness, pack: Pack, input: dict[str, Any]) -> Failure:
    with pytest.raises(PackError) as caught:
        await harness.call(pack, input)
    told = json.dumps(asdict(caught.value.failure)) + str(caught.value) + json.dumps(harness.progress)
    assert TOKEN not in told
    found = caught.value.failure
    if found.code == "credential_invalid":
        assert isinstance(found.detail, dict)
        assert found.detail["credential"] == "github"
    return found


@pytest.fixture(autouse=True)
def _issue(github: GitHubDouble, lights: Repository) -> None:
    github.add_issue(lights, "Lamp flickers")


@each_pack
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (status(429, retry_after=7), "rate_limited"),
        (status(429), "rate_limited"),
        (status(403, SECONDARY), "rate_limited"),
        (status(403, {"message": "Forbidden"}), "credential_invalid"),
        (status(403, {"message": "Forbidden", "documentation_url": "http://["}), "credential_invalid"),
        (status(307, location="http://["), "upstream_unavailable"),
        (status(401, {"message": "Bad credentials"}), "credential_invalid"),
        (status(404, {"message": "Not Found"}), "not_found"),
        (status(422, {"message": "Validation Failed"}), "invalid_input"),
        (status(409, {"message": "Conflict"}), "schema_mismatch"),
        (status(500), "upstream_unavailable"),
        (status(502, "<html>"), "upstream_unavailable"),
        (status(504), "timeout"),
        (cut_off, "upstream_unavailable"),
        (reset, "upstream_unavailable"),
        (wrong_length, "upstream_unavailable"),
        (not_json, "upstream_unavailable"),
        (other_json, "upstream_unavailable"),
    ],
    ids=range(18),
)
async def test_each_fault_of_each_pack(
    harness: Harness, github: GitHubDouble, pack: Pack, input: dict[str, Any], fault: Any, code: str
) -> None:
    github.faults.add(fault, times=10)
    found = await failure(harness, pack, input)
    assert found.code == code
    assert found.retryable == (code in {"rate_limited", "upstream_unavailable", "timeout"})
    assert github.writes == 0


@each_pack
async def test_silence(
    harness: Harness, github: GitHubDouble, pack: Pack, input: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "TIMEOUT_SECONDS", 0.1)
    github.faults.add(silence)
    assert (await failure(harness, pack, input)).code == "timeout"


@each_pack
async def test_nobody_there(tmp_path: Any, pack: Pack, input: dict[str, Any]) -> None:
    harness = Harness(tmp_path, services={"github": "http://127.0.0.1:1"}, credentials={"github": {"token": TOKEN}})
    assert (await failure(harness, pack, input)).code == "upstream_unavailable"


# ------------------------------------------------------------------------------------------------------- limits


async def test_the_wait_asked_for_is_passed_on(harness: Harness, github: GitHubDouble) -> None:
    github.faults.add(status(429, retry_after=7), method="POST")
    assert (await failure(harness, create_issue, ISSUE)).retry_after_seconds == 7
    github.faults.add(status(403, {"message": "slow down"}, retry_after=42), method="POST")
    found = await failure(harness, create_issue, ISSUE)
    assert (found.code, found.retry_after_seconds) == ("rate_limited", 42)
    github.faults.add(status(403, SECONDARY), method="POST")
    assert (await failure(harness, create_issue, ISSUE)).retry_after_seconds == 60


async def test_the_primary_limit_waits_until_it_is_reset_by_the_servers_clock(
    harness: Harness, github: GitHubDouble
) -> None:
    github.remaining = 1
    found = await failure(harness, create_issue, ISSUE)
    assert (found.code, found.retry_after_seconds) == ("rate_limited", 90)
    harness.credentials.clear()
    found = await failure(harness, *PACKS[0])
    assert "60 requests an hour" in (found.hint or "")


async def test_a_text_about_limits_is_not_a_limit(harness: Harness, github: GitHubDouble) -> None:
    github.faults.add(status(403, {"message": "secondary rate limit is a funny phrase"}))
    assert (await failure(harness, create_issue, ISSUE)).code == "credential_invalid"


# -------------------------------------------------------------------------------------------------- credentials


@pytest.mark.parametrize(("pack", "input"), PACKS[3:], ids=[pack.name for pack, _ in PACKS[3:]])
async def test_writing_needs_a_credential(
    harness: Harness, github: GitHubDouble, pack: Pack, input: dict[str, Any]
) -> None:
    harness.credentials.clear()
    assert (await failure(harness, pack, input)).code == "credential_invalid"
    assert github.http.requests == []


async def test_a_revoked_token(harness: Harness) -> None:
    harness.credentials["github"]["token"] = "ghp_revoked"
    found = await failure(harness, *PACKS[0])
    assert found.code == "credential_invalid"
    assert "Bad credentials" in found.message
    assert "ghp_revoked" not in json.dumps(asdict(found))


async def test_a_token_that_may_only_read_is_told_what_it_needs(harness: Harness, github: GitHubDouble) -> None:
    harness.credentials["github"]["token"] = READ_ONLY_TOKEN
    found = await failure(harness, create_issue, ISSUE)
    assert found.code == "credential_invalid"
    assert "issues=write" in (found.hint or "")
    assert github.writes == 0


@pytest.mark.parametrize("token", ["", "  ", "a b", "x\r\nHost: evil", "t\u00f6ken", "x" * 1001])
async def test_what_cannot_be_a_token_is_not_sent(harness: Harness, github: GitHubDouble, token: str) -> None:
    harness.credentials["github"]["token"] = token
    found = await failure(harness, *PACKS[0])
    assert found.code == "credential_invalid"
    assert not token.strip() or token not in json.dumps(asdict(found))
    assert github.http.requests == []


# --------------------------------------------------------------------------------------------------- validation


async def test_githubs_reasons_are_told_with_our_field(harness: Harness, github: GitHubDouble) -> None:
    errors = [{"resource": "Issue", "field": "labels", "code": "invalid"}, "and another"]
    github.faults.add(status(422, {"message": "Validation Failed", "errors": errors}), method="POST")
    found = await failure(harness, create_issue, ISSUE)
    assert (found.code, found.field) == ("invalid_input", "labels")
    assert "`labels` is invalid; and another" in found.message


async def test_switched_off_issues(harness: Harness, lights: Repository) -> None:
    lights.has_issues = False
    found = await failure(harness, create_issue, ISSUE)
    assert found.code == "not_found"
    assert "disabled" in found.message
