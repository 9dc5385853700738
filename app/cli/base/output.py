"""Output of commands: tables and sentences for people, JSON lines for programs."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from app.cli.base.defusing import defused, defused_json
from app.cli.base.exits import CliError
from runner.issues import Hint, lacking_scope, place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

JSON = dict[str, Any]
#: Sign, word and colour of each state; colour alone never shows a state.
STATES: dict[str, tuple[str, str, str]] = {
    "PENDING": ("·", "pending", "dim"),
    "QUEUED": ("◌", "queued", "dim"),
    "RUNNING": ("●", "running", "cyan"),
    "WAITING": ("◔", "waiting", "yellow"),
    "CANCELLING": ("◐", "cancelling", "yellow"),
    "SUCCEEDED": ("✓", "succeeded", "green"),
    "FAILED": ("✗", "failed", "red"),
    "CANCELLED": ("⊘", "cancelled", "magenta"),
    "LOST": ("?", "lost", "magenta"),
}
_ASCII = {"·": ".", "◌": "o", "●": "*", "◔": "~", "◐": "-", "✓": "+", "✗": "x", "⊘": "/", "?": "?"}

#: The command for each operation that a hint may name.
COMMANDS: Final = {
    "callers": "packline callers",
    "clone_pipeline": "packline export",
    "credentials": "packline credential list",
    "enable_caller": "packline callers enable",
    "mcp_servers": "packline packs",
    "memory_entries": "packline memory entries",
    "rerun_run": "packline rerun",
    "run_pack": "packline run",
    "run_pipeline": "packline run",
    "server": "packline doctor",
    "workers": "packline workers",
}
#: The argument of each of these commands, by the name of the variable in the refused document that has its value.
_ABOUT: Final = {"enable_caller": "subject"}
#: The option or argument for each argument of the API whose option has another name.
_GIVEN_AS: Final = {
    "deadline_seconds": "--deadline",
    "expires_at": "--days",
    "fields": "the secret",
    "grants": "--grant",
    "id": "RUN",
    "inputs": "--input",
    "input": "--input",
    "key": "KEY",
    "name": "NAME",
    "pipeline": "PIPELINE",
    "scopes": "--scope",
    "user_intent": "the request",
    "value": "VALUE",
}


def confirm(question: str, otherwise: str = "Nothing was changed.") -> None:
    """Ask on the terminal whether to go on.

    Args:
        question: The question.
        otherwise: What to say after a no.

    Raises:
        CliError: the answer is no, or there is no terminal.
    """
    import typer

    if not sys.stdin.isatty():
        raise CliError(f"{question} There is no terminal to ask on: repeat the command with `--yes`.")
    if not typer.confirm(question, err=True):
        raise CliError(otherwise)


class Output:
    """The output of a command.

    Args:
        as_json: Whether to print JSON lines instead of text; None prints text only on a terminal.
    """

    def __init__(self, as_json: bool | None = None) -> None:
        self.is_json = not sys.stdout.isatty() if as_json is None else as_json
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """The terminal, created at first use, because rich is slow to import."""
        if self._console is None:
            from app.cli.base.terminal import DefusedConsole

            on_terminal = sys.stdout.isatty()
            self._console = DefusedConsole(
                highlight=False, soft_wrap=not on_terminal, width=None if on_terminal else 140
            )
        return self._console

    def emit(self, value: object) -> None:
        """Print one JSON value as a line, and flush."""
        import json

        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
        print(defused_json(text), flush=True)

    def say(self, text: str = "", style: str | None = None) -> None:
        """Print a sentence for people, without interpreting markup."""
        self.console.print(text, style=style, markup=False)

    def note(self, text: str) -> None:
        """Print a sentence for people on standard error, in both modes."""
        print(defused(text), file=sys.stderr, flush=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
        """Print a table of texts or rich texts; without rows, the sentence `empty`."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column in columns:
            # Ids are not wrapped, so that they can be copied.
            table.add_column(column, overflow="fold", no_wrap=column in ("run", "id", "token"))
        count = 0
        for row in rows:
            count += 1
            table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
        if count:
            self.console.print(table)
        else:
            self.say(empty)

    def state(self, state: str) -> Any:  # noqa: ANN401 - rich's Text, not imported at start
        """A state as a symbol and a word."""
        from rich.text import Text

        sign, word, colour = STATES.get(state, ("?", state.lower(), ""))
        if self.console.options.ascii_only:
            sign = _ASCII[sign]
        return Text(f"{sign} {word}", style=colour)


