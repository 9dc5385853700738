"""`blog.publish` on a Ghost blog: what arrives there, once however often, and what goes wrong."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from packline import PackError
from tests.support.ghost_server import ADMIN_API_KEY, SECRET, GhostDouble
from tests.support.pack_harness import Harness, HarnessContext, load_module, load_pack
from tests.support.scripted_http import (
    cut_off,
    not_json,
    other_json,
    reset,
    serving,
    silence,
    status,
    wrong_length,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.failures import Failure

publish = load_pack("blog/publish.py")
ghost_module = load_module("blog/_ghost.py")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
POST = {"title": "Lights at sea", "body": "Fire, *then* glass, and [more](https://example.org).", "target": "ghost"}


@pytest.fixture
async def ghost() -> AsyncIterator[GhostDouble]:
    async with serving(GhostDouble()) as service:
        yield service


@pytest.fixture
def harness(tmp_path: Path, ghost: GhostDouble) -> Harness:
    return Harness(tmp_path, credentials={"ghost": {"url": ghost.http.url(""), "admin_api_key": ADMIN_API_KEY}})


async def failure(harness: Harness, **change: Any) -> Failure:
    with pytest.raises(PackError) as caught:
        await harness.call(publish, {**POST, **change})
    told = json.dumps(asdict(caught.value.failure)) + json.dumps(harness.progress) + repr(harness.warnings)
    assert SECRET not in told
    assert "eyJ" not in told  # how a token begins
    found = caught.value.failure
    if found.code == "credential_invalid":
        assert isinstance(found.detail, dict)
        assert found.detail["credential"] == "ghost"
    return found


def only(ghost: GhostDouble) -> dict[str, Any]:
    (post,) = ghost.posts.values()
    return post


# ---------------------------------------------------------------------------------------------------- what arrives


async def test_a_draft_and_a_file_of_it(harness: Harness, ghost: GhostDouble) -> None:
    output = await harness.call(
        publish, {**POST, "tags": ["optics", "sea"], "excerpt": "Short.", "author": "Ada <Example>"}
    )
    post = only(ghost)
    assert (post["title"], post["status"], post["slug"]) == ("Lights at sea", "draft", "lights-at-sea")
    assert post["html"].startswith("<p><em>By Ada &lt;Example&gt;</em></p>\n<p>Fire, <em>then</em> glass")
    assert '<a href="https://example.org">more</a>' in post["html"]
    assert [tag["name"] for tag in post["tags"]] == ["optics", "sea"]
    assert post["custom_excerpt"] == "Short."
    assert output["target"] == "ghost"
    assert (output["status"], output["post_id"], output["created"]) == ("draft", post["id"], True)
    assert output["url"] == post["url"]
    assert "/p/" in output["url"]
    assert output["artifact"]["name"] == "lights-at-sea.md"
    assert harness.warnings == []


async def test_a_public_post_is_opened_at_its_address(harness: Harness, ghost: GhostDouble) -> None:
    output = await harness.call(publish, {**POST, "status": "published"})
    assert output["status"] == "published"
    assert output["url"] == ghost.http.url("/lights-at-sea/")
    assert ghost.http.requests[-1].path == "/lights-at-sea/"
    assert "authorization" not in ghost.http.requests[-1].headers
    assert harness.warnings == []


async def test_a_private_site_is_a_warning(harness: Harness, ghost: GhostDouble) -> None:
    ghost.is_private = True
    ghost.faults.add(status(403), path="^/lights")
    await harness.call(publish, {**POST, "status": "published"})
    assert "HTTP 403" in harness.warnings[0]


async def test_a_picture_goes_above_the_post(harness: Harness, ghost: GhostDouble) -> None:
    ref = harness.add_artifact("../my lamp .png", PNG, "image/png")
    await harness.call(publish, {**POST, "feature_image": ref.artifact_id})
    ((name, content),) = ghost.images.items()
    assert (name, content) == ("my-lamp.png", PNG)
    assert only(ghost)["feature_image"].endswith("/my-lamp.png")


@pytest.mark.parametrize("content", [b"<svg onload='alert(1)'/>", b"", b"GIF", PNG + bytes(6 * 1024 * 1024)])
async def test_what_is_not_a_picture_is_not_sent(harness: Harness, ghost: GhostDouble, content: bytes) -> None:
    ref = harness.add_artifact("lamp.png", content, "image/png")
    found = await failure(harness, feature_image=ref.artifact_id)
    assert (found.code, found.field) == ("invalid_input", "feature_image")
    assert ghost.http.requests == []


async def test_a_staff_member_is_the_author(harness: Harness, ghost: GhostDouble) -> None:
    await harness.call(publish, {**POST, "author": "ada@example.org"})
    assert only(ghost)["authors"] == [{"email": "ada@example.org"}]
    assert harness.warnings == []
    assert "By ada" not in only(ghost)["html"]


async def test_an_unknown_author_is_a_warning(harness: Harness, ghost: GhostDouble) -> None:
    await harness.call(publish, {**POST, "author": "eve@example.org"})
    assert "chose another author" in harness.warnings[0]


async def test_the_slug_is_the_one_ghost_gives(harness: Harness, ghost: GhostDouble) -> None:
    ghost.add({"title": "Lights at sea"}, "<p>Older</p>")
    output = await harness.call(publish, POST)
    assert output["slug"] == "lights-at-sea-2"


async def test_markdown_becomes_html_that_cannot_act(harness: Harness, ghost: GhostDouble) -> None:
    body = (
        "# Lights at Sea\n\nA `<b>` and a List<String> <script>alert(1)</script>\n\n"
        "[x](javascript:alert(1)) ![p](https://example.org/p.png)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n~~old~~"
    )
    await harness.call(publish, {**POST, "body": body})
    html = only(ghost)["html"]
    assert "<h1>" not in html  # the title is not said twice
    assert "List&lt;String&gt;" in html
    assert "<script" not in html
    assert 'href="javascript' not in html
    assert '<img src="https://example.org/p.png"' in html
    assert "<td>1</td>" in html
    assert "<s>old</s>" in html


async def test_html_is_cleaned(harness: Harness, ghost: GhostDouble) -> None:
    body = '<h1>Lights at sea</h1><p onclick="x()">Fire</p><script>alert(1)</script><iframe src="//e"></iframe>'
    await harness.call(publish, {**POST, "format": "html", "body": body})
    assert only(ghost)["html"] == "<p>Fire</p>"
    assert "<script>" in harness.warnings[0]


async def test_text_that_ghost_drops_is_told(
    harness: Harness, ghost: GhostDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.ghost_server._through_the_editor", lambda html: "<p>Fire</p>")
    await harness.call(publish, POST)
    assert "kept 1 of 5 words" in harness.warnings[0]
    monkeypatch.setattr("tests.support.ghost_server._through_the_editor", lambda html: "")
    monkeypatch.setattr(HarnessContext, "run_id", "run_01J00000000000000000000001")
    assert (await failure(harness)).code == "invalid_output"


async def test_what_ghost_cannot_hold(harness: Harness, ghost: GhostDouble) -> None:
    found = await failure(harness, title="x" * 256)
    assert (found.code, found.field) == ("invalid_input", "title")
    await harness.call(publish, {**POST, "excerpt": "word " * 100})
    assert len(only(ghost)["custom_excerpt"]) <= 300
    assert "cut" in harness.warnings[0]


async def test_a_file_needs_no_blog(harness: Harness, ghost: GhostDouble) -> None:
    harness.credentials.clear()
    output = await harness.call(publish, {**POST, "target": "artifact"})
    assert (output["status"], output["url"], output["post_id"]) == ("saved", None, None)
    assert ghost.http.requests == []
    await harness.call(publish, {**POST, "target": "artifact", "status": "published"})
    assert "for Ghost" in harness.warnings[0]


# -------------------------------------------------------------------------------------------------------- repeats


@pytest.mark.parametrize("state", ["draft", "published"])
async def test_a_repeat_finds_its_own(harness: Harness, ghost: GhostDouble, state: str) -> None:
    first = await harness.call(publish, {**POST, "status": state})
    again = await harness.call(publish, {**POST, "status": state})
    assert len(ghost.posts) == 1
    assert again["post_id"] == first["post_id"]
    assert not again["created"]
    assert "earlier attempt" in harness.warnings[0]


@pytest.mark.parametrize("lost", [cut_off, reset, status(502), not_json])
async def test_an_answer_that_was_lost_does_not_double_it(harness: Harness, ghost: GhostDouble, lost: Any) -> None:
    ghost.faults.add(lost, method="POST", after=True)
    found = await failure(harness)
    assert found.code == "upstream_unavailable"
    assert found.retryable
    assert not (await harness.call(publish, POST))["created"]
    assert len(ghost.posts) == 1


async def test_another_run_makes_another_post(
    harness: Harness, ghost: GhostDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.call(publish, POST)
    monkeypatch.setattr(HarnessContext, "run_id", "run_01J00000000000000000000001")
    assert (await harness.call(publish, POST))["slug"] == "lights-at-sea-2"


async def test_its_own_is_found_among_many(harness: Harness, ghost: GhostDouble) -> None:
    for number in range(120):
        ghost.add({"title": f"Other {number}"}, "<p>x</p>")
    await harness.call(publish, POST)
    assert not (await harness.call(publish, POST))["created"]
    assert len(ghost.posts) == 121


async def test_a_post_that_was_published_meanwhile_is_left_so(harness: Harness, ghost: GhostDouble) -> None:
    await harness.call(publish, POST)
    only(ghost)["status"] = "published"
    only(ghost)["url"] = ghost.http.url("/lights-at-sea/")
    output = await harness.call(publish, POST)
    assert (output["status"], output["created"]) == ("published", False)


async def test_too_many_posts_to_look_through_is_not_guessed_at(
    harness: Harness, ghost: GhostDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ghost_module, "MAX_PAGES", 1)
    for number in range(60):
        ghost.add({"title": f"Other {number}"}, "<p>x</p>")
    context = harness.context(attempt_number=2)
    with pytest.raises(PackError) as caught:
        await (await ghost_module.open_ghost(context)).find_own()
    assert caught.value.failure.code == "outcome_unknown"
    await context.http.aclose()


# --------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (status(429, retry_after=9), "rate_limited"),
        (status(429), "rate_limited"),
        (status(401), "credential_invalid"),
        (status(403), "credential_invalid"),
        (status(403, {"errors": [{"message": "Limit", "type": "HostLimitError"}]}), "quota_exceeded"),
        (status(404), "not_found"),
        (status(409), "schema_mismatch"),
        (status(413), "resource_exhausted"),
        (status(422), "invalid_input"),
        (status(500), "upstream_unavailable"),
        (status(503, "<h1>Maintenance"), "upstream_unavailable"),
        (status(504), "timeout"),
        (status(301, location="https://www.blog.example/"), "credential_invalid"),
        (status(301, location="http://["), "credential_invalid"),
        (cut_off, "upstream_unavailable"),
        (reset, "upstream_unavailable"),
        (wrong_length, "upstream_unavailable"),
        (not_json, "upstream_unavailable"),
        (other_json, "upstream_unavailable"),
    ],
    ids=range(19),
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_each_fault(harness: Harness, ghost: GhostDouble, fault: Any, code: str, method: str) -> None:
    ghost.faults.add(fault, method=method)
    found = await failure(harness)
    assert found.code == code
    assert found.retryable == (code in {"rate_limited", "upstream_unavailable", "timeout"})
    assert ghost.posts == {}


async def test_the_wait_asked_for_is_passed_on(harness: Harness, ghost: GhostDouble) -> None:
    ghost.faults.add(status(429, retry_after=9))
    assert (await failure(harness)).retry_after_seconds == 9


async def test_silence(harness: Harness, ghost: GhostDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ghost_module, "TIMEOUT_SECONDS", 0.1)
    ghost.faults.add(silence)
    assert (await failure(harness)).code == "timeout"


async def test_ghosts_reason_is_told_with_our_field(harness: Harness, ghost: GhostDouble) -> None:
    error = {"message": "Validation error", "context": "Too long.", "type": "ValidationError", "property": "title"}
    ghost.faults.add(status(422, {"errors": [error]}), method="POST")
    found = await failure(harness)
    assert (found.code, found.field) == ("invalid_input", "title")
    assert "Too long." in found.message


async def test_a_plan_that_allows_no_more(harness: Harness, ghost: GhostDouble) -> None:
    ghost.posts_limit = 0
    assert (await failure(harness)).code == "quota_exceeded"


# ----------------------------------------------------------------------------------------------------- credentials


async def test_no_credential(harness: Harness, ghost: GhostDouble) -> None:
    harness.credentials.clear()
    assert (await failure(harness)).code == "credential_invalid"


async def test_another_blogs_key_is_refused_by_ghost(harness: Harness, ghost: GhostDouble) -> None:
    for key in (ADMIN_API_KEY.replace("6489", "6490"), ADMIN_API_KEY[:-4] + "0000"):
        harness.credentials["ghost"]["admin_api_key"] = key
        found = await failure(harness)
        assert found.code == "credential_invalid"
        assert key not in json.dumps(asdict(found))
    assert ghost.posts == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("admin_api_key", "abc"),
        ("admin_api_key", ADMIN_API_KEY.replace(":", "")),
        ("admin_api_key", ADMIN_API_KEY + "\r\nX: y"),
        ("url", "blog.example"),
        ("url", "ftp://blog.example"),
        ("url", "https://a:b@blog.example"),
        ("url", "https://blog.example/?x=1"),
        ("url", "http://[::1"),
        ("url", ""),
    ],
)
async def test_an_incomplete_credential_is_not_tried(
    harness: Harness, ghost: GhostDouble, name: str, value: str
) -> None:
    harness.credentials["ghost"][name] = value
    found = await failure(harness)
    assert found.code == "credential_invalid"
    assert f"`{name}`" in found.message
    assert ghost.http.requests == []


async def test_the_address_may_be_that_of_the_editor(harness: Harness, ghost: GhostDouble) -> None:
    harness.credentials["ghost"]["url"] += "/ghost/"
    assert (await harness.call(publish, POST))["created"]


async def test_the_address_may_be_pasted(harness: Harness, ghost: GhostDouble) -> None:
    pasted = harness.credentials["ghost"]["url"].replace("127.0.0.1", "\uff11\uff12\uff17.0.0.1")
    harness.credentials["ghost"]["url"] = f" <{pasted}/x/../ghost/>\n"
    assert (await harness.call(publish, POST))["created"]


async def test_a_private_address_needs_the_operator(harness: Harness, ghost: GhostDouble) -> None:
    harness.allow = ""
    found = await failure(harness)
    assert found.code == "policy_denied"
    assert "PACKLINE_EGRESS_ALLOW" in (found.hint or "")
