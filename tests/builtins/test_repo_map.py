"""`repo.map` over small trees in a session's workspace."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from packline import PackError, PackSession
from tests.support.git_server import GitServer
from tests.support.pack_harness import Harness, load_module, load_pack

if TYPE_CHECKING:
    from pathlib import Path

repo_map = load_pack("repo/map.py")
scan_lines = load_module("repo/_symbols.py").scan_lines
scan_python = load_module("repo/_python.py").scan_python

CORE = '''"""The core."""
import os
class Engine(Base, Generic[T]):
    """Runs things."""

    def start(self, speed: int = 3, *, quietly=False) -> None:
        """Starts it,
        :meth:`~x.build` <b>first</b>. Then waits."""

    @classmethod
    def build(cls, *parts, **options): ...

async def boot(a, /, b): ...

def _hidden(): ...

class _Inner:
    def shown_to_nobody(self): ...
'''


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    workspace = tmp_path / "workspace"
    (workspace / "repo").mkdir(parents=True)
    return Harness(tmp_path / "harness", session=PackSession("sess_1", workspace))


def write(harness: Harness, files: dict[str, str | bytes]) -> None:
    assert harness.session is not None
    for path, content in files.items():
        target = harness.session.path / "repo" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())


async def test_maps_files_languages_and_symbols(harness: Harness) -> None:
    write(
        harness,
        {
            "README.md": "# Demo",
            "pyproject.toml": "[project]",
            "demo/__init__.py": "",
            "demo/core.py": CORE,
            "demo/cli.py": "from demo.core import Engine\nfrom . import core\n\ndef main() -> None: ...\n",
            "tests/test_core.py": "from demo.core import boot\n\ndef test_boot(): ...\n",
            "web/app.ts": "export class View {}\n",
            "node_modules/x/index.js": "function leftpad() {}\n",
        },
    )

    output = await harness.call(repo_map, {"clone_path": "repo"})

    assert output["file_count"] == len(output["files"]) == 8
    assert [each["name"] for each in output["languages"]] == ["Python", "TypeScript"]
    found = {(each["path"], each["kind"], each["signature"], each["parent"]) for each in output["symbols"]}
    assert found == {
        ("demo/core.py", "class", "Engine(Base, Generic)", None),
        ("demo/core.py", "method", "start(speed, *, quietly)", "Engine"),
        ("demo/core.py", "method", "build(*parts, **options)", "Engine"),
        ("demo/core.py", "function", "boot(a, /, b)", None),
        ("demo/core.py", "function", "_hidden()", None),
        ("demo/core.py", "class", "_Inner", None),
        ("demo/core.py", "method", "shown_to_nobody()", "_Inner"),
        ("demo/cli.py", "function", "main()", None),
        ("tests/test_core.py", "function", "test_boot()", None),
        ("web/app.ts", "class", "View", None),
    }
    assert output["symbols"][0]["path"] == "demo/core.py", "the most imported file comes first"
    text = output["map"]
    assert text.startswith("# Repository map\n\n## At a glance\n\n- 8 files")
    for line in (
        "- `README.md`: introduction",
        "- `pyproject.toml`: Python project",
        "- `demo/`: 3 files, 455 bytes",
        "### demo/core.py",
        "- class `Engine(Base, Generic)`: Runs things.",
        "  - `start(speed, *, quietly)`: Starts it, `x.build` \\<b>first\\</b>.",
        "- `boot(a, /, b)`",
        "- 1 test file",
    ):
        assert line in text.split("\n"), line
    assert "_hidden" not in text
    assert "shown_to_nobody" not in text
    assert "leftpad" not in text
    assert text.index("### demo/core.py") < text.index("### demo/cli.py") < text.index("### tests/test_core.py")


async def test_maps_what_fetch_left(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "harness")
    with GitServer(tmp_path / "server") as server:
        server.add_repository("demo", {"lib/core.py": CORE, "other/x.go": "func X() {}\n"})
        fetched = await harness.call(load_pack("repo/fetch.py"), {"url": server.url("demo"), "subpath": "lib"})
    harness.session = harness.sessions[0]
    output = await harness.call(repo_map, {"clone_path": fetched["clone_path"]})
    assert [each["path"] for each in output["files"]] == ["core.py"]


async def test_without_a_session_it_says_what_is_missing(tmp_path: Path) -> None:
    gone = PackSession("sess_1", tmp_path / "gone")
    for session in (None, gone):
        with pytest.raises(PackError) as caught:
            await Harness(tmp_path, session=session).call(repo_map, {"clone_path": "repo"})
        assert caught.value.failure.code == "session_unavailable"
        assert "repo.fetch" in (caught.value.failure.hint or "")


@pytest.mark.parametrize(
    ("clone_path", "code"),
    [
        ("../secret", "policy_denied"),
        ("repo/../../secret", "policy_denied"),
        ("/etc", "policy_denied"),
        ("~", "policy_denied"),
        ("repo/.git", "policy_denied"),
        ("repo/out", "policy_denied"),
        ("repo\\..\\..", "policy_denied"),
        ("repo/a\0b", "policy_denied"),
        ("nowhere", "not_found"),
        ("repo/file", "not_found"),
    ],
)
async def test_only_folders_of_the_workspace_are_mapped(
    harness: Harness, tmp_path: Path, clone_path: str, code: str
) -> None:
    assert harness.session is not None
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key.py").write_text("def password(): ...")
    (harness.session.path / "repo/out").symlink_to(tmp_path / "secret")
    write(harness, {"file": "x"})
    with pytest.raises(PackError) as caught:
        await harness.call(repo_map, {"clone_path": clone_path})
    assert (caught.value.failure.code, caught.value.failure.field) == (code, "clone_path")
    assert str(tmp_path) not in str(caught.value)


async def test_links_pipes_and_git_are_left_out(harness: Harness, tmp_path: Path) -> None:
    assert harness.session is not None
    repo = harness.session.path / "repo"
    (tmp_path / "secret.py").write_text("def password(): ...")
    (repo / "link.py").symlink_to(tmp_path / "secret.py")
    (repo / "loop").symlink_to(repo)
    os.mkfifo(repo / "pipe.py")
    write(harness, {".git/config": "x", "a.py": "def a(): ...", "packages/.git": "gitdir: elsewhere"})
    output = await harness.call(repo_map, {})
    assert [each["path"] for each in output["files"]] == ["a.py"]
    assert "password" not in json.dumps(output)


async def test_hostile_names_and_contents_are_survived(harness: Harness) -> None:
    assert harness.session is not None
    write(
        harness,
        {
            "bad.py": "def broken(:\n",
            "null.py": b"def x(): ...\0",
            "deep.py": "x = " + "(" * 5_000 + ")" * 5_000,
            "escape.py": "x = '\\d'\ndef fine(): ...\n",
            "latin.py": "# -*- coding: latin-1 -*-\ndef caf\xe9(): ...\n".encode("latin-1"),
            "wide.js": "function a(" + "x" * 50_000 + ") {}\n",
            "new\nline`.py": "def odd(): ...",
        },
    )
    (harness.session.path / "repo" / os.fsdecode(b"\xff\xfe.py")).write_text("def raw(): ...")
    output = await harness.call(repo_map, {})
    json.dumps(output, ensure_ascii=False).encode("utf-8")  # no lone surrogates
    assert "\0" not in json.dumps(output, ensure_ascii=False)
    assert {"fine", "odd"} <= {each["name"] for each in output["symbols"]}
    assert "### new?line?.py" in output["map"].split("\n")


async def test_outline_stays_within_its_limit_and_says_what_it_left_out(harness: Harness) -> None:
    write(harness, {f"pkg{n}/module{n}.py": f"def function_{n}(): ...\n" * 3 for n in range(150)})
    for limit in (500, 2_000, 8_000):
        output = await harness.call(repo_map, {"max_chars": limit})
        assert len(output["map"]) <= limit
        assert output["symbol_count"] == 450
    assert "more files with definitions" in output["map"]


async def test_an_empty_repository_has_an_empty_map(harness: Harness) -> None:
    output = await harness.call(repo_map, {})
    assert (output["files"], output["symbols"], output["languages"]) == ([], [], [])
    assert "0 files" in output["map"]


async def test_large_files_are_passed_over_with_a_warning(harness: Harness) -> None:
    write(harness, {"big.py": "x = 1\n" * 100_000, "small.py": "def a(): ...\n"})
    output = await harness.call(repo_map, {})
    assert [each["name"] for each in output["symbols"]] == ["a"]
    assert harness.warnings == ["1 source files were too large or too many to be searched for definitions."]


SNIPPETS = {
    "Go": (
        """\
