"""Text from outside is shortened by `excerpt` alone: half a secret is no longer recognised.

Reads the code of every package and looks for text that is cut to a limit: `text[:200]`, `text[-limit:]`,
`data[:200].decode()`, `f"{text:.80}"`, `textwrap.shorten(text)`. A place that a parser found in the text itself is no
limit, and pieces shorter than any secret do no harm. Whether a value is text is told by the annotations of all our
functions and fields, by name, and by what is done with it; in doubt it is text.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from runner.secrets.forms import MIN_SECRET_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("app", "schema", "resolvers", "catalog", "runner", "store", "packline", "builtins")

#: Where text may be cut by itself, by the reason why no piece of a secret is shown. A folder ends with a slash.
ALLOWED: dict[str, tuple[str, ...]] = {
    "It is masked already.": (
        "app/mcp/answers.py::_cut",
        "store/migrations/versions/0028_a_proposal_for_each_missing_capability.py::_shortened",
        "app/http/ranges.py::_disposition",
        "resolvers/runs/starts.py::_searchable_text",
        "runner/agents/results.py::failed",
        "runner/agents/results.py::answer_of",
        "runner/agents/parsed_output.py::ParsedOutput.text",
        "runner/agents/parsed_output.py::ParsedOutput._keep",
        "runner/agents/streams.py::RawReader._put",
        "runner/excerpts.py::cut",
        "runner/definitions/inputs.py::run_title",
        "runner/mounts/connection.py::Connection._description_of",
        "runner/mounts/results.py::_first_line",
        "builtins/packs/blog/_post.py::excerpt_of",
        "builtins/packs/email/_message.py::_file_name",
    ),
    "The command line shows what a server masked, or what its own user typed.": ("app/cli/",),
    "What is cut off first is masked afterwards, by a line that holds all of the secret or by none.": (
        "runner/processes/processes.py::_death",
    ),
    "It is an id, a digest, an instant or the name of something of ours.": (
        "app/mcp/tools/pack_tools.py::pack_tool",
        "catalog/promotion.py::_step_key",
        "runner/definitions/parsing.py::key_from_name",
        "schema/base/scalars.py::format_instant",
        "store/access/tokens.py::create_token",
        "builtins/packs/_marks.py::not_before",
        "builtins/packs/repo/_solution.py::make_patch",
        "builtins/packs/repo/_solution.py::push_branch",
        "builtins/packs/repo/fetch.py::fetch_into_session",
    ),
    "Only letters, digits and dashes are left of it, as a key or a file's name has them.": (
        "catalog/routing/gaps.py::_verb",
        "resolvers/pipelines/keys.py::free_key",
        "builtins/packs/_file_names.py::file_stem",
        "builtins/packs/blog/_to_ghost.py::_open_picture",
        "builtins/packs/blog/_words.py::make_slug",
        "builtins/packs/slides/_markdown.py::_Reader.blocks",
    ),
    "It is only looked at, and never kept or shown.": (
        "runner/egress/client.py::_retry_after_seconds",
        "runner/schemas/formats.py::_is_date_time",
        "runner/definitions/inputs.py::placeholder_issues",
        "runner/secrets/redaction.py::_Known.of",
        "runner/secrets/redaction.py::Redactor._form_from",
        "builtins/packs/_quotes.py::find_quote",
        "builtins/packs/doc/_pdf.py::join_pages",
        "builtins/packs/github/_shapes.py::opening",
        "builtins/packs/video/compose.py::_is_declared",
        "builtins/packs/web/_extract.py::_titled",
    ),
    "A library says what is wrong with a regular expression, in words of its own.": (
        "runner/schemas/formats.py::compile_pattern",
    ),
    "A model is called, which gets texts as they are, whole or not.": (
        "catalog/routing/model.py::request_prompt",
        "catalog/routing/model.py::repair_prompt",
        "catalog/routing/model.py::_line",
        "builtins/packs/_audio/engagement.py::written",
        "builtins/packs/blog/append_cta.py::_written",
        "builtins/packs/slides/_modelled.py::write_modelled",
    ),
    "A worker process makes it, which knows no secrets: it is part of the pack's work, not of what went wrong.": (
        "runner/files/preview_office.py::_beginning",
        "builtins/packs/_html.py::_first",
        "builtins/packs/doc/_convert.py::_convert_file",
        "builtins/packs/doc/_office.py::_core_title",
        "builtins/packs/doc/_pdf.py::_title",
        "builtins/packs/podcast/_script.py::_shortened",
        "builtins/packs/repo/_introduction.py::read_readme",
        "builtins/packs/repo/_introduction.py::read_docs",
        "builtins/packs/repo/_outline.py::_cut",
        "builtins/packs/repo/_symbols.py::clipped",
        "builtins/packs/repo/_symbols.py::_Scan._name",
        "builtins/packs/slides/_digest.py::_cut_between_words",
        "builtins/packs/slides/_drafts.py::limited",
        "builtins/packs/slides/_modelled.py::_heading",
        "builtins/packs/slides/_pptx.py::_Writer.bytes",
        "builtins/packs/slides/_pptx.py::_SlideWriter._furniture",
        "builtins/packs/slides/_typeset.py::wrap_code",
        "builtins/packs/slides/_typeset.py::_shortened",
        "builtins/packs/video/_document.py::_cut",
        "builtins/packs/video/_rules.py::_resources.outside",
        "builtins/packs/video/_seen.py::seen_findings",
        "builtins/packs/video/_seen.py::_cut",
        "builtins/packs/video/_stage.py::_serve.paused",
    ),
    "A pack puts a text into parts, of which each is shown.": (
        "builtins/packs/_audio/spoken.py::_bounded",
        "builtins/packs/_pages.py::passages_of",
        "builtins/packs/practice/text.py::text",
        "builtins/packs/video/_scenes.py::split_description",
        "builtins/packs/video/_scenes.py::_scene_of",
        "builtins/packs/video/_scenes.py::_clause",
    ),
    "It is no text.": (
        "catalog/routing/facts.py::_files",
        "catalog/routing/facts.py::_texts",
        "catalog/routing/facts.py::_targets",
        "resolvers/artifacts/uploads.py::_Body.pieces",
        "runner/agents/confine.py::_hold",
        "runner/agents/streams.py::JsonReader.feed",
        "runner/processes/worker.py::receive_message",
        "runner/schemas/messages.py::issues_of",
        "runner/templates/plan.py::Scope._missing",
        "runner/templates/plan.py::_where",
        "store/secrets/cipher.py::Cipher.open",
        "builtins/packs/doc/_office.py::_sheet",
        "builtins/packs/image/generate.py::generate",
        "builtins/packs/repo/map.py::map_workspace",
        "builtins/packs/research/_gathering.py::read_all",
        "builtins/packs/slides/_narration.py::_read_out",
        "builtins/packs/video/_devtools.py::DevTools._write",
    ),
}

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
#: Methods whose answer is text; of those that bytes have as well, when they are called on text.
TEXT_METHODS = frozenset({"as_posix", "decode", "format", "group", "model_dump_json", "read_text"})
SHARED_METHODS = frozenset(
    {"capitalize", "expandtabs", "join", "ljust", "lower", "lstrip", "removeprefix", "removesuffix", "replace"}
    | {"rjust", "rstrip", "strip", "title", "translate", "upper"}
)
OTHER_METHODS = frozenset(
    {"digest", "encode", "errors", "findall", "groups", "hexdigest", "infolist", "isoformat", "items", "keys"}
    | {"most_common", "partition", "read_bytes", "rpartition", "rsplit", "split", "splitlines", "strftime", "values"}
)
TEXT_CALLS = frozenset({"ascii", "chr", "format", "repr", "str"})
OTHER_CALLS = frozenset(
    {"bytearray", "bytes", "dict", "frozenset", "list", "range", "reversed", "set", "sorted", "tuple", "zip"}
)
#: Methods that find a place in a text, and what attributes and parameters are called that hold one.
PLACES = frozenset({"end", "find", "index", "rfind", "rindex", "start"})
PLACE_NAMES = frozenset({"at", "begin", "border", "cut", "end", "index", "place", "position", "start", "stop"})


def annotated(annotation: ast.expr | None) -> bool | None:
    """Whether an annotation says text; None when there is none, or none that decides."""
    if annotation is None:
        return None
    words = ast.unparse(annotation).strip("'\"")
    if words.startswith("Annotated[") or "[" not in words:
        parts = {part.strip() for part in words.removeprefix("Annotated[").split(",")[0].split("|")}
        if parts & {"Any", "object", "JSONValue", "JsonValue", "Self"}:
            return None
        return "str" in parts
    return "[" in words and words.startswith(("str |", "Literal["))


class Known:
    """What annotations say of the names of fields and of what functions give: text, other things, or both."""

    def __init__(self, modules: Iterable[ast.Module]) -> None:
        self.fields: dict[str, set[bool | None]] = defaultdict(set)
        self.calls: dict[str, set[bool | None]] = defaultdict(set)
        for module in modules:
            for node in ast.walk(module):
                if isinstance(node, Function):
                    self.calls[node.name].add(annotated(node.returns))
                elif isinstance(node, ast.ClassDef):
                    self._note_class(node)

    def _note_class(self, node: ast.ClassDef) -> None:
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                self.fields[item.target.id].add(annotated(item.annotation))
            elif isinstance(item, Function):
                self.fields[item.name].add(annotated(item.returns))
                given = {one.arg: annotated(one.annotation) for one in (*item.args.args, *item.args.kwonlyargs)}
                for inner in ast.walk(item):
                    if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Attribute):
                        self.fields[inner.target.attr].add(annotated(inner.annotation))
                    elif isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Name):
                        for target in inner.targets:
                            if isinstance(target, ast.Attribute) and inner.value.id in given:
                                self.fields[target.attr].add(given[inner.value.id])


def either(found: Iterable[bool | None]) -> bool | None:
    """Text when any of them is, other things when all are."""
    kinds = set(found)
    return True if True in kinds else None if None in kinds or not kinds else False


def is_excerpt(value: ast.expr) -> bool:
    """Whether a value is made of an excerpt, such as `excerpt(text, 80).encode()`."""
    while isinstance(value, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "excerpt":
            return True
        value = value.func if isinstance(value, ast.Call) else value.value
    return False


def is_line(node: ast.Subscript) -> bool:
    """Whether this is the first or last line of a text, of which more may belong to one secret."""
    match node:
        case ast.Subscript(value=ast.Call(func=ast.Attribute(attr="splitlines")), slice=ast.Constant() | ast.UnaryOp()):
            return True
        case ast.Subscript(
            value=ast.Call(
                func=ast.Attribute(attr="split" | "rsplit" | "partition" | "rpartition"),
                args=[ast.Constant(value="\n"), *_],
            ),
            slice=ast.Constant() | ast.UnaryOp(),
        ):
            return True
    return False


class Cuts(ast.NodeVisitor):
    """Finds in a module where text is cut.

    Attributes:
        found: Function and code of each place.
    """

    def __init__(self, known: Known) -> None:
        self.found: list[tuple[str, str]] = []
        self._known = known
        self._inside: list[str] = []
        self._names: list[dict[str, bool | list[ast.expr] | None]] = [{}]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()

    def visit_FunctionDef(self, node: Function) -> None:
        self._inside.append(node.name)
        self._names.append(self._names_in(node))
        self.generic_visit(node)
        self._names.pop()
        self._inside.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        is_cut = self._cuts(node.slice) and self._is_text(node.value) is not False
        if isinstance(node.ctx, ast.Load) and (is_cut or is_line(node)) and not is_excerpt(node.value):
            self._note(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Attribute(value=ast.Subscript(value=data, slice=piece), attr="decode"):
                if self._cuts(piece) and not is_excerpt(data):
                    self._note(node)
            case ast.Attribute(value=ast.Name(id="textwrap" | "reprlib"), attr="shorten" | "repr"):
                self._note(node)
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        if node.format_spec is not None:
            spec = "".join(part.value for part in ast.walk(node.format_spec) if isinstance(part, ast.Constant))
            if re.search(r"\.\d*s?$", spec):
                self._note(node)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        text = node.left.value if isinstance(node.left, ast.Constant) else None
        if isinstance(node.op, ast.Mod) and isinstance(text, str) and "%." in text and "s" in text.partition("%.")[2]:
            self._note(node)
        self.generic_visit(node)

    def _note(self, node: ast.AST) -> None:
        self.found.append((".".join(self._inside), ast.unparse(node)))

    def _names_in(self, node: Function) -> dict[str, bool | list[ast.expr] | None]:
        """What a function's names are: by annotation, else all that is assigned to them."""
        names: dict[str, bool | list[ast.expr] | None] = {}
        for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            names[one.arg] = annotated(one.annotation)
        for inner in ast.walk(node):
            match inner:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                    names[name] = annotated(annotation)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        if isinstance(target, ast.Name):
                            self._assign(names, target.id, value)
                case ast.NamedExpr(target=ast.Name(id=name), value=value):
                    self._assign(names, name, value)
        return names

    def _assign(self, names: dict[str, bool | list[ast.expr] | None], name: str, value: ast.expr) -> None:
        before = names.setdefault(name, [])
        if isinstance(before, list):
            before.append(value)

    def _name(self, name: str) -> bool | list[ast.expr] | None:
        return next((names[name] for names in reversed(self._names) if name in names), None)

    def _cuts(self, piece: ast.expr) -> bool:
        """Whether a slice keeps the beginning or the end up to a limit."""
        if not isinstance(piece, ast.Slice):
            return False
        begins = piece.lower is None or isinstance(piece.lower, ast.Constant)
        if piece.upper is not None:
            return begins and self._is_limit(piece.upper)
        return isinstance(piece.lower, ast.UnaryOp | ast.BinOp) and self._is_limit(piece.lower)

    def _is_limit(self, bound: ast.expr, depth: int = 0) -> bool:
        """Whether a bound is set from outside; not so what was found in the text, or is too little to matter."""
        match bound:
            case ast.Constant(value=int(value)):
                return value >= MIN_SECRET_LENGTH
            case ast.Attribute(attr=name):
                return name.strip("_") not in PLACE_NAMES
            case ast.Name(id=name):
                given = self._name(name)
                if isinstance(given, list):
                    return depth < 6 and any(self._is_limit(value, depth + 1) for value in given)
                is_parameter = any(name in names for names in self._names)
                return name.strip("_").isupper() or (is_parameter and name not in PLACE_NAMES)
            case ast.BinOp(left=left, right=right):
                return self._is_limit(left, depth) or self._is_limit(right, depth)
            case ast.UnaryOp(operand=operand):
                return self._is_limit(operand, depth)
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_limit(body, depth) or self._is_limit(orelse, depth)
            case ast.Call(func=ast.Name(id="min" | "max"), args=args):
                return any(self._is_limit(value, depth) for value in args)
            case ast.Call(func=ast.Attribute(attr=name), args=args) if name in PLACES:
                return any(self._is_limit(value, depth) for value in args[1:])
        return False

    def _is_text(self, value: ast.expr, depth: int = 0) -> bool | None:
        if depth > 8:
            return None
        match value:
            case ast.Constant(value=constant):
                return isinstance(constant, str)
            case ast.JoinedStr():
                return True
            case (
                ast.List() | ast.ListComp() | ast.Tuple() | ast.Dict() | ast.DictComp() | ast.Set() | ast.GeneratorExp()
            ):
                return False
            case ast.BinOp(left=left, right=right):
                return either({self._is_text(left, depth + 1), self._is_text(right, depth + 1)} - {None})
            case ast.BoolOp(values=values):
                return either(self._is_text(one, depth + 1) for one in values)
            case ast.IfExp(body=body, orelse=orelse):
                return either((self._is_text(body, depth + 1), self._is_text(orelse, depth + 1)))
            case ast.Await(value=inner) | ast.NamedExpr(value=inner):
                return self._is_text(inner, depth + 1)
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return self._is_text(inner, depth + 1)
            case ast.Name(id=name):
                given = self._name(name)
                if isinstance(given, list):
                    return either(self._is_text(one, depth + 1) for one in given)
                return given
            case ast.Attribute(attr=name):
                return either(self._known.fields.get(name, ()))
            case ast.Call(func=ast.Name(id=name)):
                return self._of_call(name, TEXT_CALLS, OTHER_CALLS)
            case ast.Call(func=ast.Attribute(value=inner, attr=name)):
                if name in SHARED_METHODS:
                    return self._is_text(inner, depth + 1) is not False
                return self._of_call(name, TEXT_METHODS, OTHER_METHODS)
        return None

    def _of_call(self, name: str, texts: frozenset[str], others: frozenset[str]) -> bool | None:
        if name in texts or name in others:
            return name in texts
        return either(self._known.calls.get(name, ()))


