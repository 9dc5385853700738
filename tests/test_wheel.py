"""The wheel carries everything the product reads at run time, and runs from wherever it is put."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

_LOOK = """
import json
import runner.registry as registry
from runner.starters import load_starters
folder = registry.builtins_folder()
loaded = registry.load_registry(folder, (), entry_points=False)
starters = load_starters(folder / "pipelines", loaded)
print(json.dumps({
    "from": registry.__file__,
    "folder": str(folder),
    "packs": loaded.names(),
    "errors": [error.message for error in loaded.load_errors()],
    "starters": len(list((folder / "pipelines").glob("*.yaml"))),
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_carries_what_ships_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    shipped = {
        f"runner/_builtins/{path.relative_to(ROOT / 'builtins').as_posix()}"
        for path in (ROOT / "builtins").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped <= names
    assert {"catalog/kinds.yaml", "schema/schema.graphql"} <= names
    assert any(name.startswith("store/migrations/versions/") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "frontend/", "docs/", "scripts/", "builtins/"))]
    assert not [name for name in names if name.endswith((".map", ".pyc"))]


@pytest.mark.slow
def test_packs_and_starters_load_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)

    answer = subprocess.run(
        [sys.executable, "-c", _LOOK],
        cwd="/",
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    found = json.loads(answer.stdout)

    assert found["from"].startswith(str(tmp_path))
    assert found["folder"] == str(tmp_path / "runner" / "_builtins")
    assert found["errors"] == []
    assert {"doc.parse", "slides.render", "repo.fetch"} <= set(found["packs"])
    assert found["starters"] == len(list((ROOT / "builtins" / "pipelines").glob("*.yaml")))
