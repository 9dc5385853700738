from __future__ import annotations

import importlib
import subprocess
import sys

import pytest
from pydantic import ValidationError

from runner.packs.registry import PackSource, Registry, builtins_folder, load_registry
from runner.packs.schemas import schema_problem
from runner.processes import pack_modules
from tests.support.pack_folders import pack_source, write_pack_folder


@pytest.fixture
def empty(tmp_path):
    return write_pack_folder(tmp_path / "shipped", {"none/_nothing.py": ""})


def load(empty, *folders) -> Registry:
    return load_registry(empty, folders, entry_points=False)


def test_packs_of_all_folders_are_found_with_their_source(tmp_path, empty):
    shipped = write_pack_folder(tmp_path / "shipped", {"text/echo.py": pack_source("text.echo")})
    mine = write_pack_folder(tmp_path / "mine", {"text/mine.py": pack_source("text.mine")})
    registry = load(shipped, mine)
    assert registry.names() == ["text.echo", "text.mine"]
    assert registry.load_errors() == []
    pack = registry.find("text.mine")
    assert pack is not None
    assert registry.source_of(pack) == PackSource("user_folder", str(mine))
    assert [source.kind for source in registry.sources()] == ["builtin_folder", "user_folder"]
    assert pack.handler.__module__.startswith("packline_packs.mine_")
    assert pack.handler.__module__.endswith(".text.mine")


def test_models_of_packs_that_ship_are_built_when_used_and_those_of_users_at_once(tmp_path):
    shipped = write_pack_folder(tmp_path / "shipped", {"text/late.py": pack_source("text.late")})
    mine = write_pack_folder(tmp_path / "mine", {"text/soon.py": pack_source("text.soon")})
    registry = load(shipped, mine)
    late, soon = registry.find("text.late"), registry.find("text.soon")
    assert late is not None
    assert soon is not None
    assert not late.input_model.__pydantic_complete__
    assert soon.input_model.__pydantic_complete__
    assert late.input_schema == soon.input_schema
    assert late.input_model.__pydantic_complete__
    with pytest.raises(ValidationError, match="Extra inputs"):
        late.input_model.model_validate({"text": "x", "other": 1})


def test_versions_are_ordered_as_numbers_and_found_by_major(tmp_path, empty):
    versions = ("1.2.0", "1.10.0", "2.0.0", "0.9.9")
    files = {f"text/echo_{v.replace('.', '_')}.py": pack_source("text.echo", v) for v in versions}
    registry = load(empty, write_pack_folder(tmp_path / "mine", files))
    assert registry.versions("text.echo") == ["2.0.0", "1.10.0", "1.2.0", "0.9.9"]

    def found(version):
        pack = registry.find("text.echo", version)
        return pack and pack.version

    assert [found(v) for v in (None, "1", "1.2.0", "0", "3", "1.2", "", "٢")] == [
        *("2.0.0", "1.10.0", "1.2.0", "0.9.9"),
        *(None, None, None, None),
    ]
    assert registry.find("text.other") is None
    assert registry.versions("text.other") == []


BROKEN = {
    "syntax": ("def broken(:\n", "Syntax error: invalid syntax (line 1)"),
    "exception": ("x = 1\nraise ValueError('no luck')\n", "ValueError: no luck (line 2)"),
    "exit": ("import sys\nsys.exit(3)\n", "sys.exit(3)"),
    "interrupt": ("raise KeyboardInterrupt\n", "KeyboardInterrupt"),
    "panic": ("class Panic(BaseException): pass\nraise Panic('index out of bounds')\n", "Panic: index out of bounds"),
    "unreadable": (
        "class Odd(Exception):\n    def __str__(self): raise self\nraise Odd\n",
        "Odd: (it cannot be shown) (line 3)",
    ),
    "ending": (
        "class Odd(Exception):\n    def __str__(self): raise SystemExit(3)\nraise Odd\n",
        "Odd: (it cannot be shown) (line 3)",
    ),
    "missing": ("import no_such_module_at_all\n", "No module named 'no_such_module_at_all'"),
    "declaration": (pack_source("Not A Name"), "Pack name `Not A Name`"),
    "model": ("import pydantic\n\nclass Bad(pydantic.BaseModel):\n    at: object()\n", "Unable to generate"),
    "reserved": (pack_source("mcp.server.tool"), "belong to mounted MCP servers"),
    "not-a-name": (pack_source("text.dashed"), "`not-a-name` cannot be imported"),
    "zz_twice": (
        pack_source("text.good"),
        "is already loaded from {folder}/packs/text/good.py:17. ",
    ),
    "empty": (
        "from packline import pack\n",
        "It has no pack at its top level.",
    ),
    "keyword": (
        pack_source("text.keyword").replace("effects=", "efects="),
        "`pack` has no argument `efects`. Did you mean `effects`? (line 17)",
    ),
    "bare": (
        "from packline import pack\n\n@pack\nasync def run(ctx, input): ...\n",
        '`@pack` has no arguments. Write `@pack("area.verb", version="1.0.0", effects="none", repeatable=True)`',
    ),
    "argument": (
        pack_source("text.argument").replace('effects="none", ', ""),
        "`pack`: missing a required argument: 'effects'. Write `@pack(",
    ),
    "metadata": (
        "from packline import Metadata\nMetadata(accept=['text'])\n",
        "Metadata.accept does not exist; did you mean `accepts`? (line 2)",
    ),
}


