"""The environment that `make run` and `make test` make, where one was left half-made."""

import subprocess
import sys

import pytest

from scripts import environment


@pytest.fixture
def lock(tmp_path, monkeypatch):
    """A lock that asks for nothing, and no installing."""
    empty = tmp_path / "requirements.lock"
    empty.touch()
    monkeypatch.setattr(environment, "LOCKS", {"runtime": empty, "dev": empty})
    installed = []
    monkeypatch.setattr(environment, "_install", lambda kind, folder, python: installed.append(kind))
    return installed


def test_an_environment_left_half_made_is_made_again_and_a_whole_one_is_left_alone(tmp_path, lock):
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    environment.ensure("runtime", folder)
    done = subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "--version"], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert lock == ["runtime"]
    (folder / "ours").touch()
    environment.ensure("runtime", folder)
    assert (folder / "ours").exists()
    assert lock == ["runtime"]
