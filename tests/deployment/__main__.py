"""`make deployment`: docs/deployment.md as an operator follows it, on a Debian that can be thrown away.

    sudo .venv/bin/python -m tests.deployment --this-machine

Builds the wheel of an earlier commit and of this one. Then, with the commands of the document, away from the sources:
installs the earlier one, runs it as a service behind nginx with TLS, signs in, lets a schedule fire, upgrades (the
process is killed while it migrates), looks for everything that was there, and rolls back. It adds a user, writes to
/opt, /var/lib, /usr/local/bin and /etc, and removes what it wrote at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from tests.deployment.service import Service
from tests.support.openid_provider import real_provider
from tests.support.otlp_receiver import otlp_receiver
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.support.openid_provider import RealProvider
    from tests.support.otlp_receiver import Collector

ROOT = Path(__file__).parents[2]
DATA, PROGRAM, WRAPPER = Path("/var/lib/packline"), Path("/opt/packline"), Path("/usr/local/bin/packline")
NEWER = Path("/var/lib/packline.newer")
CONFIGURATION = Path("/etc/packline")
UNIT = Path("/etc/systemd/system/packline.service")
CERTIFICATE = Path("/etc/ssl/packline.example.pem")
HOSTS = Path("/etc/hosts")
NAME = "packline.example"
#: The document's names for the two wheels.
OLD, NEW = "0.1.0", "0.2.0"
_FENCE = re.compile(r"```sh\n(.*?)```", re.DOTALL)
#: The document's address of a collector of traces.
_COLLECTOR = "http://127.0.0.1:4318"
_SINGLE_SIGN_ON = """
oidc_issuer = "{issuer}"
oidc_client_id = "packline"
oidc_scopes = "groups=ops:read,run,write"
"""
_SCHEDULE = """mutation { createTrigger(pipeline: "sample", name: "watch", schedule: {intervalSeconds: 2},
    inputs: {practice_failure: false}) { __typename ... on Problem { message } } }"""
_FIRED = "query { runs(first: 100) { nodes { id state trigger { name } } } }"


def say(text: str) -> None:
    print(f"== {text}", flush=True)


def shell(command: str, *, cwd: Path | None = None, check: bool = True) -> str:
    """What a command printed.

    Raises:
        SystemExit: it failed, with its words.
    """
    done = subprocess.run(["bash", "-c", command], cwd=cwd, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"{command}\n{done.stdout}{done.stderr}\nended with status {done.returncode}")
    return done.stdout + ("" if check else done.stderr)


class Operator:
    """Somebody with the document, its `deploy/` and the wheels, and without the sources."""

    def __init__(self, home: Path, collector: str) -> None:
        self.home = home
        self.collector = collector
        self.service = Service(home / "packline.log")
        self.document = (ROOT / "docs" / "deployment.md").read_text()

    def follow(self, heading: str, *, fence: int = 0, beside: Mapping[str, Callable[[], None]] | None = None) -> None:
        """Runs the commands of a fenced block below a heading; beside a line, what `beside` has for it."""
        section = self.document.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
        for line in _FENCE.findall(section)[fence].strip().splitlines():
            command = line.replace("file:///tmp/", f"file://{self.home}/").replace(_COLLECTOR, self.collector)
            say(f"$ {line}")
            with ThreadPoolExecutor() as threads:
                other = threads.submit((beside or {}).get(line, lambda: None))
                if command.startswith("sudo systemctl "):
                    self.service.control(*command.split()[2:])
                else:
                    shell(command, cwd=self.home)
                other.result()

    def packline(self, words: str) -> Any:
        """The answer of a command, as JSON."""
        return json.loads(shell(f"sudo packline {words} --json", cwd=self.home))

    def kill_while_migrating(self) -> None:
        """Kills the service when it has copied the database and changes its schema.

        Raises:
            TimeoutError: it copied none, so it migrated nothing.
        """
        asyncio.run(eventually(lambda: any(DATA.glob("*.backup"))))
        self.service.kill()
        say("the service was killed while it migrated")


# -- the wheels --------------------------------------------------------------------------------------------


def earlier_commit() -> str:
    """The commit before the newest migration, so that the upgrade has something to migrate."""
    newest = shell("git log -1 --diff-filter=A --format=%H -- store/migrations/versions", cwd=ROOT).strip()
    parent = shell(f"git rev-parse --verify --quiet {newest}^", cwd=ROOT, check=False).strip()
    if not parent:
        raise SystemExit("the history of this clone is too short for an earlier commit; run `git fetch --unshallow`")
    return parent


def build_wheel(commit: str, version: str, into: Path) -> None:
    """Builds the wheel of a commit under a version of its own; the web page is the one built here."""
    with tempfile.TemporaryDirectory(prefix="packline-sources-") as folder:
        shell(f"git archive {commit} | tar -x -C {folder}", cwd=ROOT)
        declared = Path(folder) / "pyproject.toml"
        declared.write_text(re.sub(r'(?m)^version = ".*"', f'version = "{version}"', declared.read_text(), count=1))
        if (page := ROOT / "app" / "ui_dist").is_dir():
            shutil.copytree(page, Path(folder) / "app" / "ui_dist", dirs_exist_ok=True)
        shell(f"{sys.executable} -m build --wheel --outdir {into} {folder}")


# -- the machine -------------------------------------------------------------------------------------------


@contextmanager
def machine() -> Iterator[Path]:
    """The home of the operator, on a machine without Packline; afterwards it is without it again.

    Raises:
        SystemExit: Packline is installed here already.
    """
    for path in (DATA, NEWER, PROGRAM, WRAPPER, UNIT, CONFIGURATION):
        if path.exists():
            raise SystemExit(f"{path} exists: this needs a machine without Packline")
    hosts = HOSTS.read_text()
    home = Path(tempfile.mkdtemp(prefix="packline-operator-"))
    home.chmod(0o755)
    try:
        HOSTS.write_text(f"{hosts.rstrip()}\n127.0.0.1 {NAME}\n")
        yield home
    finally:
        HOSTS.write_text(hosts)
        shell("pkill --signal KILL --uid packline; userdel packline", check=False)
        for path in (DATA, NEWER, PROGRAM, CONFIGURATION, home):
            shutil.rmtree(path, ignore_errors=True)
        for path in (WRAPPER, UNIT, CERTIFICATE, CERTIFICATE.with_suffix(".key")):
            path.unlink(missing_ok=True)


@contextmanager
def nginx(home: Path) -> Iterator[ssl.SSLContext]:
    """The shipped site with a certificate of its own; what trusts that certificate."""
    shell(
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} -addext subjectAltName=DNS:{NAME}"
        f" -keyout {CERTIFICATE.with_suffix('.key')} -out {CERTIFICATE}"
    )
    configuration = home / "nginx.conf"
    configuration.write_text(
        f"pid {home}/nginx.pid; error_log {home}/nginx.log; events {{}}\n"
        f"http {{ access_log off; include {home}/deploy/nginx/packline.conf; }}\n"
    )
    shell(f"nginx -c {configuration}")
    try:
        yield ssl.create_default_context(cafile=str(CERTIFICATE))
    finally:
        shell(f"nginx -c {configuration} -s stop")


# -- the way -----------------------------------------------------------------------------------------------


def browser(trust: ssl.SSLContext) -> httpx2.AsyncClient:
    """A browser's requests through the proxy."""
    return httpx2.AsyncClient(base_url=f"https://{NAME}", verify=trust, timeout=20)


