"""What the command line needs to reach a server: two variables, and two files a server writes for its own user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings of the command line.

    Attributes:
        server: Address given by PACKLINE_SERVER.
        token: Token given by PACKLINE_TOKEN.
    """

    server: str | None
    token: str | None

    @classmethod
    def load(cls) -> Self:
        return cls(server=os.environ.get("PACKLINE_SERVER") or None, token=os.environ.get("PACKLINE_TOKEN") or None)


def cli_token_path(data_dir: Path) -> Path:
    """The file with a token for commands, which a server writes for its own user."""
    return data_dir / "cli-token"


def cli_address_path(data_dir: Path) -> Path:
    """The file with the server's address for commands, which a server writes for its own user."""
    return data_dir / "cli-address"
