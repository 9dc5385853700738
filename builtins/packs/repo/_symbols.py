"""Symbols of source files by reading lines: what a person skimming the left margin would see.

No grammar and no regular expression, so no input can make it slow. Strings that span lines and code on one line with
something else may mislead it; Python has a real parser in `_python`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_MAX_LINE_CHARACTERS = 1_000
_MAX_NAME_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something a file defines.

    Attributes:
        path: The file, from the root of the map.
        line: Counts from 1.
        kind: `class`, `function`, `method`, `struct`, `enum`, `interface`, `trait`, `type`, `module`, `constant` or
            `table`.
        name: Its name.
        signature: The name with parameters or bases, as far as they were seen.
        parent: Class, struct or module that contains it, or None.
        summary: First sentence of its documentation, or empty.
    """

    path: str
    line: int
    kind: str
    name: str
    signature: str
    parent: str | None
    summary: str


@dataclass(frozen=True, slots=True)
class _Language:
    """How a language announces definitions.

    Attributes:
        keywords: Word before the name, to the kind of symbol; those in `_CONTAINERS` hold other symbols.
        modifiers: Words that may stand before the keyword.
        comment: What begins a comment to the end of the line.
        c_functions: Whether a line at the margin such as `int main(int argc)` defines a function.
        ignores_case: Whether keywords are written in any case.
    """

    keywords: dict[str, str]
    modifiers: frozenset[str] = frozenset()
    comment: str = "//"
    c_functions: bool = False
    ignores_case: bool = False


_CONTAINERS = frozenset({"class", "struct", "interface", "trait", "module", "enum"})
_TYPES = {"class": "class", "interface": "interface", "enum": "enum"}
_ACCESS = frozenset({"public", "private", "protected", "internal", "static", "final", "abstract", "open", "override"})
_SCRIPT = _Language(
    {
        **_TYPES,
        "function": "function",
        "function*": "function",
        "type": "type",
        "namespace": "module",
        "const": "constant",
    },
    frozenset({"export", "default", "async", "declare", "abstract"}),
)
_C = _Language(
    {"struct": "struct", "enum": "enum", "union": "struct"}, frozenset({"typedef", "static"}), c_functions=True
)
_LANGUAGES: dict[str, _Language] = {
    "JavaScript": _SCRIPT,
    "TypeScript": _SCRIPT,
    "Vue": _SCRIPT,
    "Svelte": _SCRIPT,
    "Go": _Language({"func": "function", "type": "type"}),
    "Rust": _Language(
        {
            "fn": "function",
            "struct": "struct",
            "enum": "enum",
            "trait": "trait",
            "mod": "module",
            "type": "type",
            "impl": "module",
            "macro_rules!": "function",
        },
        frozenset({"pub", "pub(crate)", "pub(super)", "async", "unsafe", "const", "default"}),
    ),
    "Java": _Language({**_TYPES, "record": "class", "@interface": "interface"}, _ACCESS | {"sealed", "non-sealed"}),
    "C#": _Language(
        {**_TYPES, "record": "class", "struct": "struct", "namespace": "module"},
        _ACCESS | {"sealed", "partial", "readonly"},
    ),
    "Kotlin": _Language(
        {**_TYPES, "fun": "function", "object": "class", "typealias": "type"},
        _ACCESS | {"data", "sealed", "suspend", "inline", "operator", "companion", "enum", "annotation", "value"},
    ),
    "Swift": _Language(
        {
            **_TYPES,
            "func": "function",
            "struct": "struct",
            "protocol": "interface",
            "extension": "module",
            "actor": "class",
        },
        _ACCESS | {"fileprivate", "mutating", "indirect", "@MainActor"},
    ),
    "Scala": _Language(
        {"class": "class", "trait": "trait", "object": "module", "def": "function", "enum": "enum"},
        _ACCESS | {"case", "sealed", "implicit", "inline"},
    ),
    "Dart": _Language(
        {**_TYPES, "mixin": "trait", "extension": "module", "typedef": "type"}, _ACCESS | {"base", "sealed"}
    ),
    "Ruby": _Language({"class": "class", "module": "module", "def": "function"}, comment="#"),
    "Elixir": _Language({"defmodule": "module", "def": "function", "defmacro": "function"}, comment="#"),
    "PHP": _Language(
        {**_TYPES, "trait": "trait", "function": "function", "namespace": "module"}, _ACCESS | {"readonly"}
    ),
    "C": _C,
    "C++": _Language(
        {**_C.keywords, "class": "class", "namespace": "module"}, _C.modifiers | {"inline"}, c_functions=True
    ),
    "Shell": _Language({"function": "function"}, comment="#", c_functions=True),
    "Lua": _Language({"function": "function"}, frozenset({"local"}), comment="--"),
    "Julia": _Language(
        {"function": "function", "struct": "struct", "module": "module", "macro": "function"},
        frozenset({"mutable"}),
        "#",
    ),
    "Zig": _Language({"fn": "function"}, frozenset({"pub", "export", "inline"})),
    "SQL": _Language(
        {"table": "table", "view": "table", "function": "function", "procedure": "function", "type": "type"},
        frozenset({"create", "or", "replace", "temporary", "unlogged", "materialized"}),
        "--",
        ignores_case=True,
    ),
    "GraphQL": _Language(
        {"type": "type", "input": "type", "interface": "interface", "enum": "enum", "union": "type"}, comment="#"
    ),
    "Protocol Buffers": _Language({"message": "struct", "service": "interface", "enum": "enum", "rpc": "function"}),
}


