"""What a start must not import: most servers never use it, and a second of CPU or 100 MB go with it."""

import json
import os
import subprocess
import sys
from pathlib import Path

#: Slow or large libraries that serve packs, MCP or migrations.
LATE = {
    "authlib",
    "joserfc",
    "a2a",
    "alembic",
    "av",
    "lxml",
    "markdownify",
    "mcp",
    "numpy",
    "openai",
    "opentelemetry",
    "pdf_oxide",
    "pptx",
    "psycopg",
    "pydantic_ai",
    "python_calamine",
    "trafilatura",
    "typst",
}

SCRIPT = """
import asyncio, json, sys
from app.main import create_app
from app.settings.server import Settings

async def main():
    app = create_app(Settings.load({"data_dir": sys.argv[1]}))
    await app.start()
    print(json.dumps(sorted(name for name in sys.modules if name.count(".") < 3)))
    await app.stop()

asyncio.run(main())
"""


def test_a_start_imports_neither_pack_libraries_nor_mcp_nor_alembic(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PACKLINE_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.returncode == 0, done.stderr
    imported = set(json.loads(done.stdout.splitlines()[-1]))
    assert imported & LATE == set()
    assert "strawberry" in imported


def test_a_run_of_a_former_server_does_not_wait_for_the_import_of_the_api():
    script = (
        "import sys, app.main; print(sorted({'strawberry', 'graphql', 'schema', 'app.surfaces'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n", "the engine starts with no more than this module imports"


def test_settings_are_cheap_to_read():
    script = (
        "import sys, app.settings.server; print(sorted({'sqlalchemy', 'strawberry', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n", "every command of the command line reads them"


OFF = """
import asyncio, json, pathlib, sys
from pydantic import BaseModel
from packline import PackContext, pack
from tests.support.front_door import ran, save, step
from tests.support.loopback_http import Reply, loopback_http
from tests.support.product import product

class Nothing(BaseModel):
    pass

async def main():
    async with loopback_http({"/page": Reply()}) as site:
        @pack("test.fetch", version="1.0.0", effects="none", repeatable=True)
        async def fetch(ctx: PackContext, _given: Nothing) -> Nothing:
            await ctx.http.get(site.url("/page"))
            return Nothing()

        async with product(pathlib.Path(sys.argv[1]), [fetch], egress_allow=(f"127.0.0.1:{site.port}",)) as it:
            await save(it, "fetches", step("fetch", "test.fetch"))
            run = await ran(it, "fetches")
            print(json.dumps([run["state"], len(site.requests), *sorted(sys.modules)]))

asyncio.run(main())
"""


def test_without_an_endpoint_a_run_imports_nothing_of_opentelemetry(tmp_path):
    """Only `mcp`, which is loaded for the first agent, imports its interfaces, without the SDK."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PACKLINE_", "OTEL_"))}
    done = subprocess.run(
        [sys.executable, "-c", OFF, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    state, requests, *modules = json.loads(done.stdout.splitlines()[-1])
    assert (state, requests) == ("SUCCEEDED", 1)
    imported = {name for name in modules if name.startswith("opentelemetry")}
    assert not {name for name in imported if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))}
    assert not imported or "mcp" in modules
