"""Issues of definitions, schemas and run inputs, and the parts of their messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from runner.egress.web_address import without_account
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Severity = Literal["error", "warning"]

#: Most issues of one kind reported for one object, and most hints with them: a hint may take some milliseconds, and a
#: hostile document has thousands of mistakes.
MAX_ISSUES = 50
_LONGEST_SUGGESTED = 200
#: Best matches that are compared without the words they share.
_COMPARED = 5


@dataclass(frozen=True, slots=True)
class Hint:
    """What to do about a problem, in parts: each surface shows what its reader can use.

    Attributes:
        text: One or two sentences that are true on every surface.
        closest: The known name nearest to the one that was given.
        operation: Name of the use case that helps, as `resolvers.operations` declares it. An agent reads the name of
            its tool, a script that of its GraphQL field, a person at a terminal that of a command.
    """

    text: str = ""
    closest: str | None = None
    operation: str | None = None

    def naming(self, operation: str | None) -> str:
        """Return the hint as sentences, with the operation's name on the surface; None leaves it out."""
        meant = f"Did you mean `{self.closest}`?" if self.closest else ""
        use = f"Try {operation}." if operation else ""
        return " ".join(part for part in (meant, self.text, use) if part)

    def __str__(self) -> str:
        return self.naming(None)


def hint_of(hint: Hint | str | None) -> Hint | None:
    """Convert a text to a hint; None if it is empty."""
    found = Hint(hint) if isinstance(hint, str) else hint
    return None if found == Hint() else found


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing wrong with a caller's input.

    Attributes:
        path: Where, outermost first; list positions as decimal text, counted from 0.
        rule: For programs; stable `snake_case`.
        severity: `error` refuses the command, `warning` does not.
        message: For people: names the thing, the value and what is wrong with it.
        hint: What was probably meant, or what to do.
        in_argument: Whether the path begins with an argument of the use case, in snake_case. Each surface has its own
            name for the argument, so the message does not name it.
        line: Line of a text that cannot be read, counted from 1; it has no paths.
    """

    path: tuple[str, ...]
    rule: str
    severity: Severity
    message: str
    hint: Hint | None = None
    in_argument: bool = False
    line: int | None = None

    def under(self, *prefix: str) -> Issue:
        """Return the issue with a prefix to its path."""
        return replace(self, path=(*prefix, *self.path), in_argument=False)

    def under_argument(self, name: str) -> Issue:
        """Return the issue with an argument of the use case before its path."""
        return replace(self, path=(name, *self.path), in_argument=True)


def error(path: tuple[str, ...], rule: str, message: str, hint: Hint | str | None = None) -> Issue:
    """Make an issue that refuses the command."""
    return Issue(path, rule, "error", message, hint_of(hint))


def argument_error(name: str, rule: str, message: str, hint: Hint | str | None = None) -> Issue:
    """Make an error of an argument of a use case, by its name in snake_case."""
    return error((), rule, message, hint).under_argument(name)


def warning(path: tuple[str, ...], rule: str, message: str, hint: Hint | str | None = None) -> Issue:
    """Make an issue that does not refuse the command."""
    return Issue(path, rule, "warning", message, hint_of(hint))


def has_errors(issues: Iterable[Issue]) -> bool:
    """Whether any of them refuses the command."""
    return any(issue.severity == "error" for issue in issues)


def nearest(word: str, known: Iterable[str], *, at_least: int = 60) -> str | None:
    """Return the known word most similar to a mistyped one; None if none is similar, of 100 at least so much.

    Ignores case and the difference of `-` and `_`. If both names have several words, the words they share do not count:
    `deadline_seconds` is not similar to `wait_seconds`, nor `garden.order` to `garden.moisture`. Never returns names of
    more than 200 characters, since the comparison costs the product of both lengths.
    """
    # Imported here because the import takes 14 ms of processor time, which every start would spend.
    from rapidfuzz import fuzz, process

    names = {name: _plain(name) for name in known if len(name) <= _LONGEST_SUGGESTED}
    plain = _plain(word)
    for found, _, name in process.extract(plain, names, scorer=fuzz.ratio, score_cutoff=at_least, limit=_COMPARED):
        ours, theirs = _apart(plain, found)
        if not ours or not theirs or fuzz.ratio(ours, theirs) >= 50:
            return name
    return None


_WORDS = re.compile(r"[._]")


def _apart(one: str, other: str) -> tuple[str, str]:
    """Return two names without the words they share."""
    ours, theirs = _WORDS.split(one), _WORDS.split(other)
    return "_".join(word for word in ours if word not in theirs), "_".join(word for word in theirs if word not in ours)


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")


def did_you_mean(word: str, known: Iterable[str]) -> Hint | None:
    """Make a hint with the most similar known word, else with all known words if they are few, else None."""
    names = list(known)
    if near := nearest(word, names):
        return Hint(closest=near)
    if names and len(names) <= 12:
        return Hint(f"Known names: {', '.join(f'`{name}`' for name in names)}.")
    return None


def place(path: Sequence[str], document: object = None) -> str:
    """Return where in a definition an issue is, for people: its step by id, or by number from 1 if it has none.

    Args:
        path: The path of the issue.
        document: The definition, for the ids of its steps; without it they are numbered.
    """
    if len(path) < 2 or path[0] != "steps" or not path[1].isdecimal():
        return ".".join(path)
    steps = document.get("steps") if isinstance(document, dict) else None
    index = int(path[1])
    step = steps[index] if isinstance(steps, list) and index < len(steps) else None
    key = step.get("id") if isinstance(step, dict) else None
    name = f"step {key}" if isinstance(key, str) and key else f"step {index + 1}"
    return ", ".join(filter(None, (name, ".".join(path[2:]))))


def shown(value: object, limit: int = 60) -> str:
    """Format a value for a message: one line, cut to `limit` characters, quoted if it is text.

    What may be an account before `@` is left out, since messages are stored and shown to others.
    """
    if isinstance(value, str):
        if "@" in value or "%" in value:  # secrets are masked while they are whole
            value = without_account(excerpt(value, len(value)))
        return '"' + excerpt(value, limit).encode("utf-8", "backslashreplace").decode().replace("\n", "\\n") + '"'
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return f"an object with {len(value)} fields" if value else "an empty object"
        case list():
            return f"a list of {len(value)}" if value else "an empty list"
        case int() if abs(value) >= 1 << 64:
            return "a very large number"
        case _:
            return excerpt(str(value), limit)


def lacking_scope(what: str, scope: str) -> str:
    """Make the sentence for a missing scope, with the surface's names for the operation and the scope."""
    return f"{what} needs the scope {scope}, which your token does not have."