def scan_lines(path: str, text: str, language: str) -> list[Symbol]:
    """Symbols in order; none for a language whose definitions are not known."""
    rules = _LANGUAGES.get(language)
    if rules is None:
        return []
    scan = _Scan(path, rules)
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) <= _MAX_LINE_CHARACTERS:
            scan.read(number, line)
    return scan.symbols


def clipped(text: str, limit: int = 160) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


@dataclass
class _Scan:
    """State between the lines of one file.

    Attributes:
        path: The file.
        rules: Its language.
        symbols: Found so far.
        open_containers: Types and modules around the line: indentation and name.
        in_comment: Whether the line begins inside `/* … */`.
    """

    path: str
    rules: _Language
    symbols: list[Symbol] = field(default_factory=list)
    open_containers: list[tuple[int, str]] = field(default_factory=list)
    in_comment: bool = False

    def read(self, number: int, line: str) -> None:
        code = self._without_comment(line)
        stripped = code.strip()
        if not stripped:
            return
        indent = len(code.expandtabs(4)) - len(code.expandtabs(4).lstrip())
        while self.open_containers and indent <= self.open_containers[-1][0] and stripped[0] not in "{})":
            self.open_containers.pop()
        # Deeper than one level below the container is the inside of a function.
        deepest = self.open_containers[-1][0] + 4 if self.open_containers else 0
        if indent > deepest:
            return
        found = self._definition(stripped, indent)
        if found is None:
            return
        kind, name, rest = found
        parent = self.open_containers[-1][1] if self.open_containers else None
        if kind in _CONTAINERS:
            self.open_containers.append((indent, name))
        if kind == "function" and parent:
            kind = "method"
        signature = clipped(name + _parameters(rest) if kind in {"function", "method"} else name, _MAX_NAME_CHARACTERS)
        self.symbols.append(Symbol(self.path, number, kind, name, signature, parent, ""))

    def _without_comment(self, line: str) -> str:
        if self.rules.comment != "//":
            return line.partition(self.rules.comment)[0] if line.lstrip().startswith(self.rules.comment) else line
        if self.in_comment:
            _, end, line = line.partition("*/")
            if not end:
                return ""
            self.in_comment = False
        start = line.find("/*")
        if start != -1 and line.find("*/", start) == -1 and line[:start].count('"') % 2 == 0:
            self.in_comment = True
            line = line[:start]
        return "" if line.lstrip().startswith("//") else line

    def _definition(self, line: str, indent: int) -> tuple[str, str, str] | None:
        """Kind, name and what follows the name; None when the line defines nothing."""
        words = line.split()
        position = exported = 0
        while position < len(words) - 1 and self._folded(words[position]) in self.rules.modifiers:
            if self._keyword(words[position]) and self._name(words[position + 1])[0] not in self.rules.keywords:
                break  # a word that is both, such as Kotlin's `enum`, is the keyword when a name follows
            exported |= words[position] == "export"
            position += 1
        kind = self._keyword(words[position])
        if kind is None or position + 1 >= len(words):
            return self._c_function(line) if self.rules.c_functions and indent == 0 else None
        rest = line.split(words[position], 1)[1].lstrip() if position == 0 else " ".join(words[position + 1 :])
        if rest.startswith("(") and self.rules is _LANGUAGES["Go"]:
            rest = rest.partition(")")[2].lstrip()  # the receiver of a method
        name, rest = self._name(rest)
        if self.rules.ignores_case and name.lower() == "if":
            name, rest = self._name(rest.lstrip().removeprefix("NOT").removeprefix("not").lstrip()[6:].lstrip())
        if not name:
            return None
        if kind == "constant":
            value = rest.partition("=")[2]
            if "=>" in value or value.lstrip().startswith(("function", "async ")):
                return "function", name, value.lstrip().removeprefix("async ").lstrip()
            if not exported:
                return None
        before_body = rest.partition("{")[0]
        if kind in {"struct", "enum"} and self.rules.c_functions and ("(" in before_body or ";" in before_body):
            return self._c_function(line)  # `struct point make(…)` or a declaration
        return kind, name, rest

    def _c_function(self, line: str) -> tuple[str, str, str] | None:
        before, parenthesis, after = line.partition("(")
        if not parenthesis or line.endswith(";") or "=" in before or line[0] in "#}{@.\"'":
            return None
        name = before.split()[-1].lstrip("*&") if before.split() else ""
        shell = self.rules.comment == "#"
        if shell and not (after.startswith(")") and before == before.strip() and len(before.split()) == 1):
            return None
        if not shell and (
            len(before.split()) < 2 or before.split()[0] in {"return", "else", "if", "while", "for", "switch"}
        ):
            return None
        plain = all(char.isalnum() or char in "_:~-" for char in name)
        return ("function", name, f"({after}") if name and plain else None

    def _keyword(self, word: str) -> str | None:
        return self.rules.keywords.get(self._folded(word))

    def _folded(self, word: str) -> str:
        return word.lower() if self.rules.ignores_case else word

    def _name(self, text: str) -> tuple[str, str]:
        """The name at the start, and the rest."""
        end = 0
        while end < len(text) and (text[end].isalnum() or (text[end] in "_$.:?!" and text[end : end + 2] != ": ")):
            end += 1
        name = text[:end].rstrip(":.")
        return name[:_MAX_NAME_CHARACTERS], text[len(name) :]


def _parameters(rest: str) -> str:
    """The first pair of parentheses with what is in it, as far as the line goes; empty when there is none."""
    start = rest.find("(")
    if start == -1 or rest[:start].strip(" <>,abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_&'"):
        return ""
    depth = 0
    for position, char in enumerate(rest[start:], start=start):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return " ".join(rest[start : position + 1].split())
    return " ".join(rest[start:].split()) + " …)"
