"""What only people start still works: the parts of it that need nothing from outside."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.routing import weights as routing_weights
from tests.bench.figures import Counts
from tests.bench.peers.__main__ import our_figures, table_of
from tests.bench.peers.compared import AT_ONCE, MARGINAL_STEP, TEN_STEPS

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def run(*words: str, folder: Path = ROOT) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        # On a busy machine threads of numpy wait for each other for a minute, where one is done in seconds.
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tests_against_a_real_model_load() -> None:
    assert "test_it_writes" in run("-m", "pytest", "--collect-only", "-q", "tests/llm/real_model.py")


@pytest.mark.sweep
def test_weights_of_routing_are_fitted_and_written(tmp_path: Path) -> None:
    (tmp_path / "catalog" / "routing").mkdir(parents=True)
    told = run("-m", "tests.bench.routing.fit", "--write", "--misses", folder=tmp_path)
    assert "training     top-1" in told
    written = runpy.run_path(str(tmp_path / "catalog" / "routing" / "weights.py"))
    for name in ("RANKING", "SERVED", "RIGHT"):
        assert written[name].keys() == getattr(routing_weights, name).keys(), name


def test_a_revision_is_drafted_from_what_the_models_have_more(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "store", tmp_path / "store")
    models = tmp_path / "store" / "models" / "memory.py"
    column = "    paused_at: datetime | None = None"
    assert column in models.read_text()
    models.write_text(models.read_text().replace(column, f"    stopped_at: datetime | None = None\n{column}"))
    drafted = Path(run("-m", "store.migrations.draft", "9999", "One more", folder=tmp_path).splitlines()[-1])
    assert drafted.is_relative_to(tmp_path)
    changes = [line.strip() for line in drafted.read_text().splitlines() if "batch_op." in line]
    assert changes == [
        "batch_op.add_column(sa.Column('stopped_at', sa.DateTime(timezone=True), nullable=True))",
        "batch_op.drop_column('stopped_at')",
    ]


@pytest.mark.sweep
def test_packline_has_every_figure_that_its_peers_are_compared_by() -> None:
    theirs = {MARGINAL_STEP: 1e6, TEN_STEPS: 1e6, AT_ONCE: 1e-6}
    table = table_of(theirs, our_figures(Counts(tiny=True)))
    assert list(table.columns[0].cells) == list(theirs)
    ratios = [str(cell).removesuffix(" x") for cell in table.columns[3].cells]
    assert all(float(ratio) > 1 for ratio in ratios), ratios
