"""`github.get_issue`, `github.list_issues`, `github.search` against GitHub's protocol on loopback."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packline import PackError
from tests.support.github_server import TOKEN
from tests.support.pack_harness import load_module, load_pack
from tests.support.scripted_http import status

if TYPE_CHECKING:
    from packline import Pack
    from tests.support.github_server import GitHubDouble, Repository
    from tests.support.pack_harness import Harness

get_issue = load_pack("github/get_issue.py")
list_issues = load_pack("github/list_issues.py")
search = load_pack("github/search.py")


async def failure(harness: Harness, pack: Pack, **input: Any) -> Any:
    with pytest.raises(PackError) as caught:
        await harness.call(pack, input)
    found = caught.value.failure
    if found.code == "credential_invalid":
        assert isinstance(found.detail, dict)
        assert found.detail["credential"] == "github"
    return found


def asked(github: GitHubDouble) -> list[dict[str, str]]:
    return [{k: v[0] for k, v in parse_qs(urlsplit(r.path).query).items()} for r in github.http.requests]


# ---------------------------------------------------------------------------------------------------- get_issue


async def test_an_issue_with_its_comments(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    github.add_issue(
        lights, "Lamp flickers", "It *flickers*.", labels=[{"name": "bug"}, "old"], assignees=[{"login": "hubot"}]
    )
    for number in range(3):
        github.add_comment(lights, 1, f"Comment {number}")

    output = await harness.call(get_issue, {"repo": "octo/lights", "issue_number": 1, "max_comments": 2})

    assert output["title"] == "Lamp flickers"
    assert output["body"] == "It *flickers*."
    assert output["labels"] == ["bug", "old"]
    assert output["assignees"] == ["hubot"]
    assert output["author"] == "mona"
    assert output["url"] == "https://github.com/octo/lights/issues/1"
    assert output["repo_url"] == "https://github.com/octo/lights"
    assert output["comments_count"] == 3
    assert [comment["body"] for comment in output["comments"]] == ["Comment 0", "Comment 1"]
    sent = github.http.requests[0].headers
    assert sent["authorization"] == f"Bearer {TOKEN}"
    assert sent["x-github-api-version"] == "2022-11-28"
    assert sent["accept"] == "application/vnd.github+json"
    assert harness.progress[-1][0] == 1.0


async def test_the_address_of_an_issue_is_enough(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    github.add_issue(lights, "Lamp flickers", None, user=None)
    place = f"{github.http.url('')}/octo/lights/issues/1#issuecomment-7"

    output = await harness.call(get_issue, {"repo": place})

    assert (output["number"], output["body"], output["author"]) == (1, "", None)
    assert (await failure(harness, get_issue, repo=place, issue_number=2)).field == "issue_number"
    assert (await failure(harness, get_issue, repo="octo/lights")).field == "issue_number"


async def test_without_a_credential_public_things_are_read_and_kept(
    harness: Harness, github: GitHubDouble, lights: Repository
) -> None:
    harness.credentials.clear()
    github.add_issue(lights, "Lamp flickers")
    for _ in range(2):
        await harness.call(get_issue, {"repo": "octo/lights", "issue_number": 1})
    assert len(github.http.requests) == 1
    assert "authorization" not in github.http.requests[0].headers


async def test_with_a_credential_what_is_kept_is_checked_first(
    harness: Harness, github: GitHubDouble, lights: Repository
) -> None:
    issue = github.add_issue(lights, "Lamp flickers")
    given = {"repo": "octo/lights", "issue_number": 1}
    first = await harness.call(get_issue, given)
    assert await harness.call(get_issue, given) == first
    assert github.not_modified == 1

    issue["title"] = "Lamp is steady"
    assert (await harness.call(get_issue, given))["title"] == "Lamp is steady"
    assert github.not_modified == 1


async def test_what_was_kept_is_not_shown_to_a_token_that_may_no_longer_see_it(
    harness: Harness, github: GitHubDouble, lights: Repository
) -> None:
    github.add_issue(lights, "Secret plan")
    await harness.call(get_issue, {"repo": "octo/lights", "issue_number": 1})
    github.faults.add(status(404, {"message": "Not Found"}))
    assert (await failure(harness, get_issue, repo="octo/lights", issue_number=1)).code == "not_found"


async def test_a_renamed_repository_is_followed(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    github.add_issue(lights, "Lamp flickers")
    github.moved["octo/lamps"] = "octo/lights"
    assert (await harness.call(get_issue, {"repo": "octo/lamps", "issue_number": 1}))["title"] == "Lamp flickers"


@pytest.mark.parametrize("port", [0, 1, 99_999])
async def test_the_token_never_follows_a_redirect_to_another_host(
    harness: Harness, github: GitHubDouble, port: int
) -> None:
    github.faults.add(status(302, location=f"http://127.0.0.1:{port}/steal"))
    found = await failure(harness, get_issue, repo="octo/lights", issue_number=1)
    assert found.code == "upstream_unavailable"
    assert ("127.0.0.1" if port == 1 else "what is not an address") in found.message
    assert len(github.http.requests) == 1


async def test_what_is_not_there_is_named(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    found = await failure(harness, get_issue, repo="octo/lights", issue_number=9)
    assert (found.code, found.field) == ("not_found", "issue_number")
    assert "issue 9 of octo/lights" in found.message
    github.add("octo/vault", private=True)
    harness.credentials.clear()
    found = await failure(harness, list_issues, repo="octo/vault")
    assert (found.code, found.field) == ("not_found", "repo")
    assert "octo/vault" in found.message
    assert "credential `github`" in found.hint


# --------------------------------------------------------------------------------------------------- list_issues


async def test_pages_are_followed_up_to_the_limit(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    for number in range(1, 251):
        pull = {"pull_request": {}} if number % 5 == 0 else {}
        github.add_issue(lights, f"Issue {number}", "x" * 3000, **pull)

    output = await harness.call(list_issues, {"repo": "octo/lights", "limit": 120})

    assert output["count"] == 120
    assert output["has_more"]
    assert output["issues"][0]["number"] == 249
    assert not any(issue["is_pull_request"] for issue in output["issues"])
    assert len(output["issues"][0]["excerpt"]) <= 1_002
    assert [query["per_page"] for query in asked(github)] == ["100", "100"]
    assert output["markdown"].startswith("- [#249](https://github.com/octo/lights/issues/249) Issue 249\n")

    output = await harness.call(list_issues, {"repo": "octo/lights", "limit": 200, "include_pull_requests": True})
    assert (output["count"], output["has_more"]) == (200, True)
    output = await harness.call(list_issues, {"repo": "octo/lights", "limit": 200})
    assert (output["count"], output["has_more"]) == (200, False)


async def test_filters_are_passed_on(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    github.add_issue(lights, "One", labels=[{"name": "good first issue"}])
    github.add_issue(lights, "Two [x](y) <b>", state="closed", labels=[{"name": "bug"}])
    output = await harness.call(
        list_issues,
        {
            "repo": "octo/lights",
            "state": "all",
            "labels": ["bug"],
            "creator": "mona",
            "since": "2026-01-01T02:00:00+02:00",
            "sort": "updated",
            "direction": "asc",
        },
    )
    assert [issue["title"] for issue in output["issues"]] == ["Two [x](y) <b>"]
    assert r"Two \[x\](y) \<b\> (bug)" in output["markdown"]
    (query,) = asked(github)
    assert query["labels"] == "bug"
    assert query["since"] == "2026-01-01T00:00:00Z"
    assert (query["sort"], query["direction"], query["creator"]) == ("updated", "asc", "mona")


async def test_no_issues_is_an_answer(harness: Harness, lights: Repository) -> None:
    output = await harness.call(list_issues, {"repo": "octo/lights"})
    assert (output["issues"], output["count"], output["has_more"], output["markdown"]) == ([], 0, False, "")


async def test_a_next_page_on_another_host_is_not_fetched(harness: Harness, github: GitHubDouble) -> None:
    evil = '<http://127.0.0.1:1/repos/octo/lights/issues?page=2>; rel="next"'
    github.faults.add(status(200, [], link=evil))
    found = await failure(harness, list_issues, repo="octo/lights")
    assert found.code == "upstream_unavailable"
    assert len(github.http.requests) == 1


@pytest.mark.parametrize(
    "change", [{"labels": ["a,b"]}, {"labels": [" "]}, {"creator": "a&b"}, {"limit": 201}, {"state": "merged"}]
)
async def test_bad_filters_are_refused(harness: Harness, github: GitHubDouble, change: dict[str, Any]) -> None:
    assert (await failure(harness, list_issues, repo="octo/lights", **change)).code == "invalid_input"
    assert github.http.requests == []


# -------------------------------------------------------------------------------------------------------- search


async def test_issues_and_pull_requests_are_found(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    github.add_issue(lights, "Lamp flickers", "At night")
    output = await harness.call(search, {"query": "lamp", "repo": "octo/lights", "limit": 5})
    assert output["query"] == "lamp repo:octo/lights is:issue"
    assert output["total_count"] == output["count"] == 1
    (found,) = output["results"]
    assert (found["repo"], found["number"], found["state"], found["snippet"]) == ("octo/lights", 1, "open", "At night")
    assert (await harness.call(search, {"query": "lamp", "kind": "pull_requests"}))["results"] == []


async def test_repositories_and_code_are_found(harness: Harness, github: GitHubDouble, lights: Repository) -> None:
    output = await harness.call(search, {"query": "lights", "kind": "repositories"})
    assert [result["title"] for result in output["results"]] == ["octo/lights"]
    output = await harness.call(search, {"query": "lamp", "kind": "code"})
    assert output["results"][0]["title"] == "src/lamp.py"
    harness.credentials.clear()
    before = len(github.http.requests)
    found = await failure(harness, search, query="lamp", kind="code")
    assert (found.code, found.field) == ("credential_invalid", "kind")
    assert len(github.http.requests) == before


async def test_a_search_in_a_repository_that_cannot_be_seen(harness: Harness, github: GitHubDouble) -> None:
    found = await failure(harness, search, query="lamp", repo="octo/none")
    assert (found.code, found.field) == ("invalid_input", "query")
    assert "cannot be searched" in found.message


async def test_an_unfinished_search_is_a_warning(harness: Harness, github: GitHubDouble) -> None:
    github.faults.add(status(200, {"total_count": 3, "incomplete_results": True, "items": []}))
    output = await harness.call(search, {"query": "lamp"})
    assert output["incomplete"]
    assert "did not finish" in harness.warnings[0]


# --------------------------------------------------------------------------------------------- names and addresses

repos = load_module("github/_repo.py")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("octo/lights", "octo/lights"),
        (" octo/lights ", "octo/lights"),
        ("octo/lights.git", "octo/lights"),
        ("github.com/octo/lights", "octo/lights"),
        ("https://github.com/octo/lights", "octo/lights"),
        ("https://www.GitHub.com/octo/lights.git/", "octo/lights"),
        ("http://github.com/octo/lights/tree/main/src?x=1#L2", "octo/lights"),
        ("https://github.com/octo/.github", "octo/.github"),
        ("mona_corp/x.y-z", "mona_corp/x.y-z"),
    ],
)
def test_repositories_by_name_and_address(harness: Harness, text: str, expected: str) -> None:
    harness.services.clear()
    assert repos.parse_repo(harness.context(), text).full_name == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "octo",
        "octo/",
        "/lights",
        "octo/lights/issues",
        "octo/..",
        "../lights",
        "octo/../../user",
        "..%2f..%2fuser/x",
        "octo/lights?x=1",
        "octo/lights#x",
        "octo/li ghts",
        "octo/lights\r\nHost: evil",
        "octo/l\u0456ghts",
        "https://github.com",
        "https://github.com/octo",
        "https://github.com/octo/../evil/x/..",
        "https://github.com@evil.example/octo/lights",
        "https://evil.example/octo/lights",
        "https://github.com.evil.example/octo/lights",
        "https://evil.example/github.com/octo/lights",
        "https://github.com:8443/octo/lights",
        "https://github.com\\@evil.example/octo/lights",
        "https://token:x@github.com/octo/lights",
        "ext::sh -c touch% /tmp/x",
        "file:///etc/passwd",
        "git@github.com:octo/lights.git",
        "javascript:alert(1)",
        "http://[::1/octo/lights",
    ],
)
def test_anything_else_is_refused(harness: Harness, text: str) -> None:
    harness.services.clear()
    with pytest.raises(PackError) as caught:
        repos.parse_repo(harness.context(), text)
    assert (caught.value.failure.code, caught.value.failure.field) == ("invalid_input", "repo")


@given(st.one_of(st.text(max_size=60), st.from_regex(r"(https?://)?(github\.com/)?[^/]*/[^/]*(/.*)?", fullmatch=True)))
def test_whatever_is_given_a_name_needs_no_escaping(text: str) -> None:
    class Context:
        def service_url(self, name: str) -> None:
            return None

    try:
        repo = repos.parse_repo(Context(), text)
    except PackError:
        return
    assert quote(repo.path, safe="/") == repo.path
    assert posixpath.normpath(repo.path) == repo.path
    assert repo.path.count("/") == 3


def test_another_github_has_its_own_addresses(harness: Harness) -> None:
    harness.services["github"] = "https://ghe.example/api/v3"
    assert repos.parse_repo(harness.context(), "https://ghe.example/octo/lights/pull/4").number == 4
    with pytest.raises(PackError, match=r"ghe\.example"):
        repos.parse_repo(harness.context(), "https://github.com/octo/lights")