package x

type Server struct {
\tport int
}

func (s *Server) Start(ctx context.Context) error {
\tfunc() {}()
}

func New(port int) *Server { return nil }
""",
        ["type Server", "function Start(ctx context.Context)", "function New(port int)"],
    ),
    "Rust": (
        """\
pub struct Point { x: i32 }
impl Point {
    pub fn new(x: i32) -> Self {
        fn inner() {}
    }
}
pub(crate) async fn run() {}
enum Kind { A }
trait Draw {
    fn draw(&self);
}
""",
        [
            "struct Point",
            "module Point",
            "method new(x: i32)",
            "function run()",
            "enum Kind",
            "trait Draw",
            "method draw(&self)",
        ],
    ),
    "TypeScript": (
        """\
/* function gone() {}
 function also() {}
*/
// class Comment {}
export default class View extends Base {
}
export async function load(url: string): Promise<void> {
  const inner = () => 1;
}
export const draw = (x: number) => x;
const hidden = 1;
export const LIMIT = 5;
interface Shape { a: 1 }
export type Id = string;
""",
        [
            "class View",
            "function load(url: string)",
            "function draw(x: number)",
            "constant LIMIT",
            "interface Shape",
            "type Id",
        ],
    ),
    "Java": (
        """\
package a;

public final class Main {
    private static class Inner {}
    public void run() {}
}
interface Runner {}
""",
        ["class Main", "class Inner", "interface Runner"],
    ),
    "C": (
        """\
