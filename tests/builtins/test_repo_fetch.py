"""`repo.fetch` against a real Git server on loopback."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2
import pytest

from packline import PackError
from runner.egress.client import Egress
from runner.egress.policy import EgressPolicy
from tests.support.git_server import GitServer, git
from tests.support.pack_harness import Harness, load_module, load_pack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

fetch = load_pack("repo/fetch.py")
address = load_module("repo/_address.py")

FILES: dict[str, str | bytes] = {
    "README.md": "# Demo\n\nA small thing.\n",
    "src/app.py": "def main() -> None:\n    print('hello')\n",
    "web/site.js": "export function draw() {}\n",
    "docs/zebra.md": "# Zebra\n\nLast.\n",
    "docs/index.md": "---\ntitle: x\n---\n# Start here\n",
    "docs/deep/more.md": "# More\n",
    "node_modules/big.js": "x" * 5_000,
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with GitServer(tmp_path / "server") as running:
        yield running


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path / "harness")


async def failure(harness: Harness, **input: object) -> PackError:
    with pytest.raises(PackError) as caught:
        await harness.call(fetch, input)
    return caught.value


async def test_clones_the_default_branch_and_reads_it(server: GitServer, harness: Harness) -> None:
    commit = server.add_repository("demo", FILES, branch="trunk")

    output = await harness.call(fetch, {"url": server.url("demo")})

    session = harness.sessions[0]
    assert output["clone_path"] == "repo"
    assert output["session_id"] == session.id
    assert output["commit"] == commit
    assert output["branch"] == "trunk"
    assert output["readme"] == {"path": "README.md", "content": "# Demo\n\nA small thing.\n"}
    assert output["docs"]["paths"] == ["docs/index.md", "docs/zebra.md", "docs/deep/more.md"]
    assert output["docs"]["content"] == "# Start here\n\n# Zebra\n\nLast.\n\n# More"
    assert output["file_count"] == len(FILES)
    assert output["size_bytes"] == sum(map(len, FILES.values()))
    assert [(each["name"], each["files"]) for each in output["languages"]] == [("Python", 1), ("JavaScript", 1)]
    assert (session.path / "repo/src/app.py").read_text() == FILES["src/app.py"]
    assert git(session.path / "repo", "status", "--porcelain", "--branch") == "## trunk...origin/trunk"
    assert str(harness.folder) not in str(output)
    assert harness.warnings == []


async def test_ref_may_be_a_branch_a_tag_or_a_commit(server: GitServer, harness: Harness) -> None:
    first = server.add_repository("demo", {"README.md": "one"})
    tree = server.work_tree("demo")
    git(tree, "tag", "-a", "v1", "-m", "First release")
    git(tree, "checkout", "-q", "-b", "feature/x")
    (tree / "README.md").write_text("two")
    git(tree, "commit", "-q", "-am", "Second")
    server.publish("demo")
    second = git(tree, "rev-parse", "HEAD")

    for ref, commit, branch in (("feature/x", second, "feature/x"), ("v1", first, None), (first, first, None)):
        output = await harness.call(fetch, {"url": server.url("demo"), "ref": ref})
        assert (output["commit"], output["branch"]) == (commit, branch), ref


async def test_depth_is_how_much_history_there_is(server: GitServer, harness: Harness) -> None:
    server.add_repository("demo", {"README.md": "one"})
    for number in range(3):
        git(server.work_tree("demo"), "commit", "-q", "--allow-empty", "-m", str(number))
    server.publish("demo")

    for depth in (1, 3):
        await harness.call(fetch, {"url": server.url("demo"), "depth": depth})
        assert git(harness.sessions[-1].path / "repo", "rev-list", "--count", "HEAD") == str(depth)


async def test_subpath_narrows_what_is_read(server: GitServer, harness: Harness) -> None:
    server.add_repository("mono", {"README.md": "all", "packages/core/README.md": "core", "packages/core/a.go": "x"})

    output = await harness.call(fetch, {"url": server.url("mono"), "subpath": "packages/core/"})

    assert output["clone_path"] == "repo/packages/core"
    assert output["readme"]["content"] == "core"
    assert output["file_count"] == 2


async def test_missing_subpath_is_named(server: GitServer, harness: Harness) -> None:
    server.add_repository("demo", FILES)
    error = await failure(harness, url=server.url("demo"), subpath="nowhere")
    assert (error.failure.code, error.failure.field) == ("not_found", "subpath")


@pytest.mark.parametrize("subpath", ["../..", "/etc", "a/../../b", ".git", "a//b"])
async def test_subpath_out_of_the_repository_is_refused_before_any_request(harness: Harness, subpath: str) -> None:
    error = await failure(harness, url="https://example.test/a/b", subpath=subpath)
    assert (error.failure.code, error.failure.field) == ("invalid_input", "subpath")


async def test_without_readme_the_output_is_empty_and_a_warning_says_so(server: GitServer, harness: Harness) -> None:
    server.add_repository("bare", {"main.rs": "fn main() {}"})
    output = await harness.call(fetch, {"url": server.url("bare")})
    assert output["readme"] == {"path": None, "content": ""}
    assert output["docs"] == {"paths": [], "content": ""}
    assert harness.warnings == ["The repository has no README."]


async def test_long_readme_is_cut_with_a_warning(server: GitServer, harness: Harness) -> None:
    server.add_repository("long", {"README.md": "x" * 70_000})
    output = await harness.call(fetch, {"url": server.url("long")})
    assert len(output["readme"]["content"]) == 60_000
    assert any("README" in warning for warning in harness.warnings)


async def test_links_in_a_repository_are_never_read(server: GitServer, harness: Harness, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("TOP SECRET")
    server.add_repository(
        "evil", {"main.py": "x = 1"}, links={"README.md": str(secret), "docs": str(tmp_path), "out": "/etc"}
    )
    output = await harness.call(fetch, {"url": server.url("evil")})
    assert "TOP SECRET" not in str(output)
    assert output["file_count"] == 1
    error = await failure(harness, url=server.url("evil"), subpath="out")
    assert error.failure.code == "policy_denied"


async def test_nothing_of_the_repository_or_the_machine_runs(
    server: GitServer, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filters named by the repository, and hooks and settings of this machine, have no effect."""
    marker = tmp_path / "ran"
    home = tmp_path / "home"
    (home / "templates/hooks").mkdir(parents=True)
    hook = home / "templates/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    (home / ".gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = touch {marker}; cat\n[init]\n\ttemplateDir = {home}/templates\n'
        f'[core]\n\thooksPath = {home}/templates/hooks\n[url "http://127.0.0.1:9/"]\n\tinsteadOf = {server.url("")}\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(home / "templates"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    server.add_repository("evil", {".gitattributes": "* filter=evil\n", "README.md": "# Evil\n"})
    output = await harness.call(fetch, {"url": server.url("evil")})
    assert output["readme"]["content"] == "# Evil\n"
    assert not marker.exists()
    assert not list((harness.sessions[0].path / "repo/.git").glob("hooks/*"))


