"""What a start must not import: most servers never use it, and a second of CPU or 100 MB go with it."""

import json
import os
import subprocess
import sys

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
