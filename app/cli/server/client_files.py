"""Add our entry to the configuration file of an agent's program, leaving the rest unchanged."""

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
    """A change of a configuration file.

    Attributes:
        path: The file.
        before: Its text; None if it does not exist yet.
        after: Its text with our entry.
    """

    path: Path
    before: str | None
    after: str

    def diff(self, secret: str | None) -> str:
        """The line diff, with the token masked, because terminals are recorded and shared."""
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
        """Write the file atomically, and return the path of the backup, if there is one.

        Raises:
            CliError: the file cannot be written; it is unchanged.
        """
        # Keep a symbolic link, and write its target.
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
    """The change that adds the entry to the client's file.

    Raises:
        CliError: the file cannot be read, or is not valid TOML or plain JSON.
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
        raise CliError(f"{path} is not valid TOML: {error}. Correct it, or add the entry by hand.") from error
    return tomlkit.dumps(document)


def _with_json(setup: Setup, path: Path, before: str) -> str:
    try:
        document = json.loads(before)
    except ValueError as error:
        raise CliError(
            f"{path} is not plain JSON ({error}); writing it could lose comments. Run the command without --write to "
            "print the entry, and add it by hand."
        ) from error
    table = document
    for key in setup.place[:-1]:
        if isinstance(table, dict):
            table = table.setdefault(key, {})
    if not isinstance(table, dict):
        raise CliError(f"`{'.'.join(setup.place[:-1])}` in {path} is not an object. Add the entry by hand.")
    table[setup.place[-1]] = setup.entry
    return json.dumps(document, indent=_indent_of(before), ensure_ascii=False) + "\n"


def _indent_of(text: str) -> int | str:
    """The indentation of the file, to keep it."""
    for line in text.splitlines()[1:]:
        space = line[: len(line) - len(line.lstrip())]
        if space:
            return space if "\t" in space else len(space)
    return 2


def _backup_of(target: Path) -> Path:
    """An unused name for a backup."""
    number = 0
    while True:
        backup = target.with_name(f"{target.name}.before-packline{f'-{number}' if number else ''}")
        if not backup.exists():
            return backup
        number += 1


def _copy_private(source: Path, target: Path) -> None:
    # The file may contain tokens of other servers.
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(source.read_bytes())