def test_a_broken_file_is_reported_and_the_rest_load(tmp_path, empty):
    files = {f"text/{name}.py": source for name, (source, _) in BROKEN.items()}
    files |= {"text/good.py": pack_source("text.good"), "other/good.py": pack_source("other.good")}
    folder = write_pack_folder(tmp_path / "mine", files)
    registry = load(empty, folder)
    assert registry.names() == ["other.good", "text.good"]
    messages = {error.origin.rsplit("/", 1)[1].removesuffix(".py"): error.message for error in registry.load_errors()}
    assert messages.keys() == BROKEN.keys()
    for name, (_, expected) in BROKEN.items():
        assert expected.format(folder=folder) in messages[name]
    assert registry.sources()[1].load_errors == tuple(registry.load_errors())


def test_a_declaration_in_a_helper_is_reported_with_the_helpers_place(tmp_path, empty):
    files = {"_shared.py": "\n\n" + pack_source("Text.Shared"), "text/echo.py": "from .._shared import run\n"}
    folder = write_pack_folder(tmp_path / "mine", files)
    (error,) = load(empty, folder).load_errors()
    assert error.message.endswith(f"in lower case ({folder}/packs/_shared.py, line 19)")


def test_a_missing_module_is_reported_with_the_command_that_installs_it(tmp_path, empty):
    folder = write_pack_folder(tmp_path / "mine", {"text/needs.py": "import no_such_module_at_all.part\n"})
    (error,) = load(empty, folder).load_errors()
    pip = f"{sys.executable} -m pip install"
    assert error.problem == (
        f"No module named 'no_such_module_at_all'. Install it for the server's Python: `{pip} no_such_module_at_all`"
    )
    assert (error.file, error.line) == (f"{folder}/packs/text/needs.py", 1)


def test_a_missing_module_of_a_folder_with_requirements_is_installed_from_them(tmp_path, empty):
    folder = write_pack_folder(tmp_path / "mine", {"text/needs.py": "import no_such_module_at_all\n"})
    (folder / "requirements.txt").write_text("no-such-distribution==1.0\n", "utf-8")
    (error,) = load(empty, folder).load_errors()
    assert f"`{sys.executable} -m pip install -r {folder}/requirements.txt`" in error.message


def test_a_missing_sibling_is_not_to_be_installed(tmp_path, empty):
    folder = write_pack_folder(tmp_path / "mine", {"text/needs.py": "from . import _shared\nimport json.nothing\n"})
    assert "pip install" not in load(empty, folder).load_errors()[0].message
    (folder / "packs" / "text" / "_shared.py").touch()
    other = write_pack_folder(tmp_path / "other", {"text/needs.py": "import json.nothing\n"})
    assert "pip install" not in load(empty, other).load_errors()[0].message


def test_a_folder_that_is_not_there_is_reported(tmp_path, empty):
    registry = load(empty, tmp_path / "nowhere")
    assert "There is no folder" in registry.load_errors()[0].message


