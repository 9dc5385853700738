"""Finds facts of a request: addresses, repositories, files and their kinds, by rules. Pure.

Facts come from the request's words (an address, a file name) and from its context (`inputs`, `files`, `artifacts`,
`runs`). Their kinds are those of `catalog/kinds.yaml`. Addresses and file names are replaced by words for their kind
before words are compared, since the words inside an address do not say what is wanted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from runner.egress.web_address import WebAddressError, read_web_address
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runner.failures import JSONValue

Source = Literal["request", "context"]

#: Most characters of a request, or of a text in its context, that are read.
MAX_TEXT = 4_000
#: Longest name of a file, artifact or run, in characters.
MAX_VALUE = 300
#: Most facts of one request.
MAX_FACTS = 40
_ADDRESS = re.compile(r"https?://[^\s<>\"'`]{1,2000}|\bwww\.[^\s<>\"'`]{4,2000}", re.IGNORECASE)
_BARE_REPO = re.compile(
    r"\b(?:github|gitlab|codeberg|bitbucket)\.(?:com|org)/[\w.-]{1,100}/[\w.-]{1,100}", re.IGNORECASE
)
_REPO_HOSTS = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "www.github.com"})
_FILE_NAME = re.compile(r"(?<![\w./@-])[\w-]{1,120}(?:\.[\w-]{1,40}){0,3}\.([A-Za-z][A-Za-z0-9]{1,5})\b(?!\.?[\w/])")
_NAMED_REPO = re.compile(r"(?<![\w./@:-])([A-Za-z0-9][\w.-]{0,60}/[\w.-]{1,100})(?:#(\d+))?(?![\w/])")
_NUMBER = re.compile(
    r"(?:\b(?:issue|ticket|bug|pr|pull request)\s*(?:number|no\.?|nr\.?)?\s*#?|(?<!\w)#)(\d{1,9})\b", re.I
)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_TRAILING = ".,;:!?)]}>'\"\u2019\u201d\u00bb\u2026\u3002\uff0c\uff09"

#: Kinds of a file by the ending of its name.
FILE_KINDS: dict[str, tuple[str, ...]] = {
    "pdf": ("pdf", "document"),
    "docx": ("docx", "document"),
    "xlsx": ("xlsx", "document"),
    "pptx": ("pptx", "document"),
    "html": ("html", "document", "composition_html"),
    "htm": ("html", "document", "composition_html"),
    "md": ("markdown", "text", "document", "source_content"),
    "txt": ("text", "document", "source_content"),
    "csv": ("text", "document"),
    "mp3": ("mp3", "audio"),
    "wav": ("audio",),
    "m4a": ("audio",),
    "ogg": ("audio",),
    "flac": ("audio",),
    "mp4": ("mp4", "video"),
    "mov": ("video",),
    "webm": ("video",),
    "png": ("image",),
    "jpg": ("image",),
    "jpeg": ("image",),
    "webp": ("image",),
    "gif": ("image",),
    "json": ("json",),
    "srt": ("srt_captions",),
}
_MEDIA_KINDS: dict[str, str] = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "audio/mpeg": "mp3",
    "video/mp4": "mp4",
    "application/json": "json",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that a request or its context provides.

    Attributes:
        kinds: Kinds of the catalog's vocabulary that it can serve as, the most specific first.
        value: The address, file name, repository or number as written.
        source: Where it was found.
        artifact: Id or digest of the artifact, if the context gives one.
    """

    kinds: tuple[str, ...]
    value: str
    source: Source
    artifact: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """A request as read, with the facts found.

    Attributes:
        facts: The facts, in the order found, each once.
        text: The request with addresses and file names replaced by words for their kind.
        inputs: Inputs from the context, by name.
        targets: Ids or keys of the packs and pipelines of the context's earlier runs, latest first.
        request: The request; of a very long one, the middle is left out.
    """

    facts: tuple[Fact, ...]
    text: str
    inputs: Mapping[str, JSONValue]
    targets: tuple[str, ...] = ()
    request: str = ""


def read_facts(request: str, context: JSONValue = None) -> Facts:
    """Find the facts of a request and its context.

    Args:
        request: The user's words; of a very long text, only the first and last parts are read.
        context: Any JSON. In an object, `inputs`, `files`, `artifacts` and `runs` are understood; all other texts are
            read like the request.
    """
    found: list[Fact] = []
    read = _bounded(request)
    text = _read_text(read, "request", found)
    parts = context if isinstance(context, dict) else {}
    inputs = parts.get("inputs")
    for name in ("files", "artifacts"):
        found.extend(_files(parts.get(name)))
    for value in _texts(
        {key: value for key, value in parts.items() if key not in ("files", "artifacts", "runs")} if parts else context
    ):
        _read_text(_bounded(value), "context", found)
    unique = {(fact.value, fact.artifact): fact for fact in reversed(found)}
    kept = tuple(reversed(unique.values()))[:MAX_FACTS]
    return Facts(kept, text, inputs if isinstance(inputs, dict) else {}, tuple(_targets(parts.get("runs"))), read)


