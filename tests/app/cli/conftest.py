import json
import os
import sys

import pytest

from app.cli import main
from tests.support.graphql_server import CannedServer


@pytest.fixture(autouse=True)
def own_environment(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith("PACKLINE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PACKLINE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "140")


@pytest.fixture(scope="package")
def canned(tmp_path_factory):
    with CannedServer(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def server(canned, monkeypatch):
    canned.reset()
    monkeypatch.setenv("PACKLINE_SERVER", canned.url)
    monkeypatch.setenv("PACKLINE_TOKEN", "pkl_test")
    return canned


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def packline(monkeypatch, capsys):
    """Runs the command line as the shell does and gives its exit status and output."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["packline", *arguments])
        capsys.readouterr()
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return call