def cuts_in(modules: dict[str, ast.Module]) -> dict[str, list[str]]:
    """The code of every place where text is cut, by `path::function`."""
    found: dict[str, list[str]] = defaultdict(list)
    known = Known(modules.values())
    for path, module in modules.items():
        visitor = Cuts(known)
        visitor.visit(module)
        for function, code in visitor.found:
            found[f"{path}::{function}"].append(code)
    return found


@cache
def our_cuts() -> dict[str, list[str]]:
    files = (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))
    return cuts_in({str(file.relative_to(ROOT)): ast.parse(file.read_text("utf-8")) for file in files})


def allows(allowed: str, place: str) -> bool:
    return place.startswith(allowed) if allowed.endswith("/") else place == allowed


def test_text_from_outside_is_cut_by_nothing_else():
    allowed = [entry for entries in ALLOWED.values() for entry in entries]
    wrong = {place: code for place, code in our_cuts().items() if not any(allows(entry, place) for entry in allowed)}
    assert wrong == {}, "call `excerpt`, which masks first"


def test_every_exception_is_still_needed():
    entries = [entry for entries in ALLOWED.values() for entry in entries]
    assert [entry for entry in entries if not any(allows(entry, place) for place in our_cuts())] == []


SAMPLE = """
LIMIT = 80

class Answer:
    text: str
    body: bytes
    rows: list[str]

def answer_of(url: str) -> Answer: ...

def tell(said: str, rows: list[str], limit: int, answer: Answer, given):
    short = " ".join(said.split())
    place = said.find("x")
    {}
"""


