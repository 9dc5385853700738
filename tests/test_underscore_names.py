"""Where the product touches a name of a library that begins with an underscore: a few places, each with its reason."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
OURS = ("app", "schema", "resolvers", "catalog", "runner", "store", "packline", "builtins")
#: Documented, so that the underscore only keeps them apart: named tuples, `os._exit`, `sys._current_frames`, typeshed.
DOCUMENTED = {"_current_frames", "_asdict", "_field_defaults", "_fields", "_make", "_replace", "_exit", "_typeshed"}
#: The files and names, by reason.
LISTED: dict[str, tuple[tuple[str, str], ...]] = {
    "graphql-core's schema has no public name: https://github.com/strawberry-graphql/strawberry/issues/2590": (
        ("app/mcp/tools/toolbox.py", "_schema"),
        ("schema/build.py", "_schema"),
        ("schema/guard/guarded_schema.py", "_schema"),
    ),
    "Neither bullets, indents and direction of a paragraph nor struck text have an interface: "
    "https://github.com/scanny/python-pptx/issues/100 and https://github.com/scanny/python-pptx/issues/574": (
        ("builtins/packs/slides/_pptx_xml.py", "_p"),
        ("builtins/packs/slides/_pptx_xml.py", "_r"),
    ),
}


def is_private(name: str) -> bool:
    """One leading underscore; `__x__` is the language's, `_x_` an enum's."""
    return name.startswith("_") and not name.endswith("_") and name not in DOCUMENTED


@cache
def trees() -> dict[str, ast.Module]:
    files = sorted(file for folder in OURS for file in (ROOT / folder).rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8")) for file in files}


def defined_in(tree: ast.AST) -> set[str]:
    """The names that some code gives to functions, classes, variables, fields and attributes."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found.add(name)
            case ast.Attribute(ast.Name("self" | "cls"), name, ast.Store()) | ast.Name(name, ast.Store()):
                found.add(name)
            case ast.Assign([ast.Name("__slots__")], slots):
                found.update(slot.value for slot in ast.walk(slots) if isinstance(slot, ast.Constant))
    return found


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def own_names(node: ast.ClassDef, seen: frozenset[str] = frozenset()) -> set[str]:
    """What a class and those of ours that it derives from define."""
    found = defined_in(node)
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        if name not in seen:
            for parent in classes().get(name, ()):
                found |= own_names(parent, seen | {node.name})
    return found


def touched(node: ast.AST, known: set[str], own: set[str]) -> Iterator[str]:
    """The private names below a node that nothing of ours defines.

    Args:
        node: Where to look.
        known: The names that the file defines, on whatever object.
        own: Those that the class around defines, its bases included.
    """
    match node:
        case ast.ClassDef():
            own = own_names(node)
        case ast.Import(aliases):
            yield from (part for alias in aliases for part in alias.name.split(".") if is_private(part))
        case ast.ImportFrom(str(module), aliases, 0) if module.partition(".")[0] not in OURS:
            parts = [*module.split("."), *(alias.name for alias in aliases)]
            if module not in DOCUMENTED:
                yield from (part for part in parts if is_private(part))
        case ast.Attribute(ast.Name("self" | "cls") | ast.Call(ast.Name("super")), name) if is_private(name):
            if name not in own:
                yield name
        case ast.Attribute(_, name) if is_private(name) and name not in known:
            yield name
        case ast.Call(ast.Name("getattr" | "setattr" | "hasattr" | "delattr"), [_, ast.Constant(str(name)), *_]):
            if is_private(name) and name not in known:
                yield name
    for child in ast.iter_child_nodes(node):
        yield from touched(child, known, own)


def overridden() -> Iterator[tuple[str, str]]:
    """The private names of ours that a class of a library, which we derive from, has already."""
    for file, tree in trees().items():
        for node in ast.iter_child_nodes(tree):
            # Packs are loaded by path, and migrations by Alembic; neither derives from a class of a library.
            if not isinstance(node, ast.ClassDef) or not node.bases or "/migrations/" in file:
                continue
            names = {name for name in defined_in(node) if is_private(name)}
            if not names or file.startswith("builtins/"):
                continue
            module = importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
            for parent in getattr(module, node.name).__mro__:
                if parent.__module__.partition(".")[0] not in OURS:
                    yield from ((file, name) for name in names & vars(parent).keys())


def test_private_names_of_libraries_are_listed_with_a_reason():
    found = {(file, name) for file, tree in trees().items() for name in touched(tree, defined_in(tree), set())}
    found |= set(overridden())
    listed = {place for places in LISTED.values() for place in places}
    assert sorted(found - listed) == [], "use what the library documents, or list the place with reason and link"
    assert sorted(listed - found) == [], "gone; take it off the list"
