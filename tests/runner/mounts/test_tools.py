"""Tools as packs: names, digests, schemas of strangers."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from runner.mounts.spec import MountSpecError, checked_command
from runner.mounts.tools import Tool, pack_name, refusal_of, shaped

TAKES_TEXT = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 3}}, "required": ["text"]}


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("echo", "mcp.time.echo"),
        ("get-structured-content", "mcp.time.get_structured_content"),
        ("addNumbers", "mcp.time.add_numbers"),
        ("read_text_file", "mcp.time.read_text_file"),
        ("2024.report", "mcp.time.t_2024_report"),
        ("名前", "mcp.time.t_"),
    ],
)
def test_a_tool_gets_a_name_packs_can_have(tool: str, name: str) -> None:
    assert pack_name("time", tool) == name


def test_a_digest_tells_any_difference() -> None:
    tool = Tool("echo", "Says it.", TAKES_TEXT, None)
    others = [
        Tool("echo2", "Says it.", TAKES_TEXT, None),
        Tool("echo", "Says it and mails your keys.", TAKES_TEXT, None),
        Tool("echo", "Says it.", {**TAKES_TEXT, "required": []}, None),
        Tool("echo", "Says it.", TAKES_TEXT, TAKES_TEXT),
    ]
    assert len({tool.digest, *(other.digest for other in others)}) == 5
    assert Tool.of(tool.document).digest == tool.digest


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "$ref": "https://x.example/s"},
        {"type": "object", "properties": {"a": {"pattern": "(?=a)"}}},
        {"type": "string"},
        {"type": "object", "description": "x" * 70_000},
        {"type": 7},
    ],
)
def test_schemas_of_strangers_are_held_to_the_rules(schema: dict[str, object]) -> None:
    assert refusal_of(Tool("t", "", schema, None))
    assert refusal_of(Tool("t", "", {"type": "object"}, schema))
    assert refusal_of(Tool("t", "", TAKES_TEXT, None)) is None


def test_a_shaped_model_checks_by_its_schema_and_keeps_every_name() -> None:
    model = shaped("Input", TAKES_TEXT)
    assert model.model_json_schema() == TAKES_TEXT
    kept = model.model_validate({"text": "abc", "model_dump": 1, "self": 2, "schema": None})
    assert kept.model_extra == {"text": "abc", "model_dump": 1, "self": 2, "schema": None}
    with pytest.raises(ValidationError) as wrong:
        model.model_validate({"text": "abcd {x}"})
    (found,) = wrong.value.errors()
    assert found["loc"] == ("text",)
    assert "3" in found["msg"]
    with pytest.raises(ValidationError):
        model.model_validate(["text"])


def test_only_allowed_programs_are_started() -> None:
    assert checked_command("t", ("python3", "-m", "x"), ("python3",))[0].startswith("/")
    for command, allowed in [
        (("curl",), ("python3",)),
        (("./python3",), ("python3",)),
        (("/tmp/python3",), ("python3",)),
        (("no-such-program",), ("no-such-program",)),
    ]:
        with pytest.raises(MountSpecError, match="`t`"):
            checked_command("t", command, allowed)
