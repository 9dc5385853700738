"""Symbols and imports of a Python module, by the language's own parser; nothing is imported or run."""

from __future__ import annotations

import ast
import warnings

from ._symbols import Symbol, clipped

_MAX_SIGNATURE_CHARACTERS = 120
_ROLES = ("class", "func", "meth", "mod", "attr", "exc", "data", "ref", "obj")


def scan_python(path: str, text: str) -> tuple[list[Symbol], list[str]] | None:
    """Classes, functions and methods in order, and the modules imported; None when it is not Python 3."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks on the source, such as odd escapes, are none of ours
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    symbols: list[Symbol] = []
    _collect(tree.body, path, None, symbols)
    return symbols, _imports(tree, path)


def _collect(body: list[ast.stmt], path: str, parent: str | None, symbols: list[Symbol]) -> None:
    for node in body:
        if isinstance(node, ast.ClassDef):
            bases = ", ".join(name for base in node.bases if (name := _dotted(base)))
            signature = f"{node.name}({bases})" if bases else node.name
            symbols.append(_symbol(path, node, "class", signature, parent))
            if parent is None:
                _collect(node.body, path, node.name, symbols)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "method" if parent else "function"
            symbols.append(
                _symbol(path, node, kind, f"{node.name}({_parameters(node.args, bound=parent is not None)})", parent)
            )
        elif isinstance(node, ast.If | ast.Try):
            # Definitions behind `if TYPE_CHECKING:` or `try: import …` are as public as any.
            _collect(node.body, path, parent, symbols)


def _symbol(
    path: str,
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
    kind: str,
    signature: str,
    parent: str | None,
) -> Symbol:
    signature = clipped(signature, _MAX_SIGNATURE_CHARACTERS)
    return Symbol(path, node.lineno, kind, node.name, signature, parent, _summary(ast.get_docstring(node) or ""))


def _summary(docstring: str) -> str:
    """The first sentence of a docstring, Sphinx's roles taken off: ``:class:`~a.B``` becomes `` `a.B` ``."""
    text = clipped(docstring.strip().partition("\n\n")[0], 1_000)
    for role in _ROLES:
        text = text.replace(f":{role}:`", "`")
    sentence, stop, _ = text.replace("`~", "`").partition(". ")
    return clipped(sentence + stop.strip())


def _parameters(arguments: ast.arguments, *, bound: bool) -> str:
    """Names as a caller would write them, without annotations and defaults; when `bound`, without `self` or `cls`."""
    names = [argument.arg for argument in arguments.posonlyargs]
    if names:
        names.append("/")
    names += [argument.arg for argument in arguments.args]
    if arguments.vararg is not None:
        names.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        names.append("*")
    names += [argument.arg for argument in arguments.kwonlyargs]
    if arguments.kwarg is not None:
        names.append(f"**{arguments.kwarg.arg}")
    if bound and names[:1] in (["self"], ["cls"]):
        names = names[2:] if names[1:2] == ["/"] else names[1:]
    return ", ".join(names)


def _dotted(node: ast.expr) -> str:
    """`a.b` as written, subscripts left out; empty for anything else."""
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""


def _imports(tree: ast.Module, path: str) -> list[str]:
    """Dotted names of everything imported anywhere in the module, relative ones made absolute from the root."""
    package = path.split("/")[:-1]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            found.add(module)
            found.update(f"{module}.{alias.name}".strip(".") for alias in node.names if alias.name != "*")
    return sorted(found - {""})
