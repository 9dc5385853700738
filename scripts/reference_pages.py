#!/usr/bin/env python3
"""Write the generated pages of `docs/`: settings, commands, failures and kinds, states.

.venv/bin/python scripts/reference_pages.py            write them
.venv/bin/python scripts/reference_pages.py --check    only list outdated ones
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import states_diagram

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NOTE = "Made by `make docs` from {source}.\n"


def main() -> int:
    """Writes the pages, or with `--check` returns 1 when one is not current."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    given = parser.parse_args()
    stale = []
    for name, text in pages().items():
        file = ROOT / "docs" / name
        if not file.is_file() or file.read_text("utf-8") != text:
            stale.append(name)
            if not given.check:
                file.write_text(text, "utf-8")
                print(f"docs/{name} written")
    if stale and given.check:
        print(f"Not current: {', '.join(stale)}. Run `make docs`.", file=sys.stderr)
        return 1
    return 0


def pages() -> dict[str, str]:
    """Every page by its file name in `docs/`."""
    return {
        "commands.md": commands_page(),
        "failures.md": failures_page(),
        "kinds.md": kinds_page(),
        "settings.md": settings_page(),
        "states.md": states_diagram.page(),
    }


def settings_page() -> str:
    """Every setting of the server, in the groups and the order of their declaration."""
    from app.settings.server import Settings
    from app.settings.sources import CLIENT_VARIABLES, variable_of

    rows = []
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        variable = variable_of(name)
        if name == "data_dir":
            shown = "`~/.local/share/packline`"
        elif default in (None, (), {}):
            shown = "none"
        elif isinstance(default, bool):
            shown = f"`{str(default).lower()}`"
        else:
            shown = f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
        rows.append((f"`{variable}`", f"`{name}`", shown, field.description or ""))
    client = {
        "PACKLINE_CONFIG": "The settings file, if it is not `packline.toml` in the data folder.",
        "PACKLINE_SERVER": "Address of the server that commands use, if `--server` is not given.",
        "PACKLINE_TOKEN": "Token that commands send; default: the one that the server stored for its own user.",
    }
    assert client.keys() == CLIENT_VARIABLES, "every variable is described here"
    return "\n".join(
        [
            "# Settings\n",
            _NOTE.format(source="`app/settings/server.py`"),
            "A setting comes from the command line of `packline up`, else from its environment variable, else from",
            "`packline.toml` in the data folder (under its name in the second column), else it has its default.",
            "If a value cannot be used, the server does not start and says why. The log names variables that begin",
            "with `PACKLINE_` but are not settings, with the closest setting. `packline doctor` and the API's",
            "`settings` show the current values and where they come from.\n",
            *_table(("Variable", "In the file", "Default", "Meaning"), rows),
            "## Variables that are not settings of the server\n",
            *_table(("Variable", "Meaning"), [(f"`{name}`", text) for name, text in sorted(client.items())]),
        ]
    )


def commands_page() -> str:
    """Every command of `packline` with its arguments and options."""
    from app.cli.base.exits import EXIT_STATUSES
    from app.cli.commands import tree

    lines = [
        "# Commands\n",
        _NOTE.format(source="`app/cli`"),
        "`packline COMMAND --help` says the same. On a terminal, commands print tables, elsewhere JSON with one value",
        "per line; `--json` and `--text` choose. Commands that need a server use the one of `--server`, else of",
        "`PACKLINE_SERVER`, else the one last started on this machine's data folder.\n",
        "You can shorten an id to any unique prefix, such as `run_01KAV2`. `@last` is your newest run, and for",
        "`packline artifact` the one artifact of that run. Lists show one line an entry; `--long` shows everything.\n",
        *wrap(f"Exit status: {'; '.join(EXIT_STATUSES)}.", 116),
        "",
    ]
    lines += _commands(tree, "packline")
    return "\n".join(lines)


