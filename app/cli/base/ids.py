"""Ids as people type them: whole, by a unique prefix, or `@last`.

The options and arguments of commands resolve them (`app.cli.base.options`), so that commands get whole ids only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from app.cli.base.exits import CliError
from app.cli.base.output import ago
from runner.issues import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from app.cli.base.client import Client
    from app.cli.base.output import JSON

#: The caller's newest run.
LAST: Final = "@last"
#: Characters of a ULID, of which the first are its time, and the characters it is written with.
_ULID, _TIME, _ALPHABET = 26, 10, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: At least three characters, of which the third is a capital letter in every id of this century's: keys have none.
_BEGINNING: Final = re.compile(rf"([a-z]+)_([{_ALPHABET}]{{3,{_ULID - 1}}})")
#: How far the clock that makes ids and the clock that `createdBefore` compares may differ.
_CLOCKS_DIFFER: Final = timedelta(minutes=1)
#: Most candidates that a refusal lists, and most entries searched for a prefix.
_SHOWN, _SEARCHED = 10, 5_000

VIEWER = "query CliViewer { viewer { id } }"

NEWEST_RUN = """
query CliNewestRun($caller: ID!) {
  runs(filter: {callers: [$caller]}, first: 1) { nodes { id artifacts(first: 100) { nodes { id name } } } }
}
"""

RUN_IDS = """
query CliRunIds($before: DateTime!, $first: Int, $after: Cursor) {
  found: runs(filter: {createdBefore: $before}, first: $first, after: $after) {
    nodes { id title createdAt }
    pageInfo { hasNextPage endCursor }
  }
}
"""

ARTIFACT_IDS = """
query CliArtifactIds($first: Int, $after: Cursor) {
  found: artifacts(first: $first, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } }
}
"""

PIPELINE_IDS = """
query CliPipelineIds($first: Int, $after: Cursor) {
  found: pipelines(first: $first, after: $after) { nodes { id key } pageInfo { hasNextPage endCursor } }
}
"""

CALLER_IDS = """
query CliCallerIds($first: Int, $after: Cursor) {
  found: callers(first: $first, after: $after) { nodes { id subject } pageInfo { hasNextPage endCursor } }
}
"""

TOKEN_IDS = """
query CliTokenIds($first: Int, $after: Cursor) {
  found: callers(first: $first, after: $after) {
    nodes { tokens(first: 100) { nodes { id name } } }
    pageInfo { hasNextPage endCursor }
  }
}
"""

MEMORY_IDS = """
query CliMemoryIds($caller: ID, $first: Int, $after: Cursor) {
  found: memoryEntries(caller: $caller, first: $first, after: $after) {
    nodes { id target at }
    pageInfo { hasNextPage endCursor }
  }
}
"""

TRIGGER_IDS = """
query CliTriggerIds($first: Int, $after: Cursor) {
  found: triggers(first: $first, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } }
}
"""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of object with ids.

    Attributes:
        noun: Its name, with an article.
        document: Lists the objects as `found`.
        shown: What a list of candidates says about one.
        listing: The command that lists them.
        is_newest_first: Whether the list is ordered by id, so that a search may end early.
        page_size: Most objects that the server returns at once for this document.
    """

    noun: str
    document: str
    shown: Callable[[JSON], str]
    listing: str
    is_newest_first: bool = False
    page_size: int = 100


_KINDS: Final = {
    "run": _Kind(
        "a run", RUN_IDS, lambda one: f"{one['title']}, {ago(one['createdAt'])}", "packline runs", is_newest_first=True
    ),
    "art": _Kind(
        "an artifact", ARTIFACT_IDS, lambda one: str(one["name"]), "packline artifact list", is_newest_first=True
    ),
    "pipe": _Kind("a pipeline", PIPELINE_IDS, lambda one: str(one["key"]), "packline pipelines"),
    "call": _Kind("a caller", CALLER_IDS, lambda one: str(one["subject"]), "packline callers"),
    "tok": _Kind("a token", TOKEN_IDS, lambda one: str(one["name"]), "packline token list", page_size=20),
    "trig": _Kind(
        "a trigger", TRIGGER_IDS, lambda one: str(one["name"]), "packline trigger list", is_newest_first=True
    ),
    "mem": _Kind(
        "a row of memory", MEMORY_IDS, lambda one: f"{one['target']}, {ago(one['at'])}", "packline memory entries"
    ),
}


