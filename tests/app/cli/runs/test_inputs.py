import io

import pytest

from app.cli.base.exits import CliError
from app.cli.runs.inputs import read_inputs, read_json_object, takes_file

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "draft": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "options": {"type": "object"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "named": {"$ref": "#/$defs/Count"},
        "choice": {"enum": [1, 2]},
        "open": {},
    },
    "$defs": {"Count": {"type": "integer"}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("pairs", "given"),
    [
        (["text=12"], {"text": "12"}),
        (["text=a=b"], {"text": "a=b"}),
        (["text="], {"text": ""}),
        (["text=@@home"], {"text": "@home"}),
        (["count=12", "share=2", "draft=Yes"], {"count": 12, "share": 2, "draft": True}),
        (["tags=a", "tags=b"], {"tags": ["a", "b"]}),
        (['tags=["a","b"]'], {"tags": ["a", "b"]}),
        (["sizes=1", "sizes=2"], {"sizes": [1, 2]}),
        (['options={"a":1}'], {"options": {"a": 1}}),
        (["maybe=null", "named=3", "choice=2"], {"maybe": None, "named": 3, "choice": 2}),
        (["open=12"], {"open": 12}),
        (["open=twelve"], {"open": "twelve"}),
        (["open=NaN"], {"open": "NaN"}),
        (["text:=null"], {"text": None}),
    ],
)
def test_values_are_read_by_the_schema(pairs, given):
    assert read_inputs(pairs, None, SCHEMA) == given


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["count=many"], "The input `count` must be a whole number, not `many`."),
        (["count=1.5"], "The input `count` must be a whole number, not `1.5`."),
        (["draft=2"], "The input `draft` must be true or false, not `2`."),
        (["sizes=1", "sizes=x"], "The input `sizes` must be a whole number, not `x`."),
        (["txet=1"], "There is no input `txet`. Did you mean `text`?"),
        (["text"], "`text` is not of the form NAME=VALUE. Write --input name=value."),
        (["=1"], "`=1` is not of the form NAME=VALUE"),
        (["share=1e999"], "The input `share` must be a number, not `1e999`."),
        (["share:=NaN"], "The input `share` is not JSON: NaN is not a JSON number."),
        (["open:=" + "[" * 100_000], "The input `open` is not JSON: it is nested too deep."),
        (["text=a", "text=b"], "The input `text` is given twice, but accepts one value."),
        (["text:={"], "The input `text` is not JSON"),
        (["text=@/no/such/file"], "--input text: The file /no/such/file cannot be read: No such file or directory."),
    ],
)
def test_what_cannot_be_read_is_named(pairs, message):
    with pytest.raises(CliError) as raised:
        read_inputs(pairs, None, SCHEMA)
    assert message in str(raised.value)
    assert raised.value.status == 2


@pytest.mark.parametrize(
    ("name", "part", "takes"),
    [
        ("text", {"type": "string", "description": "Any text."}, False),
        ("count", {"type": "integer", "description": "Artifacts to make."}, False),
        ("source", {"type": "string", "description": "Id of an uploaded file, `art_…`."}, True),
        ("audio_artifact_key", {"type": "string"}, True),
        ("attachments", {"type": "array", "items": {"type": "string"}}, True),
        ("cover", {"type": "string", "format": "artifact"}, True),
        ("open", {"$ref": "#/$defs/Open"}, True),
    ],
)
def test_an_input_for_a_file_is_known_by_its_name_and_description(tmp_path, name, part, takes):
    schema = {"type": "object", "properties": {name: part}}
    assert takes_file(name, schema) is takes
    (tmp_path / "picture").write_bytes(b"\xff\xd8")
    with pytest.raises(CliError, match="send it with --upload" if takes else "save it as UTF-8"):
        read_inputs([f"{name}=@{tmp_path / 'picture'}"], None, schema)


def test_files_and_pairs_join_and_pairs_win(tmp_path):
    file = tmp_path / "inputs.yaml"
    file.write_text("text: from file\ncount: 1\ntags: [x]\n")
    assert read_inputs(["count=2", "tags=y"], str(file), SCHEMA) == {"text": "from file", "count": 2, "tags": ["y"]}
    file.write_text('{"text": "json"}')
    assert read_inputs([], str(file), SCHEMA) == {"text": "json"}
    file.write_text("- 1\n")
    with pytest.raises(CliError, match=r"The inputs file .*inputs\.yaml cannot be read"):
        read_inputs([], str(file), SCHEMA)


def test_text_comes_from_files_and_standard_input(tmp_path, monkeypatch):
    file = tmp_path / "text.md"
    file.write_text("# Übersicht\n", "utf-8")
    assert read_inputs([f"text=@{file}"], None, SCHEMA) == {"text": "# Übersicht\n"}
    monkeypatch.setattr("sys.stdin", io.StringIO("typed"))
    assert read_inputs(["text=@-"], None, SCHEMA) == {"text": "typed"}
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(CliError, match="it is not UTF-8 text"):
        read_inputs([f"text=@{file}"], None, SCHEMA)


def test_without_a_schema_everything_is_taken():
    assert read_inputs(["a=1", "b=x"], None, {}) == {"a": 1, "b": "x"}


def test_a_schema_that_refers_to_itself_ends():
    loop = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert read_inputs(["a=1"], None, loop) == {"a": 1}


def test_json_objects_of_options():
    assert read_json_object(None, "--step-input") is None
    assert read_json_object('{"a": 1}', "--step-input") == {"a": 1}
    for wrong in ("[1]", "{"):
        with pytest.raises(CliError, match="--step-input is not"):
            read_json_object(wrong, "--step-input")
