"""What the command line needs to reach a server: two variables, and what a server leaves for its own user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What the command line needs to reach a server.

    Attributes:
        server: Address given by PACKLINE_SERVER.
        token: Token given by PACKLINE_TOKEN.
    """

    server: str | None
    token: str | None

    @classmethod
    def load(cls) -> Self:
        """Reads the two variables."""
        return cls(server=os.environ.get("PACKLINE_SERVER") or None, token=os.environ.get("PACKLINE_TOKEN") or None)


def cli_token_path(data_dir: Path) -> Path:
    """The file in which a server leaves a token for the commands of its own user."""
    return data_dir / "cli-token"


def cli_address_path(data_dir: Path) -> Path:
    """The file in which a server leaves its address for the commands of its own user."""
    return data_dir / "cli-address"
