"""Prompts for secrets."""

from __future__ import annotations

import sys

from app.cli.base.exits import CliError


def ask_secret(question: str, *, twice: bool = False) -> str:
    """Prompt for a secret without echo.

    Raises:
        CliError: there is no terminal, nothing was typed, or the repetition differs.
    """
    import getpass

    if not sys.stdin.isatty():
        raise CliError(f"There is no terminal to prompt for: {question}.")
    typed = getpass.getpass(f"{question}: ")
    if not typed:
        raise CliError("Nothing was typed.")
    if twice and getpass.getpass("Again: ") != typed:
        raise CliError("The two entries differ.")
    return typed