#include <stdio.h>
struct point { int x; };
static int add(int a, int b)
{
    return sum(a, b);
}
int declared(void);
int main(void) {
    if (x) {}
}
""",
        ["struct point", "function add(int a, int b)", "function main(void)"],
    ),
    "Ruby": (
        """\
module Shop
  class Cart < Base
    def add(item)
      1
    end
  end
end
# class No
def free?
end
""",
        ["module Shop", "class Cart", "method add(item)", "function free?"],
    ),
    "Kotlin": (
        """\
data class User(val name: String)
enum class Kind { A }
object Store {
    fun get(id: Int): User = TODO()
}
""",
        ["class User", "class Kind", "class Store", "method get(id: Int)"],
    ),
    "PHP": (
        """\
<?php
final class A {
    public function b($c) {}
}
function d() {}
""",
        ["class A", "method b($c)", "function d()"],
    ),
    "Shell": (
        """\
#!/bin/sh
deploy() {
  echo hi
}
function build {
}
ls (x)
""",
        ["function deploy()", "function build"],
    ),
    "SQL": (
        """\
CREATE TABLE IF NOT EXISTS users (id int);
create or replace view v as select 1;
-- create table no
""",
        ["table users", "table v"],
    ),
    "Swift": (
        """\
public struct P {
    func go(_ x: Int) {}
}
protocol Q {}
""",
        ["struct P", "method go(_ x: Int)", "interface Q"],
    ),
    "C#": (
        """\
namespace N;
public sealed class A {}
public record R(int X);
""",
        ["module N", "class A", "class R"],
    ),
    "Elixir": (
        """\
defmodule A.B do
  def c(d), do: d
end
""",
        ["module A.B", "method c(d)"],
    ),
    "Protocol Buffers": (
        """\
message M {
}
service S {
  rpc Get(M) returns (M);
}
""",
        ["struct M", "interface S", "method Get(M)"],
    ),
}


@pytest.mark.parametrize("language", SNIPPETS)
def test_symbols_by_reading_lines(language: str) -> None:
    source, expected = SNIPPETS[language]
    assert [f"{each.kind} {each.signature}" for each in scan_lines("x", source, language)] == expected


def test_python_imports_are_absolute_from_the_root() -> None:
    found = scan_python("a/b/c.py", "import os.path\nfrom . import d\nfrom ..e import f\nfrom x import *\n")
    assert found is not None
    assert found[1] == ["a.b", "a.b.d", "a.e", "a.e.f", "os.path", "x"]
