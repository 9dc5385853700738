"""Documentation that is held to the code: what it shows runs, what exists is in it, what it points to is there."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from graphql import build_schema, parse, validate
from typer.core import TyperGroup

from app.cli.commands import tree
from app.settings.agents import AgentSetting, agents_of
from app.settings.server import Settings
from resolvers.problems import ProblemCode
from runner.agents.definition import AgentStep
from runner.agents.mock import MockAgent
from runner.definitions.check import check_definition
from runner.packs.registry import builtins_folder, load_registry
from runner.triggers.documents import read_triggers
from runner.yaml_documents import load_document
from scripts import reference_pages
from store.states import EventType, Scope
from tests.support.front_door import ran, save
from tests.support.pack_harness import load_module
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("builtins/**/*.md")])
#: A fenced block: its language and its text.
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Types of GraphQL itself, and the roots, whose fields are looked at with their arguments.
SELF_EVIDENT = {"String", "Int", "Float", "Boolean", "ID", "Query", "Mutation", "Subscription"}
#: Folders whose files may name commands.
CODE = ("app", "schema", "resolvers", "catalog", "runner", "store", "packline", "scripts", "tests")
#: A target of make, a script, a module of the tests that is run.
NAMED = re.compile(r"`make ([a-z-]+)`|\b(scripts/\w+\.py)\b|python -m (tests(?:\.[a-z_]+)+)")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


def blocks(language: str) -> list[Any]:
    """Every block of a language, as a parameter named after its page and place."""
    found = []
    for page in PAGES:
        of_page = [text for name, text in BLOCK.findall(page.read_text("utf-8")) if name == language]
        found += [pytest.param(text, id=f"{page.relative_to(ROOT)}-{place}") for place, text in enumerate(of_page, 1)]
    return found


@pytest.mark.parametrize("name", sorted(reference_pages.pages()))
def test_pages_read_off_the_code_are_current(name):
    assert (ROOT / "docs" / name).read_text("utf-8") == reference_pages.pages()[name], "run `make docs`"


def test_every_setting_is_documented():
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    described = [info.name for info in Settings.load({}).describe()]
    assert described
    assert [name for name in described if f"`{name}`" not in page] == []


def test_the_limits_of_documents_are_the_packs():
    page = (ROOT / "docs" / "operators.md").read_text("utf-8")
    bounds, convert, formats, pdf = (
        load_module(name) for name in ("_bounds.py", "doc/_convert.py", "doc/_formats.py", "doc/_pdf.py")
    )
    limits = (
        f"{pdf.MAX_PAGES:,} pages",
        f"{bounds.MAX_HTML_ELEMENTS:,} elements, {bounds.MAX_HTML_OPEN:,} of them open",
        f"{bounds.MAX_XML_ELEMENTS:,} elements in one part, {bounds.MAX_XML_DEPTH:,} within",
        f"{formats.MAX_UNPACKED_BYTES >> 20} MiB unpacked, in {formats.MAX_ARCHIVE_ENTRIES:,} parts",
        f"{convert.CPU_SECONDS} seconds of processor time; {convert.MEMORY_BYTES >> 20} MiB",
    )
    assert [limit for limit in limits if limit not in page] == []


def test_every_problem_scope_and_event_is_documented():
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert [code for code in ProblemCode if f"`{code}`" not in page] == []
    assert [scope for scope in Scope if f"`{scope}`" not in page] == []
    schema = build_schema((ROOT / "schema" / "schema.graphql").read_text("utf-8"))
    events = schema.get_possible_types(schema.type_map["RunEvent"])  # type: ignore[arg-type]
    assert len(events) == len(EventType)
    assert [event.name for event in events if f"... on {event.name}" not in page] == []


@pytest.fixture(scope="module")
def registry():
    return load_registry(builtins_folder(), entry_points=False)


@pytest.fixture(scope="module")
def documented(tmp_path_factory):
    """A folder with the packs that the documentation shows, and their tests."""
    folder = tmp_path_factory.mktemp("documented")
    for block in blocks("python"):
        (text,) = block.values
        file = folder / text.splitlines()[0].removeprefix("# ")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("text", blocks("yaml"))
def test_pipelines_in_the_documentation_check_clean(text, documented):
    registry = load_registry(builtins_folder(), [documented], entry_points=False)
    if text.startswith("steps:"):
        text = f"key: example\nname: Example\n{text}"
    document = load_document(text)
    _, issues = read_triggers(document.pop("triggers", []), datetime.now(UTC))
    found = check_definition(document, registry)
    assert [f"{'.'.join(issue.path)}: {issue.message}" for issue in (*found.issues, *issues)] == []
    assert found.valid


@pytest.mark.parametrize("text", blocks("yml"))
def test_scripts_of_the_mock_agent_in_the_documentation_are_read(text, tmp_path):
    (tmp_path / "script.yaml").write_text(text, "utf-8")
    assert MockAgent.load(tmp_path / "script.yaml").script.answers


def test_agent_profiles_in_the_documentation_are_read():
    page = (ROOT / "docs" / "agent-steps.md").read_text("utf-8")
    tables = {
        key: table
        for name, text in BLOCK.findall(page)
        if name == "toml"
        for key, table in tomllib.loads(text)["agents"].items()
    }
    agents = agents_of(
        {key: AgentSetting.model_validate(table) for key, table in tables.items()},
        folder=ROOT,
        output_bytes=1,
        workspace_bytes=1,
    )
    assert set(agents.profiles) == {"mock", *tables}
    assert [profile.problem for profile in agents.profiles.values() if profile.problem] == []


def test_every_key_of_an_agent_step_is_documented():
    page = (ROOT / "docs" / "agent-steps.md").read_text("utf-8")
    told = {field.name for field in dataclasses.fields(AgentStep)} - {"tools"} | {"prompt", "inputs"}
    assert [name for name in sorted(told) if f"| `{name}` |" not in page] == []


def test_the_tests_in_the_documentation_pass_and_the_check_of_packs_finds_nothing_wrong(documented, tmp_path):
    """As the guide for pack authors says, which begins with a test."""
    page = (ROOT / "docs" / "pack-authors.md").read_text("utf-8")
    assert next(text for name, text in BLOCK.findall(page) if name == "python").startswith("# tests/test_shorten.py\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PACKLINE_", "PYTEST_"))}
    shutil.copytree(documented, tmp_path / "my-packs")
    script = "python -m pytest my-packs && packline check-pack --text my-packs"
    assert all(command in page for command in ("python -m pytest my-packs\n", "packline check-pack my-packs\n"))
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = shell(script, tmp_path, environment)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "6 passed" in done.stdout
    assert "text.shorten 1.0.0: works\n" in done.stdout


PACKS_SHOWN = [block for block in blocks("python") if not block.values[0].startswith("# tests/")]


@pytest.mark.parametrize("text", PACKS_SHOWN)
def test_packs_in_the_documentation_load(text, tmp_path):
    first = text.splitlines()[0]
    assert first.startswith("# packs/"), "the first line names the file"
    file = tmp_path / first.removeprefix("# ")
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    loaded = load_registry(builtins_folder(), [tmp_path], entry_points=False)
    area, verb = file.parent.name, file.stem
    assert [error for error in loaded.load_errors() if str(tmp_path) in error.origin] == []
    assert loaded.find(f"{area}.{verb}") is not None


@pytest.mark.asyncio
async def test_the_packs_with_a_session_in_the_documentation_hand_it_on(tmp_path, documented):
    page = (ROOT / "docs" / "pack-authors.md").read_text("utf-8")
    definition = load_document(next(text for name, text in BLOCK.findall(page) if name == "yaml"))
    async with product(tmp_path, pack_path=(documented,)) as it:
        steps = definition.pop("steps")
        await save(it, definition.pop("key"), *steps, **definition)
        run = await ran(it, "notes-board")
    assert run["state"] == "SUCCEEDED", run["failure"]
    assert [part["output"]["json"] for part in run["steps"]] == [{"count": 1}, {"notes": ["Buy tea", "Boil water"]}]


@pytest.fixture(scope="module")
def schema():
    return build_schema((ROOT / "schema" / "schema.graphql").read_text("utf-8"))


@pytest.mark.parametrize("text", blocks("graphql"))
def test_operations_in_the_documentation_are_valid(text, schema):
    assert [error.message for error in validate(schema, parse(text))] == []


def simple_commands(line: str) -> list[list[str]]:
    """The commands of a shell line, pipes and substitutions taken apart, without variables set before them."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    for token in lexer:
        if set(token) <= set("();<>|&"):
            found.append([])
        elif found[-1] or not re.match(r"[A-Z_]+=", token):
            found[-1].append(token)
    return [words for words in found if words]


