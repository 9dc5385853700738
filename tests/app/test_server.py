import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from app.addresses import url_of
from app.auth.hosts import HostGuard
from app.http.pages import health_route, home_without_ui
from app.server import StartError, bind, print_start, run_app
from app.settings.server import Settings


class Probe:
    """A small application that records how it was started and stopped."""

    def __init__(self, fail=None):
        self.told = []
        self.release = asyncio.Event()
        self.entered = asyncio.Event()

        @asynccontextmanager
        async def lifespan(_app):
            if fail is not None:
                raise fail
            self.told.append("started")
            yield
            self.told.append("stopped")

        async def slow(_request):
            self.entered.set()
            await self.release.wait()
            return PlainTextResponse("done")

        self.app = Starlette(
            lifespan=lifespan,
            routes=[
                health_route(lambda: "stopping" not in self.told),
                Route("/", home_without_ui),
                Route("/slow", slow),
            ],
        )

    @asynccontextmanager
    async def running(self, settings):
        stop = asyncio.Event()
        address = asyncio.get_running_loop().create_future()

        async def announce(url):
            address.set_result(url)

        task = asyncio.create_task(
            run_app(
                self.app,
                settings,
                announce=announce,
                on_stopping=lambda: self.told.append("stopping"),
                stop=stop,
            )
        )
        await asyncio.wait({task, address}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        self.stop = stop
        async with httpx2.AsyncClient(base_url=address.result(), timeout=60, verify=False) as client:
            yield client
        stop.set()
        await task


@pytest.fixture
def settings(tmp_path):
    return Settings.load({"data_dir": tmp_path, "port": 0, "shutdown_grace_seconds": 5})


async def test_it_starts_serves_and_stops_in_order(settings):
    probe = Probe()
    async with probe.running(settings) as client:
        answer = await client.get("/healthz")
        assert (answer.status_code, answer.text) == (200, "ok\n")
        assert "server" not in answer.headers

    assert probe.told == ["started", "stopping", "stopped"]


async def test_a_request_under_way_is_finished_and_health_says_it_stops(settings):
    probe = Probe()
    async with probe.running(settings) as client:
        slow = asyncio.create_task(client.get("/slow"))
        await probe.entered.wait()
        health = await client.get("/healthz")
        assert health.status_code == 200
        probe.stop.set()
        await asyncio.sleep(0)
        probe.release.set()
        assert (await slow).text == "done"

    assert probe.told == ["started", "stopping", "stopped"]


async def test_a_request_that_takes_longer_than_the_grace_is_told_so(tmp_path, caplog):
    settings = Settings.load({"data_dir": tmp_path, "port": 0, "shutdown_grace_seconds": 1})
    probe = Probe()
    async with probe.running(settings) as client:
        slow = asyncio.create_task(client.get("/slow"))
        await probe.entered.wait()
        probe.stop.set()
        answer = await slow
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "check before you repeat it" in answer.text
    assert [record for record in caplog.records if record.exc_info] == []


async def test_what_the_start_raises_comes_out_and_nothing_listens(settings):
    probe = Probe(fail=RuntimeError("another server owns the folder"))
    with pytest.raises(RuntimeError, match="another server owns the folder"):
        async with probe.running(settings):
            pass


def test_a_taken_port_is_named_with_the_remedy():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=rf"Cannot listen on 127\.0\.0\.1 port {port}: .*--port \(PACKLINE_PORT\)"):
            bind("127.0.0.1", port)


def test_an_unknown_host_is_named():
    with pytest.raises(StartError, match=r"PACKLINE_HOST \(--host\) is `300\.1\.2\.3`"):
        bind("300.1.2.3", 0)


def test_all_addresses_of_a_name_get_one_port():
    listeners = bind("localhost", 0)
    try:
        assert len({listener.getsockname()[1] for listener in listeners}) == 1
    finally:
        for listener in listeners:
            listener.close()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:1"),
        ("0.0.0.0", "http://127.0.0.1:1"),
        ("::1", "http://[::1]:1"),
        ("pack.example", "http://pack.example:1"),
    ],
)
def test_the_address_people_are_given(host, url):
    assert url_of(host, 1) == url


def test_what_is_said_at_start(capsys):
    print_start("http://127.0.0.1:1", link="http://127.0.0.1:1/login#abc", host="127.0.0.1")
    first = capsys.readouterr().out
    assert "http://127.0.0.1:1/login#abc" in first

    print_start("http://127.0.0.1:1", link=None, host="0.0.0.0")
    later = capsys.readouterr().out
    assert "packline token login-link" in later
    assert "every request needs a token" in later


async def test_the_page_without_a_page_build_says_what_to_run(settings):
    async with Probe().running(settings) as client:
        answer = await client.get("/")
    assert "make ui" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


SCRIPT = """
import asyncio, sys
from starlette.applications import Starlette
from app.http.pages import health_route
from app.server import run_app
from app.settings.server import Settings
app = Starlette(routes=[health_route(lambda: True)])
async def announce(url):
    print(url, flush=True)
asyncio.run(run_app(app, Settings.load({"data_dir": sys.argv[1], "port": 0}), announce=announce))
print("stopped well")
"""


@pytest.mark.parametrize(("number", "name"), [(signal.SIGTERM, "{}/notify"), (signal.SIGINT, "@{}")])
def test_signals_end_the_process_with_success_and_the_supervisor_hears_of_both(number, name, tmp_path):
    address = name.format(tmp_path)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "NOTIFY_SOCKET": address}
    supervisor = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    supervisor.bind(address.replace("@", "\0"))
    supervisor.settimeout(60)
    started = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with supervisor, subprocess.Popen(started, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        assert supervisor.recv(64) == b"READY=1"
        process.send_signal(number)
        assert supervisor.recv(64) == b"STOPPING=1"
        assert process.stdout.read().endswith("stopped well\n")
        assert process.wait(60) == 0


async def test_a_socket_that_is_refused_is_told_why_and_is_no_error_of_ours(settings, caplog):
    probe = Probe()
    probe.app = HostGuard(probe.app)
    caplog.set_level(logging.INFO)
    async with probe.running(settings) as client:
        port = client.base_url.port
        for name, headers, status, word in (
            ("127.0.0.1", {"origin": "https://elsewhere.example"}, 403, "PACKLINE_ALLOWED_ORIGINS"),
            ("elsewhere.example", {}, 400, "PACKLINE_ALLOWED_HOSTS"),
        ):
            url = f"ws://{name}:{port}/graphql"
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, additional_headers=headers, proxy=None, host="127.0.0.1", port=port)
            assert refused.value.response.status_code == status
            assert word in refused.value.response.body.decode()
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []
