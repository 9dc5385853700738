"""Pack folders written on the spot."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PACK = '''
from __future__ import annotations

from pydantic import BaseModel

from packline import PackContext, pack


class Input(BaseModel):
    text: str = ""


class Output(BaseModel):
    text: str


@pack("{name}", version="{version}", effects="none", repeatable=True)
async def run(ctx: PackContext, input: Input) -> Output:
    """Gives back the text."""
    return Output(text=input.text)
'''


def pack_source(name: str, version: str = "1.0.0") -> str:
    """A pack file that declares one pack."""
    return _PACK.format(name=name, version=version)


def write_pack_folder(folder: Path, files: dict[str, str]) -> Path:
    """Writes files below `folder/packs/`; returns the pack folder.

    Args:
        folder: Made when it does not exist.
        files: Source by path such as `text/echo.py`; indentation is taken off.
    """
    for path, source in files.items():
        file = folder / "packs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(source), encoding="utf-8")
    return folder