async def ask(http: httpx2.AsyncClient, query: str) -> Any:
    """The data of a GraphQL answer; the session of the browser is enough."""
    answer = (await http.post("/graphql", json={"query": query}, headers={"origin": f"https://{NAME}"})).json()
    assert not answer.get("errors"), answer["errors"]
    return answer["data"]


async def sign_in_by_link(operator: Operator, http: httpx2.AsyncClient) -> None:
    """Signs a browser in by a link that works once."""
    say("sign in by a link")
    address, _, secret = operator.packline("token login-link")["url"].partition("#")
    assert address == f"https://{NAME}/login", address
    answer = await http.post("/login", json={"token": secret})
    assert answer.status_code == 303, answer.text


async def sign_in_at(provider: RealProvider, http: httpx2.AsyncClient) -> None:
    """Signs a browser in at the provider, and shows that the server knows who it is."""
    say("sign in at the provider")
    begun = await http.get("/login/provider")
    assert begun.status_code in {302, 303}, begun.text
    back = await http.get(await provider.sign_in(http, begun.headers["location"], "ada"))
    assert back.status_code == 303, back.text
    viewer = (await ask(http, "{ viewer { subject } }"))["viewer"]
    assert viewer == {"subject": "ada"}, viewer


async def answers(http: httpx2.AsyncClient, version: str) -> None:
    """Waits until the service answers through the proxy, to the browser that was signed in, with this version."""

    async def found() -> bool:
        try:
            return (await http.get("/healthz")).status_code == 200
        except httpx2.HTTPError:
            return False

    await eventually(found, seconds=120)
    reported = (await ask(http, "{ server { version } }"))["server"]["version"]
    assert reported == version, reported
    say(f"{version} answers through the proxy")


