"""`github.create_issue`, `create_pr`, `post_comment`: once however often, and hidden marks that stay hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt

from packline import PackError
from tests.support.pack_harness import HarnessContext, load_module, load_pack
from tests.support.scripted_http import cut_off, reset, status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from packline import Pack
    from tests.support.github_server import GitHubDouble, Repository
    from tests.support.pack_harness import Harness

create_issue = load_pack("github/create_issue.py")
create_pr = load_pack("github/create_pr.py")
post_comment = load_pack("github/post_comment.py")
marks = load_module("github/_marks.py")

ISSUE = {"repo": "octo/lights", "title": "Lamp flickers", "body": "At night.", "labels": ["bug"]}
PULL = {"repo": "octo/lights", "title": "Fix the lamp", "head": "fix-lamp", "body": "Closes #1."}
COMMENT = {"repo": "octo/lights", "issue_number": 1, "body": "Seen it, too."}

each_write = pytest.mark.parametrize(
    ("pack", "input"), [(create_issue, ISSUE), (create_pr, PULL), (post_comment, COMMENT)]
)


@pytest.fixture(autouse=True)
def _an_issue_to_comment_on(github: GitHubDouble, lights: Repository) -> None:
    github.add_issue(lights, "First", created_at="2020-01-01T00:00:00Z")


async def failure(harness: Harness, pack: Pack, input: dict[str, Any]) -> Any:
    with pytest.raises(PackError) as caught:
        await harness.call(pack, input)
    found = caught.value.failure
    if found.code == "credential_invalid":
        assert isinstance(found.detail, dict)
        assert found.detail["credential"] == "github"
    return found


def another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HarnessContext, "run_id", "run_01J00000000000000000000001")


# ------------------------------------------------------------------------------------------------- what is made


async def test_an_issue_is_opened(harness: Harness, lights: Repository) -> None:
    output = await harness.call(create_issue, {**ISSUE, "assignees": ["mona", "nobody"]})
    assert output["created"]
    assert output["number"] == 2
    assert output["url"] == "https://github.com/octo/lights/issues/2"
    assert (output["title"], output["state"], output["labels"]) == ("Lamp flickers", "open", ["bug"])
    assert (output["author"], output["body"]) == ("packline-bot", "At night.")
    stored = lights.issues[2]["body"]
    assert stored.startswith("At night.\n\n<!-- packline:")
    assert harness.warnings == ["GitHub left out the assignees nobody; the account may not set them."]


async def test_a_pull_request_is_opened_into_the_default_branch(harness: Harness, lights: Repository) -> None:
    output = await harness.call(create_pr, {**PULL, "draft": True})
    assert output["created"]
    assert (output["head"], output["base"], output["draft"]) == ("fix-lamp", "main", True)
    assert output["pr_url"] == output["url"] == "https://github.com/octo/lights/pull/2"
    assert output["body"] == "Closes #1."


async def test_a_comment_is_written(harness: Harness, lights: Repository) -> None:
    output = await harness.call(post_comment, COMMENT)
    assert output["created"]
    assert output["body"] == "Seen it, too."
    assert "#issuecomment-" in output["url"]
    assert len(lights.comments[1]) == 1


# ------------------------------------------------------------------------------------------------------- repeats


@each_write
async def test_a_repeat_finds_its_own(
    harness: Harness, github: GitHubDouble, pack: Pack, input: dict[str, Any]
) -> None:
    first = await harness.call(pack, input)
    again = await harness.call(pack, input)
    assert github.writes == 1
    assert again == {**first, "created": False}
    assert harness.warnings


@each_write
@pytest.mark.parametrize("lost", [cut_off, reset, status(502)])
async def test_an_answer_that_was_lost_does_not_double_it(
    harness: Harness, github: GitHubDouble, pack: Pack, input: dict[str, Any], lost: Any
) -> None:
    github.faults.add(lost, method="POST", after=True)
    found = await failure(harness, pack, input)
    assert found.code == "upstream_unavailable"
    assert found.retryable
    output = await harness.call(pack, input)
    assert not output["created"]
    assert github.writes == 1


async def test_another_run_opens_another_issue(
    harness: Harness, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.call(create_issue, ISSUE)
    another_run(monkeypatch)
    output = await harness.call(create_issue, ISSUE)
    assert output["created"]
    assert github.writes == 2


async def test_its_own_is_found_among_many_newer_ones(
    harness: Harness, github: GitHubDouble, lights: Repository
) -> None:
    first = await harness.call(create_issue, ISSUE)
    comment = await harness.call(post_comment, COMMENT)
    for number in range(250):
        github.add_issue(lights, f"Other {number}")
        github.add_comment(lights, 1, f"Other {number}")
    assert (await harness.call(create_issue, ISSUE))["number"] == first["number"]
    assert (await harness.call(post_comment, COMMENT))["id"] == comment["id"]
    assert github.writes == 2


async def test_a_closed_issue_is_its_own_still(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    await harness.call(create_issue, ISSUE)
    lights.issues[2]["state"] = "closed"
    output = await harness.call(create_issue, ISSUE)
    assert (output["state"], output["created"]) == ("closed", False)


async def test_the_search_ends_where_the_run_began(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    for number in range(350):
        github.add_issue(lights, f"Old {number}", created_at="2019-01-01T00:00:00Z")
    await harness.call(create_issue, ISSUE)
    lists = [request for request in github.http.requests if request.method == "GET"]
    assert len(lists) == 1


async def test_somebody_elses_copy_of_the_mark_does_not_hide_the_first(
    harness: Harness, github: GitHubDouble, lights: Repository
) -> None:
    first = await harness.call(create_issue, ISSUE)
    github.add_issue(lights, "Copied", lights.issues[first["number"]]["body"])
    assert (await harness.call(create_issue, ISSUE))["number"] == first["number"]


async def test_more_than_can_be_looked_through_is_not_guessed_at(harness: Harness) -> None:
    async def newer() -> AsyncIterator[dict[str, Any]]:
        for _ in range(1000):
            yield {"body": None, "created_at": "2099-01-01T00:00:00Z"}

    first, second = harness.context(attempt_number=1), harness.context(attempt_number=2)
    assert await marks.find_own(first, newer(), max_items=1000, newest_first=True) is None
    with pytest.raises(PackError) as caught:
        await marks.find_own(second, newer(), max_items=1000, newest_first=True)
    assert caught.value.failure.code == "outcome_unknown"


# ------------------------------------------------------------------------------------------- pull requests by branch


async def test_an_open_pull_request_for_the_branches_is_returned(
    harness: Harness, github: GitHubDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await harness.call(create_pr, PULL)
    another_run(monkeypatch)
    again = await harness.call(create_pr, {**PULL, "title": "Another title"})
    assert (again["number"], again["title"], again["created"]) == (first["number"], "Fix the lamp", False)
    assert "was there already" in harness.warnings[-1]


async def test_a_pull_request_of_its_own_is_found_merged(
    harness: Harness, lights: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.call(create_pr, PULL)
    lights.issues[2]["state"] = "closed"
    assert (await harness.call(create_pr, PULL))["number"] == 2
    another_run(monkeypatch)
    assert (await harness.call(create_pr, PULL))["number"] == 3


async def test_one_that_was_opened_a_moment_ago_is_returned(
    harness: Harness, github: GitHubDouble, lights: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.call(create_pr, PULL)
    another_run(monkeypatch)
    github.faults.add(status(200, []), method="GET", path="/pulls")  # not listed yet
    output = await harness.call(create_pr, PULL)
    assert (output["number"], output["created"]) == (2, False)
    assert github.writes == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"head": "no-such-branch"}, "head"),
        ({"base": "no-such-branch"}, "base"),
        ({"head": "main"}, "head"),
        ({"head": "octo:main"}, "head"),
    ],
)
async def test_branches_that_cannot_be_merged(harness: Harness, change: dict[str, Any], field: str) -> None:
    found = await failure(harness, create_pr, {**PULL, **change})
    assert (found.code, found.field) == ("invalid_input", field)


@pytest.mark.parametrize(
    "head", ["", "a b", "a..b", "-x", "a/", "/a", "a.lock", "a~1", "a^", "a:b:c", "a\\b", "a\nb", "a@{1}", "@", "a//b"]
)
async def test_what_cannot_be_a_branch_is_refused(harness: Harness, github: GitHubDouble, head: str) -> None:
    assert (await failure(harness, create_pr, {**PULL, "head": head})).field == "head"
    assert github.http.requests == []


# ------------------------------------------------------------------------------------------------ hostile contents


@pytest.mark.parametrize("title", ["a\nb", "a\r\nX-Evil: 1", "a\x00b", "   ", "a\u2028b"])
async def test_a_title_is_one_line(harness: Harness, github: GitHubDouble, title: str) -> None:
    found = await failure(harness, create_issue, {**ISSUE, "title": title})
    assert (found.code, found.field) == ("invalid_input", "title")
    assert github.http.requests == []


@pytest.mark.parametrize(
    "body",
    [
        "Plain",
        "```\nunclosed code",
        "<!-- unclosed comment",
        "<div>\nhtml",
        "- list\n  - nested",
        "    indented code",
        "<script>alert(1)</script>",
        "> quote",
        "| a | b |\n|--|--|\n| 1 | 2 |",
        "",
    ],
)
async def test_the_mark_is_never_seen(harness: Harness, lights: Repository, body: str) -> None:
    output = await harness.call(create_issue, {**ISSUE, "body": body})
    assert output["body"] == body
    stored = lights.issues[2]["body"]
    tokens = MarkdownIt("commonmark").parse(stored)
    mark = stored[stored.index("<!-- packline:") :].split("-->")[0] + "-->"
    assert [token.type for token in tokens if mark in token.content] == ["html_block"]
    assert not (await harness.call(create_issue, {**ISSUE, "body": body}))["created"]


async def test_a_blank_comment_is_refused(harness: Harness, github: GitHubDouble) -> None:
    assert (await failure(harness, post_comment, {**COMMENT, "body": " \n "})).field == "body"
    assert github.http.requests == []


async def test_the_longest_text_fits_with_its_mark(harness: Harness, lights: Repository) -> None:
    await harness.call(create_issue, {**ISSUE, "body": "x" * 65_000})
    assert len(lights.issues[2]["body"]) <= 65_536
    assert (await failure(harness, create_issue, {**ISSUE, "body": "x" * 65_001})).field == "body"