async def test_a_repository_around_the_data_folder_has_no_say(server: GitServer, tmp_path: Path) -> None:
    outer = tmp_path / "project"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "config", "url.http://127.0.0.1:9/.insteadOf", server.url("").removesuffix(".git"))
    server.add_repository("demo", FILES)
    output = await Harness(outer / "data").call(fetch, {"url": server.url("demo")})
    assert output["branch"] == "main"


async def test_git_goes_to_the_address_that_was_checked(server: GitServer, harness: Harness) -> None:
    """The name exists only in this test's resolver: Git can have the address from nobody but the guarded request."""
    server.add_repository("demo", FILES)
    async with guarded(f"git.example.test:{server.port}", resolves_to="127.0.0.1") as harness.http:
        output = await harness.call(fetch, {"url": server.url("demo", host="git.example.test")})
    assert output["url"] == server.url("demo", host="git.example.test")
    assert output["file_count"] == len(FILES)


@pytest.mark.parametrize("host", ["internal.example.test", "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
async def test_private_addresses_are_refused_before_git_runs(server: GitServer, harness: Harness, host: str) -> None:
    server.add_repository("demo", FILES)
    async with guarded(f"git.example.test:{server.port}", resolves_to="127.0.0.1") as harness.http:
        error = await failure(harness, url=server.url("demo", host=host))
    assert error.failure.code == "policy_denied"
    assert (server.requests, harness.sessions, harness.processes_started) == ([], [], [])


async def test_without_a_known_address_nothing_is_cloned(harness: Harness) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "application/x-git-upload-pack-advertisement"})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        harness.http = client
        error = await failure(harness, url="https://example.test/a/b")
    assert error.failure.code == "policy_denied"
    assert harness.processes_started == []


