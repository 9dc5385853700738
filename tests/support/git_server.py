"""A real Git server on loopback: bare repositories made in a test's folder, served over smart HTTP.

    with GitServer(tmp_path) as server:
        commit = server.add_repository("demo", {"README.md": "# Demo"})
        server.url("demo")  # http://127.0.0.1:PORT/demo.git

Each request runs `git http-backend` as a CGI program, so what answers is Git itself.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import os
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_MOMENT = "2026-01-02T03:04:05+00:00"
_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.test",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.test",
    "GIT_AUTHOR_DATE": _MOMENT,
    "GIT_COMMITTER_DATE": _MOMENT,
}


def git(cwd: Path, *arguments: str) -> str:
    """Runs Git with nothing of this machine's configuration, and gives what it printed."""
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env=_ENVIRONMENT, check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout.strip()


@dataclass
class GitServer:
    """The server; a context manager.

    Attributes:
        folder: Where repositories are kept.
        redirects: Path of a request (without query) to the `Location` it is answered with.
        statuses: Start of a path to the status that every request below it is answered with.
        requests: Methods and paths of all requests, in order.
        password: `account:password` without which everything is refused; None for a public server.
        authorizations: The `Authorization` of all requests that have one, in order.
    """

    folder: Path
    redirects: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    password: str | None = None
    authorizations: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._bare.mkdir(parents=True, exist_ok=True)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def port(self) -> int:
        """TCP port on 127.0.0.1."""
        return int(self._http.server_address[1])

    @property
    def _bare(self) -> Path:
        return self.folder / "git-server"

    def bare(self, name: str) -> Path:
        """The repository that is served, which `ssh_server` can serve as well."""
        return self._bare / f"{name}.git"

    def url(self, name: str, *, host: str = "127.0.0.1") -> str:
        """Address of a repository."""
        return f"http://{host}:{self.port}/{name}.git"

    def work_tree(self, name: str) -> Path:
        """Where a repository's files are; commit there with `git`, then `publish`."""
        return self.folder / "git-work" / name

    def add_repository(
        self, name: str, files: dict[str, str | bytes], *, links: dict[str, str] | None = None, branch: str = "main"
    ) -> str:
        """Makes a repository of one commit and serves it; gives the commit."""
        tree = self.work_tree(name)
        tree.mkdir(parents=True)
        git(tree, "init", "-q", f"--initial-branch={branch}")
        for path, content in files.items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        for path, destination in (links or {}).items():
            (tree / path).symlink_to(destination)
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "--allow-empty", "-m", "First")
        self.publish(name)
        return git(tree, "rev-parse", "HEAD")

    def publish(self, name: str) -> None:
        """Serves what the work tree holds now: all branches and tags."""
        bare = self._bare / f"{name}.git"
        if not bare.exists():
            git(self._bare, "clone", "-q", "--bare", str(self.work_tree(name)), str(bare))
            git(bare, "config", "http.receivepack", "true" if self.password is not None else "false")
        git(self.work_tree(name), "push", "-q", "--all", str(bare))
        git(self.work_tree(name), "push", "-q", "--tags", str(bare))


def run_backend(
    root: Path, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes, user: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    """What Git itself answers to a request: status, headers and body.

    Args:
        root: Folder of the repositories.
        method: Of the request.
        path: Without the query.
        query: Without the question mark.
        headers: With names in lower case.
        body: Unpacked.
        user: Who is signed in; Git lets nobody else push.
    """
    environment = {
        **_ENVIRONMENT,
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": headers.get("git-protocol") or "",
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": headers.get("content-type") or "",
        "CONTENT_LENGTH": str(len(body)),
        "REMOTE_ADDR": "127.0.0.1",
        **({} if user is None else {"REMOTE_USER": user}),
    }
    done = subprocess.run(
        ["git", "http-backend"], env=environment, input=body, capture_output=True, check=False, timeout=60
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    told = [line.partition(": ") for line in head.decode("latin-1").split("\r\n") if line]
    status = next((int(value.split()[0]) for name, _, value in told if name.lower() == "status"), 200)
    return status, {name: value for name, _, value in told if name.lower() not in {"status", "content-length"}}, content


def _handler(server: GitServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            self._answer(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)

        def _answer(self, body: bytes) -> None:
            parts = urlsplit(self.path)
            server.requests.append((self.command, self.path))
            given = self.headers.get("authorization")
            if given is not None:
                server.authorizations.append(given)
            status = next((code for start, code in server.statuses.items() if parts.path.startswith(start)), None)
            if status is not None:
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()
                return
            user = None
            if server.password is not None:
                user = server.password.partition(":")[0]
                if given != "Basic " + base64.b64encode(server.password.encode()).decode():
                    self.send_response(401)
                    self.send_header("www-authenticate", 'Basic realm="Git"')
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
            if parts.path in server.redirects:
                self.send_response(301)
                self.send_header("location", server.redirects[parts.path])
                self.send_header("content-length", "0")
                self.end_headers()
                return
            self._run_backend(parts.path, parts.query, body, user)

        def _run_backend(self, path: str, query: str, body: bytes, user: str | None) -> None:
            given = {k.lower(): v for k, v in self.headers.items()}
            status, headers, content = run_backend(server._bare, self.command, path, query, given, body, user)
            with contextlib.suppress(ConnectionError):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

    return Handler
