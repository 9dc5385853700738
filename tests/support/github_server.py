"""GitHub's REST API on loopback, as docs.github.com/rest has it: what packs use, with the checks the real one makes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.support.git_server import git, run_backend
from tests.support.loopback_http import Reply
from tests.support.loopback_sites import json_reply
from tests.support.scripted_http import Faults

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.loopback_http import LoopbackHttp, Request

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
READ_ONLY_TOKEN = "ghp_readonly6789abcdefghijklmnopqrstuvwxyz"
_GIT_PATH = re.compile(r"/([^/]+/[^/]+?)(?:\.git)?(/info/refs|/git-upload-pack|/git-receive-pack|/HEAD)(?:\?|\Z)")
DOCS = "https://docs.github.com/rest"


@dataclass
class Repository:
    """One repository; `issues` holds pull requests, too, as GitHub numbers them together."""

    full_name: str
    private: bool = False
    has_issues: bool = True
    default_branch: str = "main"
    branches: set[str] = field(default_factory=lambda: {"main"})
    labels: set[str] = field(default_factory=lambda: {"bug", "docs"})
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)


class _RefusedError(Exception):
    def __init__(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        super().__init__(status)
        self.reply = json_reply(body, status, headers)


class GitHubDouble:
    """The service.

    Attributes:
        repositories: By lower-case full name.
        moved: Old lower-case full names to new ones.
        remaining: Requests left before the primary limit; None for no end.
        now: The service's clock; moves a second with each thing made.
        not_modified: How many answers were 304.
        writes: How many things were made.
        git: Folder of bare repositories `owner/name.git` that are served beside the API; web addresses then lead to
            this server, as on a GitHub of one's own.
    """

    def __init__(self, git: Path | None = None) -> None:
        self.faults = Faults()
        self.git = git
        self.http: LoopbackHttp
        self.repositories: dict[str, Repository] = {}
        self.moved: dict[str, str] = {}
        self.remaining: int | None = None
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.not_modified = 0
        self.writes = 0
        self._next_id = 1000

    def add(self, full_name: str, **options: Any) -> Repository:
        """A new repository."""
        made = Repository(full_name, **options)
        self.repositories[full_name.lower()] = made
        return made

    def add_issue(self, repository: Repository, title: str, body: str | None = None, **more: Any) -> dict[str, Any]:
        """A new issue, as if somebody had opened it."""
        number = len(repository.issues) + 1
        self.now += timedelta(seconds=1)
        made = more.pop("created_at", _time(self.now))
        issue = {
            "id": self._id(),
            "number": number,
            "title": title,
            "state": "open",
            "body": body,
            "html_url": f"{self.web_url}/{repository.full_name}/issues/{number}",
            "repository_url": f"{self.http.url('')}/repos/{repository.full_name}",
            "user": {"login": "mona", "id": 1},
            "labels": [],
            "assignees": [],
            "milestone": None,
            "comments": 0,
            "created_at": made,
            "updated_at": made,
            "closed_at": None,
            **more,
        }
        repository.issues[number] = issue
        return issue

    def answer(self, request: Request) -> Reply:
        """What api.github.com would say."""
        if self.git is not None and _GIT_PATH.match(request.path):
            return self._git_answer(request, self.git)
        try:
            login = self._signed_in(request)
            status, body, headers = self._route(request, login)
        except _RefusedError as refused:
            return refused.reply
        headers = {**self._limits(), **headers}
        if request.method == "GET" and status == 200:
            tag = f'W/"{hashlib.sha256(json.dumps([login, body]).encode()).hexdigest()}"'
            headers["etag"] = tag
            if request.headers.get("if-none-match") == tag:
                self.not_modified += 1
                return Reply(b"", 304, headers)
        return json_reply(body, status, headers)

    @property
    def web_url(self) -> str:
        """Where its pages are."""
        return "https://github.com" if self.git is None else self.http.url("")

    def _git_answer(self, request: Request, root: Path) -> Reply:
        """Git over HTTP: anybody reads, whoever holds the token pushes."""
        path, _, query = request.path.partition("?")
        match = _GIT_PATH.match(path)
        assert match is not None
        expected = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
        is_push = "git-receive-pack" in request.path
        given = request.headers.get("authorization")
        if given not in (None, expected) or (is_push and given is None):
            return Reply(b"", 401, {"www-authenticate": 'Basic realm="GitHub"'})
        body = request.body
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        place = f"/{match[1]}.git{match[2]}"
        user = "packline-bot" if given else None
        status, headers, content = run_backend(root, request.method, place, query, request.headers, body, user)
        if is_push and request.method == "POST":
            self._note_branches(match[1], root)
        return Reply(content, status, headers)

    def _note_branches(self, full_name: str, root: Path) -> None:
        listed = git(root / f"{full_name}.git", "for-each-ref", "--format=%(refname:short)", "refs/heads")
        self.repositories[full_name.lower()].branches = set(listed.split())

    def _signed_in(self, request: Request) -> str | None:
        if not request.headers.get("user-agent"):
            raise _RefusedError(403, {"message": "Request forbidden by administrative rules."})
        version = request.headers.get("x-github-api-version", "2022-11-28")
        if version != "2022-11-28":
            raise _RefusedError(400, {"message": f'The API version "{version}" is not supported.'})
        if self.remaining is not None:
            if self.remaining <= 0:
                raise _RefusedError(
                    403,
                    {
                        "message": "API rate limit exceeded for user ID 1.",
                        "documentation_url": f"{DOCS}/using-the-rest-api/rate-limits-for-the-rest-api",
                    },
                    self._limits(),
                )
            self.remaining -= 1
        given = request.headers.get("authorization")
        if given is None:
            return None
        login = {f"Bearer {TOKEN}": "packline-bot", f"Bearer {READ_ONLY_TOKEN}": "reader"}.get(given)
        if login is None:
            raise _RefusedError(401, {"message": "Bad credentials", "documentation_url": DOCS})
        return login

    def _limits(self) -> dict[str, str]:
        return {
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": str(4999 if self.remaining is None else max(0, self.remaining)),
            "x-ratelimit-reset": str(int(self.now.timestamp()) + 90),
            "date": self.now.strftime("%a, %d %b %Y %H:%M:%S GMT"),
            "x-github-request-id": "ABCD:1234",
        }

    def _route(self, request: Request, login: str | None) -> tuple[int, Any, dict[str, str]]:
        parts = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/user" and login is not None:
            return 200, {"login": login, "id": 1, "type": "User"}, {}
        if parts.path.startswith("/search/"):
            return self._search(parts.path, query, login)
        match = re.fullmatch(r"/repos/([^/]+/[^/]+)(/.*)?", parts.path)
        if match is None:
            raise _not_found()
        if new_name := self.moved.get(match[1].lower()):
            place = f"{self.http.url('')}/repos/{new_name}{match[2] or ''}?{parts.query}".rstrip("?")
            moved = {"message": "Moved Permanently", "url": place}
            raise _RefusedError(301 if request.method == "GET" else 307, moved, {"location": place})
        repository = self.repositories.get(match[1].lower())
        if repository is None or (repository.private and login is None):
            raise _not_found()
        rest = match[2] or ""
        routes: list[tuple[str, str, Callable[..., tuple[int, Any, dict[str, str]]]]] = [
            ("GET", r"", self._get_repository),
            ("GET", r"/issues", self._list_issues),
            ("POST", r"/issues", self._create_issue),
            ("GET", r"/issues/(\d+)", self._get_issue),
            ("GET", r"/issues/(\d+)/comments", self._list_comments),
            ("POST", r"/issues/(\d+)/comments", self._create_comment),
            ("GET", r"/pulls", self._list_pulls),
            ("POST", r"/pulls", self._create_pull),
        ]
        for method, pattern, handler in routes:
            found = re.fullmatch(pattern, rest)
            if found is None or method != request.method:
                continue
            if method == "POST":
                if login is None:
                    raise _RefusedError(401, {"message": "Requires authentication", "documentation_url": DOCS})
                if login == "reader":
                    raise _RefusedError(
                        403,
                        {"message": "Resource not accessible by personal access token", "documentation_url": DOCS},
                        {**self._limits(), "x-accepted-github-permissions": "issues=write"},
                    )
                query = _body(request)
            return handler(repository, login, query, *(int(group) for group in found.groups()))
        raise _not_found()

    def _get_repository(self, repository: Repository, login: str | None, query: dict[str, str]) -> Any:
        del login, query
        return 200, {"full_name": repository.full_name, "default_branch": repository.default_branch}, {}

    def _get_issue(self, repository: Repository, login: str | None, query: dict[str, str], number: int) -> Any:
        del login, query
        return 200, self._issue(repository, number), {}

    def _issue(self, repository: Repository, number: int) -> dict[str, Any]:
        if number not in repository.issues:
            raise _not_found()
        return repository.issues[number]

    def _list_issues(self, repository: Repository, login: str | None, query: dict[str, str]) -> Any:
        del login
        if not repository.has_issues:
            raise _RefusedError(410, {"message": "Issues has been disabled in this repository."})
        found = [issue for issue in repository.issues.values() if query.get("state", "open") in ("all", issue["state"])]
        for label in filter(None, query.get("labels", "").split(",")):
            found = [issue for issue in found if label in {entry["name"] for entry in issue["labels"]}]
        if since := query.get("since"):
            found = [issue for issue in found if issue["updated_at"] >= since]
        if creator := query.get("creator"):
            found = [issue for issue in found if issue["user"]["login"] == creator]
        if assignee := query.get("assignee"):
            found = [issue for issue in found if assignee in {entry["login"] for entry in issue["assignees"]}]
        key = {"created": "created_at", "updated": "updated_at", "comments": "comments"}[query.get("sort", "created")]
        found.sort(key=lambda issue: (issue[key], issue["number"]), reverse=query.get("direction", "desc") == "desc")
        return self._paged(f"/repos/{repository.full_name}/issues", found, query)

    def _create_issue(self, repository: Repository, login: str | None, given: dict[str, Any]) -> Any:
        if not repository.has_issues:
            raise _RefusedError(410, {"message": "Issues has been disabled in this repository."})
        _validate("Issue", given, "title", limit=("body", 65536))
        self.writes += 1
        issue = self.add_issue(
            repository,
            given["title"],
            given.get("body"),
            user={"login": login},
            labels=[{"name": name} for name in given.get("labels", [])],
            assignees=[{"login": name} for name in given.get("assignees", []) if name == "mona"],
        )
        return 201, issue, {}

    def _list_comments(self, repository: Repository, login: str | None, query: dict[str, str], number: int) -> Any:
        del login
        self._issue(repository, number)
        found = [c for c in repository.comments.get(number, []) if c["updated_at"] >= query.get("since", "")]
        return self._paged(f"/repos/{repository.full_name}/issues/{number}/comments", found, query)

    def _create_comment(self, repository: Repository, login: str | None, given: dict[str, Any], number: int) -> Any:
        issue = self._issue(repository, number)
        _validate("IssueComment", given, "body", limit=("body", 65536))
        self.writes += 1
        issue["comments"] += 1
        return 201, self.add_comment(repository, number, given["body"], login or ""), {}

    def add_comment(self, repository: Repository, number: int, body: str, login: str = "mona") -> dict[str, Any]:
        """A new comment, as if somebody had written it."""
        self.now += timedelta(seconds=1)
        made = {
            "id": self._id(),
            "html_url": f"https://github.com/{repository.full_name}/issues/{number}#issuecomment-{self._next_id}",
            "body": body,
            "user": {"login": login},
            "created_at": _time(self.now),
            "updated_at": _time(self.now),
        }
        repository.comments.setdefault(number, []).append(made)
        repository.issues[number]["comments"] = len(repository.comments[number])
        return made

    def _list_pulls(self, repository: Repository, login: str | None, query: dict[str, str]) -> Any:
        del login
        found = [pull for pull in repository.issues.values() if "head" in pull]
        state = query.get("state", "open")
        found = [pull for pull in found if state in ("all", pull["state"])]
        if head := query.get("head"):
            found = [pull for pull in found if pull["head"]["label"] == head]
        if base := query.get("base"):
            found = [pull for pull in found if pull["base"]["ref"] == base]
        found.sort(key=lambda pull: pull["number"], reverse=query.get("direction", "desc") == "desc")
        return self._paged(f"/repos/{repository.full_name}/pulls", found, query)

    def _create_pull(self, repository: Repository, login: str | None, given: dict[str, Any]) -> Any:
        _validate("PullRequest", given, "title", limit=("body", 65536))
        owner = repository.full_name.partition("/")[0]
        label = given["head"] if ":" in given["head"] else f"{owner}:{given['head']}"
        for name, branch in (("head", label.partition(":")[2]), ("base", given["base"])):
            if branch not in repository.branches:
                raise _invalid([{"resource": "PullRequest", "field": name, "code": "invalid"}])
        for pull in repository.issues.values():
            same = "head" in pull and pull["head"]["label"] == label and pull["base"]["ref"] == given["base"]
            if same and pull["state"] == "open":
                message = f"A pull request already exists for {label}."
                raise _invalid([{"resource": "PullRequest", "code": "custom", "message": message}])
        self.writes += 1
        number = len(repository.issues) + 1
        pull = self.add_issue(
            repository,
            given["title"],
            given.get("body"),
            user={"login": login},
            html_url=f"{self.web_url}/{repository.full_name}/pull/{number}",
            pull_request={"url": "…"},
            draft=given.get("draft", False),
            head={"ref": label.partition(":")[2], "label": label},
            base={"ref": given["base"], "label": f"{owner}:{given['base']}"},
        )
        return 201, pull, {}

    def _search(self, path: str, query: dict[str, str], login: str | None) -> tuple[int, Any, dict[str, str]]:
        text = query.get("q", "")
        if not text.strip():
            raise _invalid([{"resource": "Search", "field": "q", "code": "missing"}])
        qualifiers = dict(re.findall(r"\b(repo|is|label):(\S+)", text))
        words = re.sub(r"\b\w+:\S+", "", text).lower().split()
        visible = [r for r in self.repositories.values() if login is not None or not r.private]
        if wanted := qualifiers.get("repo"):
            visible = [r for r in visible if r.full_name.lower() == wanted.lower()]
            if not visible:
                message = "The listed users and repositories cannot be searched either because the resources do not "
                raise _invalid([{"message": f"{message}exist or you do not have permission to view them."}])
        if path == "/search/repositories":
            items: list[dict[str, Any]] = [
                {"full_name": r.full_name, "html_url": f"https://github.com/{r.full_name}", "description": "A test"}
                for r in visible
                if all(word in r.full_name.lower() for word in words)
            ]
        elif path == "/search/code":
            if login is None:
                raise _RefusedError(401, {"message": "Requires authentication"})
            items = [
                {
                    "path": "src/lamp.py",
                    "html_url": f"https://github.com/{r.full_name}/blob/main/src/lamp.py",
                    "repository": {"full_name": r.full_name, "html_url": f"https://github.com/{r.full_name}"},
                }
                for r in visible
            ]
        else:
            if qualifiers.get("is") not in ("issue", "pull-request"):
                raise _invalid([{"message": "Query must include 'is:issue' or 'is:pull-request'"}])
            is_pull = qualifiers["is"] == "pull-request"
            items = [
                issue
                for r in visible
                for issue in r.issues.values()
                if ("head" in issue) == is_pull
                and all(word in f"{issue['title']} {issue['body']}".lower() for word in words)
            ]
        size = min(100, int(query.get("per_page", "30")))
        return 200, {"total_count": len(items), "incomplete_results": False, "items": items[:size]}, {}

    def _paged(self, path: str, found: list[Any], query: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        size, page = min(100, int(query.get("per_page", "30"))), int(query.get("page", "1"))
        last = max(1, -(-len(found) // size))
        links = []
        for name, number in (("prev", page - 1), ("next", page + 1), ("last", last)):
            if 1 <= number <= last and number != page:
                address = f"{self.http.url(path)}?{urlencode({**query, 'page': number})}"
                links.append(f'<{address}>; rel="{name}"')
        return 200, found[(page - 1) * size : page * size], {"link": ", ".join(links)} if links else {}

    def _id(self) -> int:
        self._next_id += 1
        return self._next_id


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _not_found() -> _RefusedError:
    return _RefusedError(404, {"message": "Not Found", "documentation_url": DOCS, "status": "404"})


def _invalid(errors: list[dict[str, str]]) -> _RefusedError:
    return _RefusedError(422, {"message": "Validation Failed", "errors": errors, "documentation_url": DOCS})


def _body(request: Request) -> dict[str, Any]:
    try:
        data = json.loads(request.body)
    except ValueError:
        raise _RefusedError(400, {"message": "Problems parsing JSON"}) from None
    if not isinstance(data, dict):
        raise _RefusedError(400, {"message": "Body should be a JSON object"})
    return data


def _validate(resource: str, given: dict[str, Any], required: str, *, limit: tuple[str, int]) -> None:
    if not given.get(required):
        raise _invalid([{"resource": resource, "field": required, "code": "missing_field"}])
    name, longest = limit
    if len(given.get(name) or "") > longest:
        message = f"{name} is too long (maximum is {longest} characters)"
        raise _invalid([{"resource": resource, "field": name, "code": "custom", "message": message}])