def accept(result: JSON, given: Mapping[str, Any] | None = None) -> JSON:
    """The success of a mutation.

    Args:
        result: Its result.
        given: The variables it was given; a command in a hint is shown with its argument from them.

    Raises:
        CliError: the server refused it; the message contains the whole problem.
    """
    if "code" not in result or not result["__typename"].endswith("Problem"):
        return result
    raise CliError("\n".join(problem_lines(result, given)))


def problem_lines(problem: JSON, given: Mapping[str, Any] | None = None) -> list[str]:
    """A problem in lines: what happened, every issue, what is missing, what to do."""
    issues, lacking = list(problem.get("issues", ())), list(problem.get("missing", ()))
    if len(issues) > 1:
        heading = problem["summary"] or f"There are {len(issues)} issues"
        lines = [f"{heading}:", *(f"  {issue_line(issue, given)}" for issue in issues)]
    else:  # the message is the one issue's
        lines, issues = [_message(problem)], []
    lines += [f"  {requirement_line(missing)}" for missing in lacking]
    if problem.get("requires") and not problem.get("operation"):
        lines.append(f"  It requires a token with the scope `{problem['requires'].lower()}`.")
    if problem.get("retryAfterSeconds"):
        lines.append(f"  Try again in {duration(problem['retryAfterSeconds'])}.")
    hint = hint_words(problem, given)
    if hint and hint not in (hint_words(each, given) for each in (*issues, *lacking)):
        lines.append(f"  {hint}")
    return lines


def _message(problem: JSON) -> str:
    if not problem.get("operation"):
        return str(problem["message"])
    return lacking_scope("This", f"`{problem['requires'].lower()}`")


def place_words(issue: Mapping[str, Any]) -> str:
    """Where an issue is: the option and the path in its value; empty for the whole document."""
    argument, path = issue.get("argument"), list(issue["path"])
    if argument is None:
        if path and path[0].isdecimal():  # one of several documents
            return ", ".join(filter(None, (f"document {int(path[0]) + 1}", place(path[1:]))))
        return place(path)
    option = _GIVEN_AS.get(argument, f"--{argument.replace('_', '-')}")
    return " ".join(filter(None, (option, ".".join(path[1:]))))


def hint_words(problem: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> str:
    """The hint of a problem, an issue, a requirement or an error's extensions; empty if there is none."""
    parts = problem.get("hintParts")
    if parts is None:
        return ""
    command = COMMANDS.get(parts["operation"])
    if command and (run := problem.get("wrongRun")):
        command += f" {run['id']}"
    if command and given and (about := given.get(_ABOUT.get(parts["operation"], ""))):
        command += f" {shlex.quote(about)}"
    return Hint(parts["text"] or "", parts["closest"]).naming(command and f"`{command}`")


def issue_line(issue: JSON, given: Mapping[str, Any] | None = None) -> str:
    """An issue on one line: where, what, what to do."""
    where = place_words(issue) or "document"
    return f"{str(issue['severity']).lower()}: {where}: {issue['message']} {hint_words(issue, given)}".rstrip()


def requirement_line(missing: JSON) -> str:
    """Something missing on one line: what, why, what to do."""
    steps = f" (steps: {', '.join(missing['steps'])})" if missing.get("steps") else ""
    kind = str(missing["kind"]).lower().replace("_", " ")
    return f"missing {kind} {missing['name']}{steps}: {missing['message']} {hint_words(missing)}".rstrip()


def duration(seconds: float) -> str:
    """A duration in one or two units: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size(count: int) -> str:
    """A number of bytes with a decimal unit."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def instant(text: str) -> datetime:
    """Parse an API time."""
    return datetime.fromisoformat(text)


def when(text: str, *, seconds: bool = False) -> str:
    """Format an API time in the local time zone, with the zone's name."""
    return instant(text).astimezone().strftime(f"%Y-%m-%d %H:%M{':%S' if seconds else ''} %Z")


def until(text: str | None) -> str:
    """Format the API time at which something expires; `no expiry` for none."""
    return when(text) if text else "no expiry"


def ago(text: str | None) -> str:
    """How long ago an instant was, in one unit; `never` for none."""
    if not text:
        return "never"
    seconds = max(0, round((datetime.now(UTC) - instant(text)).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit} ago"
    return f"{seconds} s ago"


def took(started: str | None, ended: str | None) -> str:
    """How long something took, or takes so far; empty before its start."""
    return "" if started is None else duration(seconds_between(started, ended))


def seconds_between(started: str, ended: str | None) -> float:
    """The seconds from one instant to another, or to now."""
    end = datetime.now(UTC) if ended is None else instant(ended)
    return max(0.0, (end - instant(started)).total_seconds())
