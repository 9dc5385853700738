"""Puts our entry into an agent's own configuration file, and leaves everything else in it as it is."""

from __future__ import annotations

import difflib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.base.exits import CliError
from resolvers.agents.agent_clients import put_toml

if TYPE_CHECKING:
    from resolvers.agents.agent_clients import Setup


@dataclass(frozen=True, slots=True)
class Change:
    """What would be written.

    Attributes:
        path: The file.
        before: Its text; None when there is no such file yet.
        after: Its text with our entry.
    """

    path: Path
    before: str | None
    after: str

    def diff(self, secret: str | None) -> str:
        """The difference, line by line, with the token masked: terminals are recorded and shared."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(),
            self.after.splitlines(),
            "/dev/null" if self.before is None else str(self.path),
            str(self.path),
            n=2,
            lineterm="",
        )
        text = "\n".join(lines)
        return text.replace(secret, "***") if secret else text

    def write(self) -> Path | None:
        """Writes the file, complete or not at all; where the former one lies now.

        Raises:
            CliError: it cannot be written; nothing has changed.
        """
        # A file that other programs find by a link stays where the link leads.
        target = self.path.resolve()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            backup = None if self.before is None else _backup_of(target)
            mode = 0o600 if backup is None else target.stat().st_mode & 0o777
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
            ) as file:
                file.write(self.after)
            part = Path(file.name)
            try:
                part.chmod(mode)
                if backup is not None:
                    _copy_private(target, backup)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise CliError(
                f"{self.path} cannot be written: {error.strerror or error}. Add the entry by hand."
            ) from error
        return backup


def change_for(setup: Setup, path: Path) -> Change:
    """What adding the entry makes of the client's file.

    Raises:
        CliError: the file cannot be read, or is not what its client would read without comments.
    """
    try:
        before = path.read_text("utf-8")
    except FileNotFoundError:
        return Change(path, None, setup.text)
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{path} cannot be read: {error}. Add the entry by hand.") from error
    if not before.strip():
        return Change(path, before, setup.text)
    return Change(
        path, before, _with_toml(setup, path, before) if setup.language == "toml" else _with_json(setup, path, before)
    )


def _with_toml(setup: Setup, path: Path, before: str) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(before)
        put_toml(document, setup.place, setup.entry)
    except (TOMLKitError, TypeError) as error:
        raise CliError(
            f"{path} is not the TOML its client reads: {error}. Mend it, or add the entry by hand."
        ) from error
    return tomlkit.dumps(document)


def _with_json(setup: Setup, path: Path, before: str) -> str:
    try:
        document = json.loads(before)
    except ValueError as error:
        raise CliError(
            f"{path} is not plain JSON ({error}); if it holds comments, writing it would lose them. "
            "Add the entry by hand; without --write it is printed."
        ) from error
    table = document
    for key in setup.place[:-1]:
        if isinstance(table, dict):
            table = table.setdefault(key, {})
    if not isinstance(table, dict):
        raise CliError(
            f"{path} has something else where `{'.'.join(setup.place[:-1])}` belongs. Add the entry by hand."
        )
    table[setup.place[-1]] = setup.entry
    return json.dumps(document, indent=_indent_of(before), ensure_ascii=False) + "\n"


def _indent_of(text: str) -> int | str:
    """How the file is indented, so that the rest of it stays as it is."""
    for line in text.splitlines()[1:]:
        space = line[: len(line) - len(line.lstrip())]
        if space:
            return space if "\t" in space else len(space)
    return 2


def _backup_of(target: Path) -> Path:
    """A name no earlier copy has."""
    number = 0
    while True:
        backup = target.with_name(f"{target.name}.before-packline{f'-{number}' if number else ''}")
        if not backup.exists():
            return backup
        number += 1


def _copy_private(source: Path, target: Path) -> None:
    # Other servers' tokens are in it.
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(source.read_bytes())
