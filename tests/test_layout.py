"""Where our code comes from, and what imports what."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("app", "schema", "resolvers", "catalog", "runner", "store", "packline")
#: Names that a distribution in our environment must not provide: ours, and folders of the repository.
TAKEN = {*OURS, "builtins", "frontend", "tests", "scripts"}
#: Loaded when something needs them; what a server may load at its start is in tests/app/test_startup.py.
HEAVY = {"jsonschema", "mcp", "pydantic", "sqlalchemy", "starlette", "strawberry", "typst", "uvicorn"}


@pytest.mark.parametrize("name", OURS)
def test_our_packages_are_the_ones_imported(name):
    module = importlib.import_module(name)
    assert module.__file__ is not None
    assert Path(module.__file__).resolve().is_relative_to(ROOT / name)


def test_no_installed_distribution_takes_our_names():
    taken = {
        (distribution.name, file.parts[0])
        for distribution in distributions()
        if distribution.name != "packline"
        for file in distribution.files or ()
        if file.parts and file.parts[0].removesuffix(".py") in TAKEN
    }
    assert not taken, "these would shadow Packline's own packages"


def imported_modules(file: Path) -> set[str]:
    """The absolute modules a file imports, anywhere in it; relative ones as `.name`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"), str(file))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def pack_files() -> list[Path]:
    return sorted((ROOT / "builtins").rglob("*.py"))


ROOMS = [file.parent for name in OURS for file in sorted((ROOT / name).rglob("__init__.py"))]
#: The console script, GraphiQL, the names that pack authors use, and what fills the metadata with every table.
WITH_CODE = {"app/cli", "app/graphiql", "packline", "store/models"}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ROOT)))
def test_a_room_says_what_it_is_for_and_holds_no_code(room):
    tree = ast.parse((room / "__init__.py").read_text("utf-8"))
    assert ast.get_docstring(tree)
    if str(room.relative_to(ROOT)) not in WITH_CODE:
        assert len(tree.body) == 1
    if len([*room.glob("*.py")]) > 21:
        assert "Begin with" in ast.get_docstring(tree), "a wide room says where to begin reading"


@pytest.mark.parametrize("file", pack_files(), ids=lambda file: str(file.relative_to(ROOT / "builtins")))
def test_packs_import_only_the_public_api(file):
    """What ships is written as any user's pack could be."""
    reached = {module.partition(".")[0] for module in imported_modules(file)}
    assert sorted(reached & ({*OURS, "builtins", "tests"} - {"packline"})) == []


def test_builtins_is_no_package():
    """`builtins` is a module of the standard library: with an `__init__.py` the folder would be taken for it."""
    assert not (ROOT / "builtins" / "__init__.py").exists()


def test_packline_only_hands_on_what_authors_need():
    module = importlib.import_module("packline")
    tree = ast.parse((ROOT / "packline" / "__init__.py").read_text("utf-8"))
    defined = [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    assert defined == []
    for name in module.__all__:
        assert getattr(module, name) is not None


def modules_after(code: str, tmp_path: Path) -> set[str]:
    """The modules a fresh interpreter has loaded after running some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_of_the_command_line_loads_little(tmp_path):
    loaded = modules_after("import app.cli.commands", tmp_path)
    assert sorted(loaded & HEAVY) == []


def files_with(pattern: str, *packages: str) -> set[str]:
    """Files of packages in which a pattern occurs."""
    files = (file for package in packages for file in (ROOT / package).rglob("*.py"))
    return {str(file.relative_to(ROOT)) for file in files if re.search(pattern, file.read_text("utf-8"))}


def test_use_cases_change_the_store_through_their_context_alone():
    """`Context.commit` writes the audit row too, `operations` that of a refusal, a firing its own.

    So does an address of push notifications, which is no command: only A2A knows it. The health check changes nothing.
    """
    doors = {
        "resolvers/context.py",
        "resolvers/operations.py",
        "resolvers/runs/pushes.py",
        "resolvers/server/server.py",
        "resolvers/triggers/deliveries.py",
        "resolvers/triggers/firing.py",
        "resolvers/triggers/run_ends.py",
    }
    assert files_with(r"\bstore\.write", "resolvers", "schema") == doors


def test_only_the_store_knows_which_database_it_is():
    assert files_with(r"dialect\b\W*(==|!=|is\b|in\b|\])", "resolvers", "catalog", "runner") == set()


def test_every_test_folder_mirrors_a_package():
    known = {
        *OURS,
        "builtins",
        "support",
        "contract",
        "examples",
        "faults",
        "bench",
        "browser",
        "llm",
        "scripts",
        "soak",
        "deployment",
        "__pycache__",
    }
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert folders <= known
