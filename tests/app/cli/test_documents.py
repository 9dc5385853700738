import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

import app.cli
from app.cli.commands import tree

#: Each module of the command line that says something to a server.
MODULES = [importlib.import_module(module.name) for module in pkgutil.walk_packages(app.cli.__path__, "app.cli.")]
_OPERATION = re.compile(r"^(query|mutation|subscription) ", re.MULTILINE)
#: Constants of these modules that are whole documents, not fragments.
DOCUMENTS = {
    name: text
    for module in MODULES
    for name, text in vars(module).items()
    if name.isupper() and isinstance(text, str) and _OPERATION.search(text)
}
SDL = Path(__file__).resolve().parents[3] / "schema" / "schema.graphql"


@pytest.fixture(scope="module")
def schema():
    return build_schema(SDL.read_text("utf-8"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_fit_the_schema(name, schema):
    assert [error.message for error in validate(schema, parse(DOCUMENTS[name]))] == []


def test_documents_are_all_listed():
    assert {"RUN", "RUN_EVENTS", "RUN_PIPELINE", "CREATE_TOKEN", "ROUTE", "_SERVER_STATE"} <= set(DOCUMENTS)


def _commands(group):
    for command in group.commands.values():
        yield from _commands(command) if hasattr(command, "commands") else [command]


def test_no_option_of_a_command_hides_another():
    for command in _commands(tree):
        names = [name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)]
        assert len(names) == len(set(names)), command.name