@pytest.mark.parametrize(
    "code",
    [
        "said[:80]",
        "said[0:80]",
        "said[: limit - 1]",
        "said[-limit:]",
        "said[:LIMIT]",
        "said[len(said) - limit :]",
        "said[: min(limit, len(said))]",
        "said[: said.rfind(' ', 0, limit)]",
        "said.strip().lower()[:80]",
        "short[:80]",
        "(short or said)[:80]",
        "f'{said}!'[:80]",
        "f'{said[:80]}'",
        "f'{said:.80}'",
        "f'{said!r:<80.80}'",
        "'%.80s' % said",
        "repr(rows)[:80]",
        "given[:80]",
        "answer.text[:80]",
        "answer_of(said).text[:80]",
        "answer.body[:80].decode()",
        "answer.body.decode()[:80]",
        "textwrap.shorten(said, 80)",
        "said.splitlines()[0]",
        "said.partition('\\n')[0]",
    ],
)
def test_a_cut_is_found(code):
    assert cuts_in({"x.py": ast.parse(SAMPLE.format(code))}) != {}


@pytest.mark.parametrize(
    "code",
    [
        "excerpt(said, 80)",
        "redactor.excerpt(said, 80).encode()[:80].decode()",
        "said[:7]",
        "said[:place]",
        "said[place:]",
        "said[: said.index('x')]",
        "said[:-1]",
        "rows[:80]",
        "answer.rows[:LIMIT]",
        "[row for row in rows][:80]",
        "said.split()[:80]",
        "answer.body[:80]",
        "f'{limit:.1f} {limit:,.0f}'",
    ],
)
def test_what_is_no_cut_is_left_alone(code):
    assert cuts_in({"x.py": ast.parse(SAMPLE.format(code))}) == {}