async def test_redirect_within_the_host_is_followed(server: GitServer, harness: Harness) -> None:
    server.add_repository("new", FILES)
    server.redirects["/old.git/info/refs"] = f"{server.url('new')}/info/refs?service=git-upload-pack"
    output = await harness.call(fetch, {"url": server.url("old")})
    assert output["url"] == server.url("new")


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/x.git/info/refs",
        "http://localhost:1/x.git/info/refs",
        "file:///etc/info/refs",
        "//evil/x",
    ],
)
async def test_redirect_to_another_place_is_refused(server: GitServer, harness: Harness, location: str) -> None:
    server.redirects["/old.git/info/refs"] = location
    error = await failure(harness, url=server.url("old"))
    assert error.failure.code == "policy_denied"
    assert len(server.requests) == 1


@pytest.mark.parametrize("location", ["http://[", "http://localhost:99999/x.git/info/refs", "//[::1/x.git/info/refs"])
async def test_a_redirect_to_no_address_is_named(server: GitServer, harness: Harness, location: str) -> None:
    server.redirects["/old.git/info/refs"] = location
    error = await failure(harness, url=server.url("old"))
    assert (error.failure.code, error.failure.field) == ("invalid_input", "url")
    assert location in error.failure.message


async def test_a_redirect_that_only_git_is_given_is_not_followed(server: GitServer, harness: Harness) -> None:
    server.add_repository("demo", FILES)
    server.redirects["/demo.git/git-upload-pack"] = f"http://localhost:{server.port}/elsewhere.git/git-upload-pack"
    error = await failure(harness, url=server.url("demo"))
    assert error.failure.code == "upstream_unavailable"
    assert not [path for _, path in server.requests if "elsewhere" in path]


async def test_endless_redirects_end(server: GitServer, harness: Harness) -> None:
    server.redirects["/loop.git/info/refs"] = "/loop.git/info/refs"
    assert (await failure(harness, url=server.url("loop"))).failure.code == "upstream_unavailable"


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "credential_invalid"), (403, "credential_invalid"), (404, "not_found"), (429, "rate_limited"),
     (503, "upstream_unavailable"), (504, "timeout"), (418, "invalid_input")],
)  # fmt: skip
async def test_blame_follows_the_status(server: GitServer, harness: Harness, status: int, code: str) -> None:
    server.statuses["/gone.git"] = status
    assert (await failure(harness, url=server.url("gone"))).failure.code == code


async def test_a_web_page_is_not_a_repository(server: GitServer, harness: Harness) -> None:
    server.statuses["/page.git"] = 200
    error = await failure(harness, url=server.url("page"))
    assert (error.failure.code, error.failure.field) == ("invalid_input", "url")


async def test_nobody_there_is_upstreams_fault(harness: Harness) -> None:
    assert (await failure(harness, url="http://127.0.0.1:1/a.git")).failure.code == "upstream_unavailable"


async def test_server_dying_after_the_first_answer_is_upstreams_fault(server: GitServer, harness: Harness) -> None:
    server.add_repository("demo", FILES)
    server.statuses["/demo.git/git-upload-pack"] = 500
    error = await failure(harness, url=server.url("demo"))
    assert error.failure.code == "upstream_unavailable"
    assert str(harness.folder) not in str(error.failure)


async def test_missing_refs_are_named(server: GitServer, harness: Harness) -> None:
    server.add_repository("demo", FILES)
    for ref in ("nope", "a" * 40, "HEAD"):
        error = await failure(harness, url=server.url("demo"), ref=ref)
        assert (error.failure.code, error.failure.field) == ("not_found", "ref"), ref


@pytest.mark.parametrize("ref", ["--upload-pack=x", "a b", "a..b", "x^", "main:evil", "a\nb", "x.lock", "*"])
async def test_refs_that_cannot_be_are_refused_before_any_request(harness: Harness, ref: str) -> None:
    error = await failure(harness, url="https://example.test/a/b", ref=ref)
    assert (error.failure.code, error.failure.field) == ("invalid_input", "ref")