def command_lines() -> list[Any]:
    """Every command of the shell blocks that calls `packline` or `make`."""
    found = []
    for page in PAGES:
        for language, text in BLOCK.findall(page.read_text("utf-8")):
            if language not in ("sh", "console"):
                continue
            for line in text.replace("\\\n", " ").splitlines():
                if language == "console" and not line.startswith("$ "):
                    continue
                for words in simple_commands(line.removeprefix("$ ")):
                    if words[0].rpartition("/")[2] in ("packline", "make"):
                        words[0] = words[0].rpartition("/")[2]
                        found.append(pytest.param(words, id=f"{page.relative_to(ROOT)}: {' '.join(words)}"))
    return found


@pytest.mark.parametrize("words", command_lines())
def test_commands_in_the_documentation_exist(words, monkeypatch):
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text("utf-8")
        for target in words[1:]:
            assert "=" in target or re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), target
        return
    command: Any = tree
    rest = words[1:]
    while isinstance(command, TyperGroup) and not (command.invoke_without_command and rest[:1] != ["drain"]):
        assert rest, "a group needs a command"
        assert rest[0] in command.commands, rest[0]
        command = command.commands[rest.pop(0)]
    if rest not in (["--help"], ["-h"]):
        # Parses the options as the command line would, runs nothing, and asks no server for whole ids.
        monkeypatch.setattr("app.cli.base.ids.is_short", lambda *_: False)
        command.make_context(words[1], list(rest))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    lost = []
    for target in LINK.findall(page.read_text("utf-8")):
        path = target.partition("#")[0]
        if re.match(r"[a-z]+:", target) or not path:
            continue
        if not (page.parent / path).exists():
            lost.append(target)
    assert lost == []