def test_helpers_are_imported_relatively_and_packs_once(tmp_path, empty):
    files = {
        "_shared.py": "VERSION = '1.2.3'\n",
        "text/_theme.py": "from .._shared import VERSION\n",
        "text/echo.py": "from . import _theme\n" + pack_source("text.echo").replace('"1.0.0"', "_theme.VERSION"),
        "text/uses.py": "from .echo import run\n",
    }
    # `from __future__` must come first in a file.
    files["text/echo.py"] = "from __future__ import annotations\n" + files["text/echo.py"].replace(
        "from __future__ import annotations\n", ""
    )
    registry = load(empty, write_pack_folder(tmp_path / "mine", files))
    assert registry.load_errors() == []
    assert registry.versions("text.echo") == ["1.2.3"]


def test_folders_of_one_name_do_not_mix(tmp_path, empty):
    one = write_pack_folder(tmp_path / "a" / "packs", {"text/echo.py": pack_source("text.one")})
    two = write_pack_folder(tmp_path / "b" / "packs", {"text/echo.py": pack_source("text.two")})
    assert load(empty, one, two).names() == ["text.one", "text.two"]


def test_loading_again_gives_the_same_packs(tmp_path, empty):
    folder = write_pack_folder(tmp_path / "mine", {"text/echo.py": pack_source("text.echo")})
    assert load(empty, folder).find("text.echo") is load(empty, folder).find("text.echo")


def test_entry_points_may_name_modules_packs_and_lists(tmp_path, empty, monkeypatch):
    second = pack_source("acme.two").replace("async def run", "async def second").replace("from __future__", "#")
    (tmp_path / "acme.py").write_text(pack_source("acme.one") + "listed = [run]\nnothing = 7\n" + second)
    (tmp_path / "acme_wrong.py").write_text(pack_source("acme.wrong").replace('"none"', '"some"'))
    points = "module = acme\none = acme:second\nlisted = acme:listed\nbad = acme:nothing\ngone = acme_gone\n"
    points += "wrong = acme_wrong\n"
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[packline.packs]\n{points}")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    registry = load_registry(empty, (), entry_points=True)
    assert registry.names() == ["acme.one", "acme.two"]
    messages = {error.origin: error.message for error in registry.load_errors()}
    assert messages.keys() == {"acme:bad", "acme:gone", "acme:wrong"}
    assert messages["acme:wrong"].endswith(f" ({tmp_path}/acme_wrong.py, line 17)")
    assert "names a int" in messages["acme:bad"]
    pack = registry.find("acme.two")
    assert pack is not None
    assert registry.source_of(pack).kind == "entry_point"


def test_mounted_packs_come_and_go(tmp_path, empty):
    folder = write_pack_folder(tmp_path / "mine", {"text/echo.py": pack_source("text.echo")})
    registry = load(empty, folder)
    echo = registry.find("text.echo")
    assert echo is not None
    mount = registry.put(PackSource("mcp_server", "files"), [("files", echo)])
    assert "belong to mounted MCP servers" in mount.load_errors[0].message
    registry.remove(mount)
    registry.remove(mount)
    assert registry.names() == ["text.echo"]
    with pytest.raises(KeyError):
        load(empty).source_of(echo)


def test_what_ships_loads_without_errors_and_without_heavy_libraries():
    code = (
        "import sys; from runner.packs.registry import *; r = load_registry(builtins_folder());"
        "assert r.names(), 'no packs'; assert not r.load_errors(), r.load_errors();"
        "heavy = {'trafilatura', 'lxml', 'numpy', 'typst', 'pptx', 'hibari', 'av', 'pdf_oxide', 'mammoth', 'httpx2',"
        " 'markdownify', 'openai', 'anthropic', 'pydantic_ai', 'onnxruntime', 'alembic', 'mcp'} & sys.modules.keys();"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=builtins_folder().parent)


def test_the_schemas_of_what_ships_can_be_listed_and_checked():
    packs = load_registry(builtins_folder(), entry_points=False).packs()
    assert {pack.name: schema_problem(pack) for pack in packs} == dict.fromkeys((pack.name for pack in packs), None)


def test_sources_are_known_to_whoever_starts_workers(tmp_path, empty):
    folder = write_pack_folder(tmp_path / "mine", {"text/echo.py": pack_source("text.echo")})
    load(empty, folder)
    assert str(folder / "packs") in dict(pack_modules.sources()).values()
