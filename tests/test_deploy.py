"""What `deploy/` ships: settings that exist, files that systemd and nginx read, and a proxy that passes streams."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from ruamel.yaml import YAML

from app.settings.server import Settings
from tests.support.front_door import save, start, step
from tests.support.graphql_client import GraphQLClient, GraphQLSocket
from tests.support.packs import Workbench
from tests.support.ports import free_port
from tests.support.product import ADMIN_TOKEN, product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DEPLOY = Path(__file__).parents[1] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
_WATCH = """subscription ($id: ID!) { runEvents(id: $id) { __typename
    ... on RunEventBatch { events { sequence } } } }"""


def test_every_setting_that_is_named_exists() -> None:
    files = [file for file in DEPLOY.rglob("*") if file.is_file()]
    assert len(files) >= 8
    named = {name for file in files for name in re.findall(r"PACKLINE_[A-Z_0-9]+", file.read_text())}
    known = {f"PACKLINE_{name.upper()}" for name in Settings.model_fields}
    assert named <= known, named - known
    assert {"PACKLINE_DATA_DIR", "PACKLINE_VAULT_KEY", "PACKLINE_PUBLIC_URL"} <= named


def test_the_composition_has_a_server_workers_and_all_they_need() -> None:
    composition = YAML(typ="safe").load((DEPLOY / "compose.yaml").read_text())
    services = composition["services"]
    commands = {name: service["command"] for name, service in services.items() if service["image"] == "packline"}
    assert commands == {"migrate": ["migrate"], "server": ["up", "--no-worker"], "worker": ["worker"]}
    assert services["worker"]["deploy"]["replicas"] == 2
    for name in commands:
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
    volumes = {mount.split(":")[0] for service in services.values() for mount in service.get("volumes", ())}
    assert volumes == set(composition["volumes"])
    needed = {other for service in services.values() for other in service.get("depends_on", ())}
    assert needed <= set(services)


# Not every developer's machine has the two programs. CI installs them and counts a skip as a failure.
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_reads_the_units_and_finds_them_closed(unit: Path, tmp_path: Path) -> None:
    installed = tmp_path / unit.name
    program = shutil.which("true") or "/bin/true"
    installed.write_text(unit.read_text().replace("/opt/packline/bin/packline", program))
    verified = subprocess.run(["systemd-analyze", "verify", installed], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=40", installed],
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout[-300:]


@asynccontextmanager
async def nginx(folder: Path, port: int, upstream: int) -> AsyncIterator[None]:
    """nginx with the shipped site, on a port of loopback and without TLS."""
    site = (DEPLOY / "nginx" / "packline.conf").read_text()
    site = site.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace(
        "127.0.0.1:8420", f"127.0.0.1:{upstream}"
    )
    site = re.sub(r" *ssl_certificate\S* .*\n", "", site)
    folders = "".join(f"{name}_temp_path {folder};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ access_log off;\n{folders}{site}}}\n"
    )
    process = await asyncio.create_subprocess_exec("nginx", "-e", f"{folder}/error.log", "-c", str(configuration))
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


# As above: CI installs it.
@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed; install the package `nginx-light`")
async def test_nginx_passes_websockets_event_streams_and_uploads(tmp_path: Path) -> None:
    bench, port = Workbench(), free_port()
    address = f"http://127.0.0.1:{port}"
    headers = {"authorization": f"Bearer {ADMIN_TOKEN}"}
    (tmp_path / "nginx").mkdir()
    async with (
        product(tmp_path / "server", bench.packs, public_url=address) as it,
        nginx(tmp_path / "nginx", port, httpx2.URL(it.url()).port or 0),
        httpx2.AsyncClient(base_url=address, headers=headers, timeout=20) as http,
    ):

        async def answers() -> bool:
            try:
                return (await http.get("/healthz")).status_code == 200
            except httpx2.ConnectError:
                return False

        await eventually(answers)
        await save(it, "slow", step("wait", "test.slow"))
        run = (await start(it, "slow"))["run"]["id"]
        await bench.started.wait()

        # Both show what has happened while the run goes on: neither waits in a buffer for the end.
        async with GraphQLSocket.open(f"ws://127.0.0.1:{port}/graphql", token=ADMIN_TOKEN) as socket:
            first = await anext(aiter(socket.subscribe(_WATCH, {"id": run})))
        assert first["data"]["runEvents"]["events"][0]["sequence"] == 1
        through = GraphQLClient(f"{address}/graphql", token=ADMIN_TOKEN)
        async for name, data in through.stream(_WATCH, {"id": run}):
            if name == "next":
                assert data is not None
                assert data["data"]["runEvents"]["events"][0]["sequence"] == 1
                break
        bench.release.set()

        content = b"x" * (3 << 20)
        made = (await http.post("/artifacts?name=a.bin", content=content)).json()["artifact"]
        assert (await http.get(f"/artifacts/{made['id']}")).content == content
        refused = await http.get("/metrics")
        assert (refused.status_code, "PACKLINE_METRICS_TOKEN" in refused.text) == (403, True)
