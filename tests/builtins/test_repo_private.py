"""Private repositories, over HTTP with a token and over SSH with a key, against a real Git server and a real sshd."""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from packline import PackError
from tests.support.front_door import command, look
from tests.support.git_server import GitServer, git
from tests.support.pack_harness import Harness, load_module, load_pack
from tests.support.product import product
from tests.support.ssh_server import NEEDS_SSHD, SshServer
from tests.support.vaults import put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from packline import Pack

fetch, diff, push = (load_pack(f"repo/{name}.py") for name in ("fetch", "diff", "push"))
address = load_module("repo/_address.py")

TOKEN = "glpat/Yf+3w zQ?x9-not-for-eyes".replace(" ", "")
WRONG = "glpat/expired+long?ago-not-for-eyes"
ACCOUNT = "x-access-token"
FILES: dict[str, str | bytes] = {"README.md": "# Secret plans\n", "lamp.py": "level = 1\n"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with GitServer(tmp_path / "server", password=f"{ACCOUNT}:{TOKEN}") as running:
        running.add_repository("plans", FILES)
        yield running


@pytest.fixture
def harness(tmp_path: Path, server: GitServer) -> Harness:
    return Harness(tmp_path / "harness", credentials={"git": {"url": origin(server), "token": TOKEN}})


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    with SshServer(tmp_path_factory.mktemp("ssh")) as running:
        yield running


@pytest.fixture
def over_ssh(tmp_path: Path, ssh: SshServer) -> Harness:
    ssh.allow("user")
    return Harness(tmp_path / "harness", credentials={"ssh": ssh.credential()})


def origin(server: GitServer) -> str:
    return f"http://127.0.0.1:{server.port}"


def secrets_in(text: str, *secrets: str) -> list[str]:
    """Which secrets a text has, in any form they are sent or printed in."""
    forms = {
        form: secret
        for secret in secrets
        for form in (
            secret,
            quote(secret, safe=""),
            base64.b64encode(secret.encode()).decode(),
            base64.b64encode(f"{ACCOUNT}:{secret}".encode()).decode(),
            json.dumps(secret)[1:-1],
        )
    }
    return [secret for form, secret in forms.items() if form in text]


def texts_in(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


def seen_by(watched: Path) -> str:
    return watched.read_text(errors="replace")


def key_lines(private_key: str) -> list[str]:
    return [line for line in private_key.splitlines() if not line.startswith("-----")]


async def failure(harness: Harness, pack: Pack, **given: object) -> PackError:
    with pytest.raises(PackError) as caught:
        await harness.call(pack, given)
    shown = f"{caught.value.failure!r} {harness.logs} {harness.warnings} {harness.progress}"
    for fields in harness.credentials.values():
        assert secrets_in(shown, *(fields[name] for name in ("token", "private_key") if name in fields)) == []
    return caught.value


async def changed(harness: Harness, url: str) -> dict[str, Any]:
    """A clone in which something was changed: what the next step is given."""
    fetched = await harness.call(fetch, {"url": url})
    harness.session = harness.sessions[-1]
    (harness.session.path / "repo/lamp.py").write_text("level = 2\n")
    return {"url": fetched["url"], "commit": fetched["commit"]}


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Programs that write down their arguments and what temporary files hold, and then do their work."""
    seen, programs = tmp_path / "seen", tmp_path / "programs"
    programs.mkdir()
    with tempfile.TemporaryDirectory() as temporary:  # not in `tmp_path`, which is too long for the name of a socket
        for name in ("git", "ssh", "ssh-agent", "ssh-add"):
            program = programs / name
            program.write_text(
                f"#!/bin/sh\n{{ echo \"{name} $@\"; find '{temporary}' '{tmp_path / 'harness'}' -type f "
                f"! -path '*/objects/*' -exec cat {{}} +; }} >> '{seen}' 2>/dev/null\n"
                + ("" if name == "git" else f"env >> '{seen}'\n")
                + f'exec "{shutil.which(name)}" "$@"\n'
            )
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        monkeypatch.setenv("TMPDIR", str(temporary))
        monkeypatch.setattr("tempfile.tempdir", None)
        yield seen
        assert os.listdir(temporary) == [], "the agent's socket is gone as well"


# ------------------------------------------------------------------------------------------------------------ HTTP


async def test_a_token_opens_a_private_repository_and_is_kept_nowhere(
    server: GitServer, harness: Harness, watched: Path
) -> None:
    output = await harness.call(fetch, {"url": server.url("plans")})

    assert output["readme"]["content"] == FILES["README.md"]
    assert len(server.authorizations) == len(server.requests) - 1, "the first request was made without credentials"
    seen = seen_by(watched)
    assert "git fetch" in seen
    assert secrets_in(seen + texts_in(harness.sessions[0].path) + json.dumps(output), TOKEN) == []
    assert harness.artifacts == {}


async def test_changes_of_a_private_repository_are_compared_and_pushed(server: GitServer, harness: Harness) -> None:
    given = await changed(harness, server.url("plans"))

    assert (await harness.call(diff, given))["changed_files"] == [{"path": "lamp.py", "added": 1, "removed": 1}]
    pushed = await harness.call(push, {**given, "title": "Brighter", "branch": "brighter"})

    assert git(server.bare("plans"), "show", "brighter:lamp.py") == "level = 2"
    assert (pushed["branch"], pushed["created"]) == ("brighter", True)


async def test_a_public_repository_is_fetched_without_the_credential(server: GitServer, harness: Harness) -> None:
    server.password = None
    await harness.call(fetch, {"url": server.url("plans")})
    assert server.authorizations == []


async def test_a_token_that_is_not_accepted_is_named_with_the_remedy(server: GitServer, harness: Harness) -> None:
    harness.credentials["git"]["token"] = WRONG
    error = await failure(harness, fetch, url=server.url("plans"))
    assert error.failure.code == "credential_invalid"
    assert "does not accept the credential `git`" in error.failure.message
    assert "packline credential set git" in (error.failure.hint or "")
    assert error.failure.detail == {"credential": "git"}


async def test_a_token_that_may_only_read_pushes_nothing(server: GitServer, harness: Harness) -> None:
    given = await changed(harness, server.url("plans"))
    git(server.bare("plans"), "config", "http.receivepack", "false")
    error = await failure(harness, push, **given, title="Brighter")
    assert error.failure.code == "credential_invalid"
    assert "write access" in error.failure.message


@pytest.mark.parametrize("credentials", [{}, {"git": {"url": "https://other.example", "token": TOKEN}}])
async def test_without_a_credential_for_this_server_the_failure_says_which(
    server: GitServer, harness: Harness, credentials: dict[str, dict[str, str]]
) -> None:
    harness.credentials = credentials
    error = await failure(harness, fetch, url=server.url("plans"))
    assert error.failure.code == "credential_invalid"
    assert f"`git` with the `url` {origin(server)}" in (error.failure.hint or "")
    assert error.failure.likely_cause == "The provider refuses the credential, or requires one."
    assert error.failure.first_remedy == "set_credential"
    assert error.failure.detail == {"credential": "git"}
    assert server.authorizations == []


async def test_a_push_without_a_credential_for_this_server_says_whose_it_is(
    server: GitServer, harness: Harness
) -> None:
    server.password = None
    given = await changed(harness, server.url("plans"))
    harness.credentials["git"]["url"] = "https://other.example"
    error = await failure(harness, push, **given, title="Brighter")
    assert error.failure.code == "credential_invalid"
    assert error.failure.message.startswith("The credential `git` is for https://other.example, so it is not used for")
    assert server.authorizations == []


@pytest.mark.parametrize("path", ["/old.git/info/refs", "/old.git/git-upload-pack"])
async def test_a_redirect_never_takes_the_token_to_another_server(
    server: GitServer, harness: Harness, tmp_path: Path, path: str
) -> None:
    server.add_repository("old", FILES)
    with GitServer(tmp_path / "other") as other:
        other.add_repository("old", FILES)
        server.redirects[path] = f"http://127.0.0.1:{other.port}{path}"
        error = await failure(harness, fetch, url=server.url("old"))
        assert error.failure.code in ("policy_denied", "upstream_unavailable")
        assert server.authorizations, "it was sent to its own server"
        assert other.requests == []


# ------------------------------------------------------------------------------------------------------------- SSH


@NEEDS_SSHD
async def test_a_key_opens_a_private_repository_and_is_in_no_file(
    server: GitServer, ssh: SshServer, over_ssh: Harness, watched: Path
) -> None:
    given = await changed(over_ssh, ssh.url(server.bare("plans")))
    assert given["url"] == ssh.url(server.bare("plans"))
    assert (await over_ssh.call(diff, given))["changed_files"] == [{"path": "lamp.py", "added": 1, "removed": 1}]
    await over_ssh.call(push, {**given, "title": "Brighter", "branch": "brighter"})

    assert git(server.bare("plans"), "show", "brighter:lamp.py") == "level = 2"
    seen = seen_by(watched)
    assert all(f"\n{name} " in f"\n{seen}" for name in ("ssh", "ssh-agent", "ssh-add"))
    assert "StrictHostKeyChecking yes" in seen, "temporary files are seen"
    assert [line for line in key_lines(over_ssh.credentials["ssh"]["private_key"]) if line in seen] == []


@NEEDS_SSHD
@pytest.mark.parametrize("options", [None, 'restrict,expiry-time="20200101"'])
async def test_a_key_that_is_not_accepted_or_has_expired_is_named_with_the_remedy(
    server: GitServer, ssh: SshServer, over_ssh: Harness, options: str | None
) -> None:
    ssh.allow(None if options is None else "user", options=options or "")
    error = await failure(over_ssh, fetch, url=ssh.url(server.bare("plans")))
    assert error.failure.code == "credential_invalid"
    assert f"[127.0.0.1]:{ssh.port} does not accept the credential `ssh`" in error.failure.message
    assert "packline credential set ssh" in (error.failure.hint or "")
    assert error.failure.detail == {"credential": "ssh"}


@NEEDS_SSHD
@pytest.mark.parametrize("whose", ["another key", "another server"])
async def test_a_server_with_another_host_key_is_not_signed_in_to(
    server: GitServer, ssh: SshServer, over_ssh: Harness, whose: str
) -> None:
    ssh.make_key("elsewhere")
    known = f"[127.0.0.1]:{ssh.port} {(ssh.folder / 'elsewhere.pub').read_text()}"
    if whose == "another server":
        known = ssh.known_hosts.replace("127.0.0.1", "127.0.0.2")
    over_ssh.credentials["ssh"]["known_hosts"] = known
    error = await failure(over_ssh, fetch, url=ssh.url(server.bare("plans")))
    assert error.failure.code == "credential_invalid"
    assert "`known_hosts`" in error.failure.message
    assert "field known_hosts=@FILE" in (error.failure.hint or "")


@NEEDS_SSHD
async def test_what_else_can_be_wrong_over_ssh_has_its_own_failure(
    server: GitServer, ssh: SshServer, over_ssh: Harness
) -> None:
    missing = await failure(over_ssh, fetch, url=ssh.url(server.bare("nothing")))
    assert (missing.failure.code, missing.failure.field) == ("not_found", "url")
    elsewhere = await failure(over_ssh, fetch, url="git@other.example:team/plans.git")
    assert elsewhere.failure.code == "credential_invalid"
    assert f"is for 127.0.0.1:{ssh.port}, so it is not used for other.example" in elsewhere.failure.message
    over_ssh.allow = "127.0.0.1:22"
    private = await failure(over_ssh, fetch, url=ssh.url(server.bare("plans")))
    assert private.failure.code == "policy_denied"
    assert f"127.0.0.1:{ssh.port}" in (private.failure.hint or "")
    over_ssh.allow, over_ssh.credentials["ssh"]["host"] = "127.0.0.1", "127.0.0.1:1"
    away = await failure(over_ssh, fetch, url="ssh://git@127.0.0.1:1/plans.git")
    assert away.failure.code == "upstream_unavailable"
    over_ssh.credentials["ssh"] = ssh.credential(private_key=ssh.make_key("locked", passphrase="open sesame"))
    locked = await failure(over_ssh, fetch, url=ssh.url(server.bare("plans")))
    assert (locked.failure.code, "passphrase" in (locked.failure.hint or "")) == ("credential_invalid", True)
    over_ssh.credentials.clear()
    none = await failure(over_ssh, fetch, url=ssh.url(server.bare("plans")))
    assert none.failure.code == "credential_invalid"
    assert "packline credential set ssh" in (none.failure.hint or "")
    assert "https" in (none.failure.hint or "")
    assert none.failure.detail == {"credential": "ssh"}


_UNREAD = "fatal: Could not read from remote repository.\n"


@pytest.mark.parametrize(
    ("log", "said", "code"),
    [
        ("", "ERROR: Repository not found.\n", "not_found"),
        ("", "fatal: '/a.git' does not appear to be a git repository\n", "not_found"),
        ("", "ERROR: Permission to a/b.git denied to me.\n", "not_found"),
        ("", "Internal error\n", "upstream_unavailable"),
        ("kex_exchange_identification: read: Connection reset by peer", "not found\n", "upstream_unavailable"),
        ("kex_exchange_identification: Connection closed by remote host", "", "upstream_unavailable"),
        ("ssh: connect to host h port 22: Connection refused", "", "upstream_unavailable"),
        ("ssh: connect to host h port 22: Connection timed out", "", "timeout"),
        ("me@h: Permission denied (publickey).", "", "credential_invalid"),
        ("Received disconnect from h port 22:2: Too many authentication failures", "", "credential_invalid"),
        ("", "Host key verification failed.\nme@h: Permission denied (publickey).\n", "not_found"),
        ("Received disconnect from h port 22:11: Host key verification failed", "", "upstream_unavailable"),
    ],
)
def test_a_server_cannot_choose_what_a_failure_over_ssh_is_called(
    tmp_path: Path, log: str, said: str, code: str
) -> None:
    (tmp_path / "log").write_text(log)
    session = load_module("repo/_ssh.py").SshSession({}, "h", tmp_path / "log")
    found = session.failure("ssh://me@h/a.git", said + _UNREAD)
    assert (found.failure.code, found.failure.field) == (code, "url")


@pytest.mark.parametrize(("missing", "cause"), [("git", "Git is not"), ("ssh-add", "OpenSSH is not")])
async def test_a_server_without_the_programs_is_its_operators_to_mend(
    ssh: SshServer, over_ssh: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, cause: str
) -> None:
    which = shutil.which
    monkeypatch.setattr("shutil.which", lambda name: None if name == missing else which(name))
    error = await failure(over_ssh, fetch, url=ssh.url(tmp_path / "plans.git"))
    assert error.failure.likely_cause.startswith(cause)
    assert error.failure.first_remedy == "ask_operator"


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("git@GitHub.com:pallets/click.git", "git@github.com:pallets/click.git"),
        ("ssh://github.com/pallets/click", "ssh://git@github.com/pallets/click"),
        ("ssh://me@git.example:2222/a.git", "ssh://me@git.example:2222/a.git"),
        ("me@[2001:DB8::1]:a.git", "me@[2001:db8::1]:a.git"),
    ],
)
def test_ssh_addresses_are_put_into_one_form(url: str, checked: str) -> None:
    assert address.check_url(url) == address.check_url(checked) == checked


@pytest.mark.parametrize(
    "url",
    ["ssh://git@host", "ssh://git@host/", "ssh://-oProxyCommand=id/x", "ssh://-l@host/x", "git@host:-x", "a b@host:x",
     "ssh://git:hunter2hunter2@host/x", "ssh://git@host:99999/x", "git@ho\nst:x", "ssh://"],
)  # fmt: skip
def test_other_ssh_addresses_are_refused(url: str) -> None:
    with pytest.raises(PackError) as caught:
        address.check_url(url)
    assert (caught.value.failure.code, caught.value.failure.field) == ("invalid_input", "url")
    assert "hunter2" not in repr(caught.value.failure)


def test_a_remote_does_not_print_what_signs_in(ssh: SshServer) -> None:
    access = load_module("repo/_access.py").SshAccess("host", ssh.credential()["private_key"], "host key")
    shown = repr(address.Remote("https://h/x", "h", 443, "192.0.2.1", f"Basic {TOKEN}", access))
    assert TOKEN not in shown
    assert key_lines(access.private_key)[0] not in shown


# ------------------------------------------------------------------------------------------------------ front door


@NEEDS_SSHD
@pytest.mark.slow
async def test_through_the_front_door_nothing_that_is_stored_or_shown_has_a_secret(
    tmp_path: Path, server: GitServer, ssh: SshServer
) -> None:
    ssh.allow("user")
    key = ssh.credential()["private_key"]
    data = tmp_path / "data"
    data.mkdir()
    async with product(data, builtins=True, egress_allow=["127.0.0.1"]) as it:

        async def call(url: str) -> dict[str, Any]:
            answer = await command(it, "runPack", pack="repo.fetch", input={"url": url}, waitSeconds=30)
            run: dict[str, Any] = await look(
                it, answer["run"]["id"], select="steps { attempts { transcript { nodes { text } } } }"
            )
            return run

        for kind, name, fields in (
            ("git", "git", {"url": origin(server), "token": TOKEN}),
            ("ssh", "ssh", ssh.credential()),
        ):
            stored = await put(it, name, kind, fields, grants=["repo.fetch"])
            assert stored["readable"], stored
        good = [await call(server.url("plans")), await call(ssh.url(server.bare("plans")))]
        assert [run["failure"] for run in good] == [None, None]
        await put(it, "git", "git", {"token": WRONG})
        ssh.allow(None)
        bad = [await call(server.url("plans")), await call(ssh.url(server.bare("plans")))]
        assert [run["failure"]["code"] for run in bad] == ["CREDENTIAL_INVALID"] * 2
        shown = json.dumps([*good, *bad])
    kept = texts_in(data)
    assert secrets_in(shown + kept, TOKEN, WRONG) == []
    assert [line for line in key_lines(key) if line in shown + kept] == []