async def test_empty_repository_is_not_found(server: GitServer, harness: Harness) -> None:
    (server.folder / "git-server/empty.git").mkdir()
    git(server.folder / "git-server/empty.git", "init", "-q", "--bare")
    error = await failure(harness, url=server.url("empty"))
    assert error.failure.code == "not_found"
    assert "no commits" in error.failure.message


async def test_too_large_a_repository_is_refused(server: GitServer, harness: Harness) -> None:
    server.add_repository("large", {"noise.bin": os.urandom(700_000), "more.bin": os.urandom(700_000)})
    error = await failure(harness, url=server.url("large"), max_size_mb=1)
    assert (error.failure.code, error.failure.field) == ("resource_exhausted", "max_size_mb")


async def test_a_small_download_that_unpacks_large_is_refused(server: GitServer, harness: Harness) -> None:
    server.add_repository("bomb", {f"{number}.txt": b"0" * 900_000 for number in range(3)})
    error = await failure(harness, url=server.url("bomb"), max_size_mb=1)
    assert error.failure.code == "resource_exhausted"


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("github.com:pallets/click", "https://github.com/pallets/click"),
        ("github.com/pallets/click", "https://github.com/pallets/click"),
        ("https://github.com/pallets/click/tree/main/src", "`main` as ref"),
        ("https://github.com/pallets/click/issues", "https://github.com/pallets/click"),
    ],
)
def test_near_misses_are_told_what_to_give(url: str, hint: str) -> None:
    with pytest.raises(PackError) as caught:
        address.check_url(url)
    assert caught.value.failure.code == "invalid_input"
    assert hint in (caught.value.failure.hint or "")


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "/etc/passwd", "../repo", "git://host/x", "ext::sh -c id", "ext://sh/x",
     "http://", "https://host", "https://host/", "https:///x", "http://2130706433/x", "http://0x7f.1/x", "http://127.1/x",
     "https://host/x?y", "https://host/x#y", "http://host:99999/x", "http://host:0/x", "http://a b/x",
     "-oProxyCommand=x://h/x", "http://ho\nst/x", "C:\\repo", "x" * 1_990],
)  # fmt: skip
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(PackError) as caught:
        address.check_url(url)
    assert (caught.value.failure.code, caught.value.failure.field) == ("invalid_input", "url")


def test_passwords_in_addresses_are_refused_and_not_repeated() -> None:
    for url in ("https://user:hunter2hunter2@host/x", "user:hunter2hunter2@host:path/x"):
        with pytest.raises(PackError) as caught:
            address.check_url(url)
        assert "hunter2" not in f"{caught.value} {caught.value.failure.hint}"


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        (" https://Example.ORG:443/a/b.git/ ", "https://example.org/a/b.git"),
        ("http://example.org:8080/a", "http://example.org:8080/a"),
        ("http://[2001:DB8::1]/a", "http://[2001:db8::1]/a"),
        ("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
        ("https://host/M\u00fcnchen/a b.git", "https://host/M%C3%BCnchen/a%20b.git"),
        ("http://①②⑦.⓪.⓪.①/x", "http://127.0.0.1/x"),  # the guard refuses it
    ],
)
def test_addresses_are_put_into_one_form(url: str, checked: str) -> None:
    assert address.check_url(url) == checked


def test_resolve_entry_is_in_curls_form() -> None:
    assert address.Remote("https://h/x", "h", 443, "192.0.2.1").resolve_entry == "h:443:192.0.2.1"
    assert address.Remote("https://h/x", "h", 443, "2001:db8::1").resolve_entry == "h:443:[2001:db8::1]"


@asynccontextmanager
async def guarded(allow: str, *, resolves_to: str) -> AsyncIterator[httpx2.AsyncClient]:
    """The real guard, with exceptions, over a resolver that finds every name at one address."""

    async def resolve(host: str, port: int) -> list[str]:
        return [resolves_to if host.endswith(".test") or host == "localhost" else host.strip("[]")]

    egress = Egress(EgressPolicy.parse(allow), resolve)
    async with egress.client() as client:
        yield client
    await egress.aclose()
