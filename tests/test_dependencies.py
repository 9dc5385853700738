"""What the product imports, and what `pyproject.toml` declares."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = ("app", "schema", "resolvers", "catalog", "runner", "store", "packline", "builtins")
#: Known to type checkers alone.
STUBS = {"_typeshed"}
#: Where a library of an extra may be imported.
PLACES = {
    "llm": ("runner",),
    "web": ("builtins/packs/web",),
    "doc": ("builtins/packs/doc", "builtins/packs/image", "runner"),
    "slides": ("builtins/packs/slides", "builtins/packs/doc"),
    "audio": (*(f"builtins/packs/{area}" for area in ("_audio", "podcast", "slides", "video")), "runner"),
    "email": ("builtins/packs/email", "runner"),
    "postgres": ("store",),
    "s3": ("store",),
    "otel": ("app",),
    "a2a": ("app/a2a",),
}
#: Declared, though nothing of ours imports it.
NOT_IMPORTED = {
    "tzdata": "zoneinfo reads it on systems that have no time zones of their own",
    "lxml-html-clean": "justext needs it by an extra of lxml that pip before 23.3 does not recognize",
}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> dict[str, str]:
    """The extra each distribution is declared in; "" is what every installation has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    found: dict[str, str] = {}
    for extra, requirements in groups.items():
        for requirement in requirements:
            name = re.match(r"[\w.-]+", requirement)
            assert name is not None
            if name[0] != "packline":
                assert normalized(name[0]) not in found, f"{name[0]} is declared twice"
                found[normalized(name[0])] = extra
    return found


@cache
def imports() -> dict[str, set[str]]:
    """The files that import each top-level module of others."""
    found: dict[str, set[str]] = {}
    for folder in OURS:
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                for name in names:
                    found.setdefault(name.partition(".")[0], set()).add(file.relative_to(ROOT).as_posix())
    return {name: files for name, files in found.items() if name not in {*sys.stdlib_module_names, *OURS, *STUBS}}


def test_each_import_is_declared_where_it_is_needed():
    providers, extras = packages_distributions(), declared()
    wrong: list[str] = []
    for module, files in imports().items():
        homes = [extras[name] for name in map(normalized, providers.get(module, ())) if name in extras]
        if not homes:
            wrong.append(f"{module} is not declared; {min(files)} imports it")
        elif "" not in homes:
            places = tuple(f"{place}/" for home in homes for place in PLACES[home])
            wrong += [f"{file} imports {module} of the extra {homes}" for file in files if not file.startswith(places)]
    assert sorted(wrong) == []


def test_each_declared_library_is_imported_or_has_a_reason():
    providers = packages_distributions()
    used = {normalized(name) for module in imports() for name in providers.get(module, ())}
    assert declared().keys() - used == NOT_IMPORTED.keys()


def test_packs_name_the_extra_that_brings_their_library():
    providers, extras = packages_distributions(), declared()
    named: set[tuple[str, str]] = set()
    for file in (ROOT / "builtins").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name("python_module"),
                    args=[ast.Constant(str(module))],
                    keywords=[ast.keyword("extra", ast.Constant(str(extra)))],
                ):
                    named.add((module, extra))
    assert named
    for module, extra in named:
        assert extra in {extras.get(normalized(name)) for name in providers[module]}, module
