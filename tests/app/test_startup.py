"""What a start must not import: it has a second and 110 MB (DESIGN 6)."""

import json
import os
import subprocess
import sys
from pathlib import Path

#: Slow or large libraries that serve packs, MCP or migrations, and only those who use them pay for them.
LATE = {
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
    "pygments",
    "python_calamine",
    "rich",
    "sqlalchemy",
    "sqlmodel",
    "trafilatura",
    "typer",
    "typst",
}

SCRIPT = """
import asyncio, json, sys
from app.startup import prepare_imports
prepare_imports()
from app.main import create_app
from app.settings import Settings

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


def test_settings_are_cheap_to_read():
    script = "import sys, app.settings; print(sorted({'sqlalchemy', 'strawberry', 'starlette'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n", "every command of the command line reads them"


def test_the_schema_of_a_start_is_the_schema():
    """A start reads annotations and declares dataclasses in ways of its own."""
    script = (
        "from app.startup import prepare_imports; prepare_imports(); "
        "import runpy; runpy.run_module('schema.build', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == (Path(__file__).parents[2] / "schema" / "schema.graphql").read_text("utf-8")


def test_the_server_is_told_the_same_as_among_all_commands():
    """`packline up` builds that command alone."""

    def help_of(command_line: str) -> str:
        script = f"from app.cli.{command_line} as cli; cli(['up', '--help'], prog_name='packline')"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    assert help_of("base import cli_up") == help_of("commands import cli")
    assert "--port" in help_of("base import cli_up")