def commands_named() -> Iterator[tuple[str, str, Path]]:
    """Where a page or a file of code names a target of make, a script or a module of the tests: kind, name, place."""
    code = [file for folder in CODE for file in (ROOT / folder).rglob("*.py")]
    for place in [*PAGES, ROOT / "Makefile", *code]:
        for target, script, module in NAMED.findall(place.read_text("utf-8")):
            if target:
                yield "make", target, place
            else:
                yield "file", script or module.replace(".", "/"), place


def test_commands_named_beside_code_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = list(commands_named())
    assert {"make", "file"} == {kind for kind, _, _ in named}
    lost = [
        f"{place.relative_to(ROOT)}: {name}"
        for kind, name, place in named
        if not (name in targets if kind == "make" else (ROOT / name).exists() or (ROOT / f"{name}.py").exists())
    ]
    assert lost == []


def test_make_targets_are_listed_by_help():
    text = (ROOT / "Makefile").read_text("utf-8")
    shown = set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))
    assert {"run", "check", "test", "fix", "bench", "lock", "sdl", "docs", "wheel", "clean"} <= shown


def test_everything_in_the_schema_is_described():
    schema = build_schema((ROOT / "schema" / "schema.graphql").read_text("utf-8"))
    bare = []
    for name, kind in schema.type_map.items():
        if name.startswith("__") or name in SELF_EVIDENT:
            continue
        if not kind.description:
            bare.append(name)
        for field, definition in getattr(kind, "fields", {}).items():
            if not definition.description:
                bare.append(f"{name}.{field}")
    for root in (schema.query_type, schema.mutation_type, schema.subscription_type):
        assert root is not None
        for field, definition in root.fields.items():
            if not definition.description:
                bare.append(f"{root.name}.{field}")
            bare += [f"{root.name}.{field}({name})" for name, given in definition.args.items() if not given.description]
    assert bare == []


def test_the_readme_names_the_packs_there_are(registry):
    readme = (ROOT / "README.md").read_text("utf-8")
    box = readme.split("## What is in the box")[1].split("\n## ")[0]
    table = "\n".join(line for line in box.splitlines() if line.startswith("|"))
    named = re.findall(r"`([a-z]+\.[a-z_]+)`", table)
    shipped = {name for name in registry.names() if not name.startswith("practice.")}
    assert sorted(named) == sorted(shipped)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_tour_of_the_readme_works(tmp_path):
    """Every shell block under "Five minutes", in order, against a server of its own."""
    readme = (ROOT / "README.md").read_text("utf-8")
    tour = readme.split("## Five minutes")[1].split("\n## ")[0]
    (tmp_path / "brief.yaml").write_text(next(text for name, text in BLOCK.findall(tour) if name == "yaml"), "utf-8")
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parent.parent)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PACKLINE_")}
    with serving(tmp_path / ".packline", environment):
        for text in (text for name, text in BLOCK.findall(tour) if name == "sh"):
            # The first block sets variables that the later ones need.
            done = shell(f"{EXPORTS}\n{text}", tmp_path, environment)
            fails_on_purpose = "packline run sample" in text
            assert done.returncode == (1 if fails_on_purpose else 0), f"{text}\n{done.stdout}\n{done.stderr}"
    assert sorted(file.suffix for file in (tmp_path / "decks").iterdir()) == [".pdf", ".pptx"]


EXPORTS = "export PATH=$PWD/.venv/bin:$PATH PACKLINE_DATA_DIR=$PWD/.packline"


def shell(script: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def serving(data: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """A server of the command line, as users start it, until the block ends."""
    data.mkdir()
    with (data / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [Path(sys.executable).parent / "packline", "up", "--port", "0", "--data-dir", str(data)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        until = time.monotonic() + 120
        while "Packline is running" not in (data / "server.log").read_text("utf-8"):
            waiting = server.poll() is None and time.monotonic() < until
            assert waiting, (data / "server.log").read_text("utf-8")
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait(60)
