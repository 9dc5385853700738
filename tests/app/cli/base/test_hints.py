"""Hints lead to commands of the command line, whatever the API calls things."""

import ast
from pathlib import Path

from strawberry.utils.str_converters import to_camel_case

from app.cli.base.output import COMMANDS, hint_words
from app.cli.commands import tree
from resolvers.operations import OPERATIONS
from schema.build import build_schema
from tests.support.machine import Machine

RESOLVERS = Path(__file__).parents[4] / "resolvers"


def test_every_operation_that_a_hint_names_has_a_field_and_a_command():
    named = {
        part.value.value
        for file in RESOLVERS.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Hint"
        for part in call.keywords
        if part.arg == "operation" and isinstance(part.value, ast.Constant)
    }
    assert named == set(COMMANDS)
    schema = build_schema()._schema
    assert named <= OPERATIONS.keys()
    assert {
        to_camel_case(name) for name in named
    } <= schema.query_type.fields.keys() | schema.mutation_type.fields.keys()
    for words in COMMANDS.values():
        command = tree
        for word in words.split()[1:]:
            command = command.commands[word]


def test_a_hint_names_the_command_in_place_of_the_operation():
    assert hint_words({"hintParts": {"text": None, "closest": None, "operation": "callers"}}) == (
        "Try `packline callers`."
    )
    assert hint_words({"hintParts": {"text": "Or wait.", "closest": "brew", "operation": None}}) == (
        "Did you mean `brew`? Or wait."
    )
    assert hint_words({"hintParts": None}) == ""
    again = {"text": None, "closest": None, "operation": "rerun_run"}
    assert hint_words({"hintParts": again, "wrongRun": {"id": "run_1"}}) == "Try `packline rerun run_1`."
    enable = {"hintParts": {"text": None, "closest": None, "operation": "enable_caller"}}
    assert hint_words(enable, {"subject": "the bot"}) == "Try `packline callers enable 'the bot'`."


def test_hints_and_kinds_against_a_real_server(tmp_path):
    broken = tmp_path / "mine" / "packs" / "text" / "broken.py"
    broken.parent.mkdir(parents=True)
    broken.write_text("import nothing_of_this_name\n")
    machine = Machine(tmp_path)
    machine.environment["PACKLINE_PACK_PATH"] = str(tmp_path / "mine")
    why = "The pack `text.broken` could not be loaded from packs/text/broken.py: No module named 'nothing_of_this_name'"
    with machine.up():
        for arguments, told in (
            (("token", "revoke", "nope"), "Try `packline callers`."),
            (("memory", "forget", "entry:nope", "--yes"), "Try `packline memory entries`."),
            (("memory", "defaults", "--caller", "nope"), "Try `packline callers`."),
            (("run", "slides_outline", "--input", "text=x"), "There is no pipeline"),
            (("run", "text.broken"), why),
            (("run", "builtin.grounded-blog", "--dry-run", "-i", "markdown=x"), "is now `brief-rewrite-blog`"),
            (("export", "text.broken"), why),
            (("export", "slides.outline"), "`slides.outline` is a pack. Try `packline run`."),
            (("packs", "--accepts", "markdwon"), "There is no kind `markdwon`. Did you mean `markdown`?"),
            (("packs", "--produces", "bogus", "--json"), "no kind `bogus`. `packline packs` shows all kinds."),
        ):
            refused = machine.run(*arguments)
            assert refused.returncode == 2, (arguments, refused.stdout)
            assert told in refused.stderr, (arguments, refused.stderr)
            assert "{" not in refused.stderr
        assert "No packs match" not in machine.run("packs", "--accepts", "markdown").stderr
