from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from app.cli.documents import DOCUMENTS

SDL = Path(__file__).resolve().parents[3] / "schema" / "schema.graphql"


@pytest.fixture(scope="module")
def schema():
    return build_schema(SDL.read_text("utf-8"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_fit_the_schema(name, schema):
    assert [error.message for error in validate(schema, parse(DOCUMENTS[name]))] == []


def test_documents_are_all_listed():
    assert {"RUN", "RUN_EVENTS", "RUN_PIPELINE", "CREATE_TOKEN"} <= set(DOCUMENTS)
