"""Writes the draft of a new revision: what the models have and the newest revision lacks.

    python -m store.migrations.draft 0011 "Add a priority to pipelines"
    ruff format store/migrations/versions

Read it and correct it; tests fail until all agree.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from store.database.upgrade import FOLDER, configuration, upgrade_sqlite


def draft(revision: str, message: str) -> Path:
    """Compare the models with the newest revision, write `versions/<revision>_<words>.py` and return its path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draft.db"
        if any((FOLDER / "versions").glob("*.py")):
            upgrade_sqlite(path, "head")
        engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
        with engine.begin() as connection:
            script = command.revision(configuration(connection), message, autogenerate=True, rev_id=revision)
        engine.dispose()
    if script is None or isinstance(script, list):
        raise RuntimeError("Alembic wrote no single revision.")
    path = Path(script.path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "# ### " not in line))
    return path


if __name__ == "__main__":
    print(draft(sys.argv[1], sys.argv[2]))