async def fired(http: httpx2.AsyncClient) -> list[str]:
    """The ids of the runs of the schedule that succeeded, newest first."""
    runs = (await ask(http, _FIRED))["runs"]["nodes"]
    return [run["id"] for run in runs if run["trigger"] and run["state"] == "SUCCEEDED"]


async def fires_again(http: httpx2.AsyncClient) -> list[str]:
    """Waits for one more run of the schedule; all of them."""
    before = set(await fired(http))

    async def more() -> list[str]:
        now = await fired(http)
        return now if set(now) - before else []

    found = await eventually(more, seconds=60)
    say(f"the schedule fired; {len(found)} runs of it succeeded")
    return found


async def watched(collector: Collector) -> None:
    """Waits for the trace of a firing's run, and looks for the firing in the metrics, which this machine may read."""
    firing = await collector.first("fire trigger")
    run = await collector.until(
        lambda: next((span for span in collector.spans if span.name == "run" and span.trace != firing.trace), None)
    )
    await collector.trace(run.trace, "run", "step")
    async with httpx2.AsyncClient() as http:
        metrics = (await http.get("http://127.0.0.1:8420/metrics")).text
    assert re.search(r"packline_trigger_firings_total\{.*\} [1-9]", metrics), metrics
    say("a run's trace and the metrics of its trigger are there")


async def deployment(operator: Operator, provider: RealProvider, collector: Collector) -> None:
    """Goes the whole way; every step checks what the operator would look at."""
    operator.follow("Install on one machine")
    with nginx(operator.home) as trust:
        operator.follow("TLS and a name")
        shell(f"sudo -u packline tee -a {DATA}/packline.toml <<< '{_SINGLE_SIGN_ON.format(issuer=provider.issuer)}'")
        operator.follow("Watch it")
        async with browser(trust) as admin, browser(trust) as http:
            await sign_in_by_link(operator, admin)
            await answers(admin, OLD)
            await sign_in_at(provider, http)
            say("store a credential")
            shell(
                "sudo packline credential set github --kind github --from-stdin <<< ghp_example_of_a_token",
                cwd=operator.home,
            )
            say("a schedule fires")
            await ask(http, _SCHEDULE)
            old = await fires_again(http)
            await watched(collector)

            operator.follow("Upgrade", beside={"sudo systemctl restart packline": operator.kill_while_migrating})
            await answers(http, NEW)
            new = await fires_again(http)
            assert set(old) <= set(new), "runs were lost by the upgrade"

            operator.follow("Roll back")
            await answers(http, OLD)
            back = await fires_again(http)
            assert set(old) <= set(back), "runs were lost by rolling back"
            assert '"github"' in shell("sudo packline credential list --json", cwd=operator.home)
            findings = map(json.loads, shell("sudo packline doctor --json", cwd=operator.home).splitlines())
            vault = [found for found in findings if "vault" in found["what"]]
            assert vault, "nothing is said of the vault"
            assert all(found["state"] == "works" for found in vault), vault


async def with_neighbours(home: Path) -> None:
    """Goes the way beside an OpenID provider that knows the page and ada, and a collector of traces."""
    page = {
        "client_id": "packline",
        "redirect_uris": [f"https://{NAME}/login/callback"],
        "token_endpoint_auth_method": "none",
    }
    people = {"ada": {"groups": ["ops"]}}
    async with real_provider(clients=[page], people=people) as provider, otlp_receiver() as collector:
        operator = Operator(home, collector.url)
        try:
            await deployment(operator, provider, collector)
        except BaseException:
            print(operator.service.tail(), file=sys.stderr)
            raise
        finally:
            operator.service.control("stop", "packline")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--this-machine", action="store_true", required=True, help="yes, change this machine")
    parser.parse_args()
    if os.geteuid():
        raise SystemExit("run it as root: it adds a user and installs a service")
    with machine() as home:
        earlier = earlier_commit()
        say(f"from {earlier[:12]} to {shell('git rev-parse --short=12 HEAD', cwd=ROOT).strip()}")
        shell(f"git archive {earlier} deploy | tar -x -C {home}", cwd=ROOT)
        build_wheel(earlier, OLD, home)
        build_wheel("HEAD", NEW, home)
        asyncio.run(with_neighbours(home))
    say("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