def _commands(command: Any, name: str) -> Iterator[str]:
    """One command, or each command of a group.

    Typer's command classes are private, hence `Any`.
    """
    if below := getattr(command, "commands", None):
        for inner, one in below.items():
            yield from _commands(one, f"{name} {inner}")
        return
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context)).replace("{", "").replace("}", "")
    yield f"## {name}\n"
    yield f"```text\n{name} {usage}\n```\n"
    yield f"{command.help}\n"
    rows = []
    for parameter in command.params:
        if parameter.name == "help" or (record := parameter.get_help_record(context)) is None:
            continue
        rows.append((f"`{_plain(record[0])}`", record[1]))
    yield from _table(("Argument or option", "Meaning"), rows)


def _plain(spelled: str) -> str:
    """Typer's spelling of a parameter with words for its types; an argument is called by its own name."""
    if not spelled.startswith("-"):
        return spelled.partition(" <")[0].strip("{}").upper()
    words = {"<str>": "TEXT", "<int>": "NUMBER", "<int range>": "NUMBER", "<float range>": "NUMBER"}
    for old, new in words.items():
        spelled = spelled.replace(old, new)
    return spelled


def failures_page() -> str:
    """Every failure code with its class and whether the runner tries again by itself."""
    from runner.failures import FAILURE_CLASSES, FAILURE_WORDS, RETRYABLE, FailureCode, code_for_status

    rows = [
        (f"`{code}`", f"`{FAILURE_CLASSES[code]}`", "yes" if code in RETRYABLE else "no", words.cause, words.hint)
        for code, words in FAILURE_WORDS.items()
    ]
    by_code: dict[FailureCode, list[str]] = {}
    for status in (400, 401, 403, 404, 408, 409, 410, 412, 422, 429, 500, 502, 503, 504):
        by_code.setdefault(code_for_status(status), []).append(str(status))
    statuses = [(", ".join(found), f"`{code}`") for code, found in by_code.items()]
    return "\n".join(
        [
            "# Failures\n",
            _NOTE.format(source="`runner/failures.py`"),
            "Every failure in a run has one of these codes, on every surface. A failure also says what happened,",
            "which input field is at fault, what to do, and whether repeating the step can cause a second",
            "external change. Packline retries steps whose failure is transient, as far as the step's `retry` and",
            "the run's deadline allow.\n",
            "The likely cause and what to do are what the page, the API and the command line say unless the pack says",
            "something else.\n",
            *_table(("Code", "Class", "Retried", "Likely cause", "What to do"), rows),
            "The HTTP status of a provider becomes one of these codes:\n",
            *_table(("Status", "Code"), statuses),
            "A refused command is not a failure: the answer is a problem, and no run changes; see [the API](api.md).",
            "",
        ]
    )


def kinds_page() -> str:
    """The vocabulary of `accepts` and `produces`."""
    from runner.yaml_documents import load_document

    kinds = load_document((ROOT / "catalog" / "kinds.yaml").read_text("utf-8"))
    return "\n".join(
        [
            "# Kinds\n",
            _NOTE.format(source="`catalog/kinds.yaml`"),
            "The kinds of data that packs and pipelines accept and produce, for `metadata.accepts` and",
            "`metadata.produces`. Search and routing match these words, so an entry that uses others is found by its",
            "name alone.\n",
            *_table(("Kind", "Meaning"), [(f"`{kind}`", str(text)) for kind, text in kinds.items()]),
        ]
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A Markdown table, with an empty line behind it; nothing when it has no rows."""
    if not rows:
        return []
    lines = [head, tuple("---" for _ in head), *rows]
    return [*(f"| {' | '.join(_cell(text) for text in line)} |" for line in lines), ""]


def _cell(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "\\|")
    # Outside code, angle brackets would be taken for HTML.
    return "`".join(part if index % 2 else part.replace("<", "&lt;") for index, part in enumerate(plain.split("`")))


if __name__ == "__main__":
    sys.exit(main())
