"""The JSON Schema for editors accepts what the parser accepts, and refuses what it can of the rest."""

import copy
import functools

import pytest

from runner.definitions.editor_schema import definition_schema, with_schema_line, without_schema_line
from runner.definitions.parsing import parse_definition
from runner.packs.registry import builtins_folder
from runner.schemas.validation import compile_schema
from runner.yaml_documents import load_document

STARTERS = sorted(file for file in (builtins_folder() / "pipelines").glob("*.yaml") if file.name != "aliases.yaml")
GOOD = {
    "key": "good",
    "name": "Good",
    "inputs": {"properties": {"url": {"type": "string"}}},
    "concurrency": {"limit": 1, "key": "${{ inputs.url }}"},
    "steps": [
        {"id": "read", "pack": "web.scrape", "version": 1, "input": {"url": "${{ inputs.url }}"}},
        {
            "id": "write",
            "agent": {
                "use": {"env": "TEAM", "default": "mock", "map": {"own": "team"}},
                "prompt": "Write.",
                "commands": {"rules": [{"program": "git", "args_prefix": ["log"], "allow": True}]},
                "credentials": {"GITHUB_TOKEN": "github.token"},
                "retry": {"max_attempts": 2},
            },
            "timeout_seconds": 5,
        },
    ],
    "metadata": {"accepts": ["url"], "typical_use": "For tests."},
}


@functools.cache
def schema():
    return compile_schema(definition_schema(64))


def refused(document):
    return bool(schema().issues(document))


def changed(path, value):
    document = copy.deepcopy(GOOD)
    *outer, last = path
    holder = functools.reduce(lambda inner, key: inner[key], outer, document)
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return document


@pytest.mark.parametrize("file", STARTERS, ids=lambda file: file.stem)
def test_every_starter_fits(file):
    assert schema().issues(load_document(file.read_text("utf-8"))) == []


def test_each_kind_of_step_fits():
    assert parse_definition(GOOD)[1] == []
    assert schema().issues(GOOD) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("name",), None),
        (("name",), 5),
        (("name",), "x" * 201),
        (("steps",), []),
        (("steps",), [GOOD["steps"][0]] * 65),
        (("stepz",), []),
        (("key",), "Good"),
        (("inputs",), {"type": "array"}),
        (("deadline_seconds",), 0),
        (("concurrency",), {}),
        (("concurrency", "limit"), 0),
        (("concurrency", "key"), 1),
        (("concurrency", "keys"), "x"),
        (("metadata", "about"), "x"),
        (("steps", 0, "id"), None),
        (("steps", 0, "id"), "1st"),
        (("steps", 0, "pack"), None),
        (("steps", 0, "pack"), "agent"),
        (("steps", 0, "version"), "1.2"),
        (("steps", 0, "inputs"), {}),
        (("steps", 0, "input"), [1]),
        (("steps", 0, "retry"), {"max_attempts": 11}),
        (("steps", 0, "retry"), {"max_attempts": 1.5}),
        (("steps", 0, "retry"), {"max_attempt": 1}),
        (("steps", 0, "timeout_seconds"), 86_401),
        (("steps", 1, "pack"), "web.scrape"),
        (("steps", 1, "agent", "use"), None),
        (("steps", 1, "agent", "use", "otherwise"), "mock"),
        (("steps", 1, "agent", "prompt"), 5),
        (("steps", 1, "agent", "isolation"), "none"),
        (("steps", 1, "agent", "commands", "fallback"), "ask"),
        (("steps", 1, "agent", "commands", "rules", 0, "allow"), None),
        (("steps", 1, "agent", "credentials", "A B"), "github.token"),
        (("steps", 1, "agent", "tools"), ["Get Run"]),
        (("steps", 1, "agent", "retry", "jitter"), 2),
    ],
    ids=str,
)
def test_what_the_parser_refuses_of_the_form_is_refused(path, value):
    document = changed(path, value)
    assert parse_definition(document)[0] is None
    assert refused(document)


def test_the_line_for_editors_is_added_once_and_taken_off_when_saved():
    text = "# Mine\nkey: a\n"
    exported = with_schema_line(text, "http://127.0.0.1:8420")
    assert exported.splitlines()[0] == "# yaml-language-server: $schema=http://127.0.0.1:8420/schema/pipeline.json"
    assert with_schema_line(exported, "http://elsewhere") == exported
    assert without_schema_line(exported) == text
    own = "# yaml-language-server: $schema=./mine.json\nkey: a\n"
    assert with_schema_line(own, "http://127.0.0.1:8420") == without_schema_line(own) == own
