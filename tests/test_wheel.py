"""What the wheel holds, and that `packline` runs from it without the sources."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def in_git(*folders):
    """The files of some folders that are under version control."""
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}


def test_the_wheel_holds_everything_and_nothing_else(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = in_git("app", "schema", "resolvers", "catalog", "runner", "store", "packline")
    shipped = {name.replace("builtins/", "runner/_builtins/", 1) for name in in_git("builtins")}
    pages = {name for name in held if name.startswith("app/ui_dist/")}
    assert sorted((sources | shipped) - held) == []
    assert [name for name in pages if name.endswith(".map")] == []
    # What lies about uncommitted is packed as well; anything outside our folders must not be.
    assert {name.partition("/")[0] for name in held} == {
        "app", "schema", "resolvers", "catalog", "runner", "store", "packline",
    }  # fmt: skip
    if (ROOT / "app" / "ui_dist" / "graphiql" / "index.html").is_file():
        assert "app/ui_dist/graphiql/index.html" in pages


def test_packline_runs_from_the_wheel(wheel, tmp_path):
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    probe = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.path = [p for p in sys.path if p != sys.argv[2]]\n"
        "import runner.packs.registry as registry\n"
        "found = registry.load_registry(registry.builtins_folder(), entry_points=False)\n"
        "print(registry.builtins_folder()); print(*found.load_errors()); print(*found.names())"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, str(installed), str(ROOT)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    folder, errors, names = done.stdout.splitlines()
    assert Path(folder) == installed / "runner" / "_builtins"
    assert errors == ""
    assert "slides.render" in names.split()