def is_short(text: str, kinds: tuple[str, ...]) -> bool:
    """Whether a text has to be resolved: `@last` or misspelt, or a prefix of an id of one of these kinds.

    A prefix that lies in the future matches nothing, so no server is asked for ids.
    """
    if text.startswith("@"):  # as the subject of a caller may
        return nearest(text, [LAST]) is not None
    found = _BEGINNING.fullmatch(text)
    return found is not None and found[1] in kinds and _milliseconds(found[2], "0") / 1000 <= _now().timestamp()


def whole_id(client: Client, text: str, kinds: tuple[str, ...], *, caller: str | None = None) -> str:
    """The whole id that a text means; the text itself if it is none, or if nothing begins with it.

    Args:
        client: The client of the server.
        text: What was typed.
        kinds: Prefixes of the ids that are meant, such as `run`.
        caller: Whose memory is searched; None searches the caller's own.

    Raises:
        CliError: several ids begin so, or `@last` means nothing here or is misspelt.
    """
    if not is_short(text, kinds):
        return text
    if text == LAST:
        return _last(client, kinds[0])
    if text.startswith("@"):
        raise CliError(f"`{text}` is unknown. Did you mean `{LAST}`?")
    name, _, begin = text.partition("_")
    kind = _KINDS[name]
    variables: dict[str, object] = {}
    if name == "run":
        last = min(_milliseconds(begin, "Z") / 1000, _now().timestamp())
        variables["before"] = (datetime.fromtimestamp(last, UTC) + _CLOCKS_DIFFER).isoformat()
    elif name == "mem":
        variables["caller"] = caller
    found: list[JSON] = []
    for number, one in enumerate(_listed(client, kind, variables)):
        if one["id"].startswith(text):
            found.append(one)
            if len(found) > _SHOWN:
                break
        elif kind.is_newest_first and one["id"] < text:
            break
        elif number >= _SEARCHED and not found:
            raise CliError(f"None of the newest {_SEARCHED:,} ids begins with `{text}`. Type the whole id.")
    if len(found) > 1:
        raise CliError(_ambiguous(f"`{text}` is ambiguous", found, kind))
    return str(found[0]["id"]) if found else text


def whole_scope(client: Client, scope: str, caller: str | None) -> str:
    """A scope of memory, such as `entry:mem_01K` or `pipeline:pipe_01K`, with its id whole.

    Raises:
        CliError: several ids begin so.
    """
    word, mark, text = scope.partition(":")
    kinds = {"entry": ("mem",), "pipeline": ("pipe",)}.get(word)
    return scope if kinds is None or not mark else f"{word}:{whole_id(client, text, kinds, caller=caller)}"


def _listed(client: Client, kind: _Kind, variables: dict[str, object]) -> Iterator[JSON]:
    for one in client.pages(kind.document, "found", variables, limit=None, page_size=kind.page_size):
        yield from one["tokens"]["nodes"] if "tokens" in one else (one,)


def _last(client: Client, name: str) -> str:
    """What `@last` means: the caller's newest run, or the one artifact of that run."""
    if name not in ("run", "art"):
        kind = _KINDS[name]
        raise CliError(f"`{LAST}` means your newest run, not {kind.noun}. `{kind.listing}` lists what you can name.")
    caller = client.execute(VIEWER)["viewer"]["id"]
    runs = client.execute(NEWEST_RUN, {"caller": caller})["runs"]["nodes"]
    if not runs:
        raise CliError(f"`{LAST}` means your newest run, and you have none. `packline run sample` starts one.")
    if name == "run":
        return str(runs[0]["id"])
    made = runs[0]["artifacts"]["nodes"]
    if not made:
        raise CliError(f"Your newest run, {runs[0]['id']}, has no artifact. `packline artifact list` lists artifacts.")
    if len(made) > 1:
        raise CliError(_ambiguous(f"Your newest run, {runs[0]['id']}, has several artifacts", made, _KINDS["art"]))
    return str(made[0]["id"])


def _ambiguous(what: str, found: list[JSON], kind: _Kind) -> str:
    lines = [f"  {one['id']}  {kind.shown(one)}" for one in found[:_SHOWN]]
    more = [f"  and more; `{kind.listing}` lists them"] if len(found) > _SHOWN else []
    return "\n".join([f"{what}. Type more of one:", *lines, *more])


def _milliseconds(begin: str, filler: str) -> int:
    """The earliest time of a ULID that begins so (filler `0`), or the latest (`Z`)."""
    number = 0
    for sign in begin[:_TIME].ljust(_TIME, filler):
        number = number * 32 + _ALPHABET.index(sign)
    return number


def _now() -> datetime:
    return datetime.now(UTC)