def address_kinds(address: str) -> tuple[str, ...]:
    """Return the kinds an address can serve as; a file's ending says more than the host. Empty for a bad address."""
    try:
        read = read_web_address(address if "//" in address else f"https://{address}")
    except WebAddressError:
        return ()
    path = read.path.rstrip("/")
    ending = path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
    segments = [part for part in path.split("/") if part]
    if ending == "git" or (read.host in _REPO_HOSTS and len(segments) >= 2):
        if len(segments) >= 4 and segments[2] in ("issues", "pull"):
            return ("issue_number", "repo_url", "url")
        return ("repo_url", "url")
    if ending in FILE_KINDS and ending not in ("html", "htm"):
        return (*FILE_KINDS[ending], "source_url")
    return ("url", "source_url")


def _without_trailing(address: str) -> str:
    """Remove the punctuation of the sentence after an address; a closing bracket stays if the address opened it."""
    value = address.rstrip(_TRAILING)
    for closing in address.removeprefix(value):
        if closing != ")" or value.count("(") <= value.count(")"):
            break
        value += closing
    return value


def _bounded(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    half = MAX_TEXT // 2
    return f"{excerpt(text, half, ending='')}\n{excerpt(text, half, ending='', from_end=True)}"


def _read_text(text: str, source: Source, found: list[Fact]) -> str:
    """Add the facts of a text to `found`; return the text with addresses and names replaced."""

    def address(match: re.Match[str]) -> str:
        whole = match.group()
        value = _without_trailing(whole)
        kinds = address_kinds(value)
        if not kinds:
            return whole
        found.append(Fact(kinds, value if "//" in value else f"https://{value}", source))
        if kinds[0] == "issue_number":
            found.append(Fact(("repo_name",), "/".join(read_web_address(found[-1].value).path.split("/")[1:3]), source))
        return f" {_word_of(kinds)} {whole[len(value) :]}"

    def file(match: re.Match[str]) -> str:
        kinds = FILE_KINDS.get(match.group(1).lower())
        if kinds is None:
            return match.group()
        found.append(Fact(kinds, match.group(), source))
        return f" {_word_of(kinds)} "

    def mail(match: re.Match[str]) -> str:
        found.append(Fact(("email",), match.group(), source))
        return " email "

    def repository(match: re.Match[str]) -> str:
        name, number = match.groups()
        if name.lower() in _SLASHED or not any(sign.isalpha() for sign in name.partition("/")[2]):
            return match.group()
        found.append(Fact(("repo_name",), name, source))
        if number:
            found.append(Fact(("issue_number",), number, source))
        return " repository issue " if number else " repository "

    def number(match: re.Match[str]) -> str:
        found.append(Fact(("issue_number",), match.group(1), source))
        return f" {match.group()} "

    text = _ADDRESS.sub(address, text)
    text = _BARE_REPO.sub(address, text)
    text = _MAIL.sub(mail, text)
    text = _FILE_NAME.sub(file, text)
    text = _NAMED_REPO.sub(repository, text)
    return _NUMBER.sub(number, text)


#: Pairs of words with a slash that are not repositories.
_SLASHED_WORDS = (
    "and/or either/or he/she his/her html/js html/css yes/no on/off in/out input/output pros/cons read/write w/o"
)
_SLASHED = frozenset(_SLASHED_WORDS.split())
#: The words that replace a fact in a request, by its first kind.
_WORDS = {
    "repo_url": "repository",
    "issue_number": "issue repository",
    "url": "url",
    "markdown": "markdown",
    "text": "text",
    "docx": "word document",
    "xlsx": "excel document",
    "pptx": "powerpoint document",
    "pdf": "pdf",
    "html": "html",
    "mp3": "mp3 recording",
    "audio": "audio recording",
    "mp4": "video",
    "srt_captions": "captions",
}


def _word_of(kinds: tuple[str, ...]) -> str:
    return _WORDS.get(kinds[0], kinds[0])


def _files(listed: JSONValue) -> Iterator[Fact]:
    for item in listed[:MAX_FACTS] if isinstance(listed, list) else ():
        if isinstance(item, str):
            item = {"id": item} if item.startswith("art_") else {"name": item}
        if not isinstance(item, dict):
            continue
        name = item.get("name") or item.get("url") or item.get("id") or ""
        media = item.get("media_type") or item.get("mediaType") or ""
        ending = _MEDIA_KINDS.get(str(media).partition(";")[0].strip().lower()) or str(name).rpartition(".")[2].lower()
        kinds = FILE_KINDS.get(ending) or FILE_KINDS.get(
            {"audio": "wav", "image": "png", "video": "mov"}.get(str(media).partition("/")[0], ""), ("document",)
        )
        artifact = item.get("id") or item.get("key") or item.get("digest")
        known_as = excerpt(str(artifact), MAX_VALUE, ending="") if artifact else None
        yield Fact(kinds, excerpt(str(name), MAX_VALUE, ending=""), "context", known_as)


def _texts(value: JSONValue, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < 4 and isinstance(value, list):
        for item in value[:MAX_FACTS]:
            yield from _texts(item, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for item in list(value.values())[:MAX_FACTS]:
            yield from _texts(item, depth + 1)


def _targets(runs: JSONValue) -> Iterator[str]:
    for run in runs[:MAX_FACTS] if isinstance(runs, list) else ():
        if isinstance(run, dict):
            for name in ("pipeline", "pipelineId", "pipeline_id", "pack", "target", "id"):
                value = run.get(name)
                if isinstance(value, str):
                    yield excerpt(value, MAX_VALUE, ending="")
                    break
