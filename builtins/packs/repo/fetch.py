"""`repo.fetch`: a Git repository becomes a workspace for the steps that follow."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, pack, program

from ._access import TO_READ
from ._address import check_ref, check_url, discover
from ._clone import CloneJob, clone_repository
from ._introduction import MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from packline import PackSession

_FOLDER = "repo"
_TIME_LIMIT_SECONDS = 540.0


class Input(BaseModel):
    """What to fetch."""

    url: str = Field(
        description="Address of a Git repository over https, http or SSH, as `git clone` takes it.",
        min_length=1,
        max_length=2_000,
        examples=["https://github.com/pallets/click.git", "git@git.example:team/project.git"],
    )
    ref: str | None = Field(
        default=None,
        description="Branch, tag, or full commit id; the default branch when left out.",
        max_length=250,
        examples=["main", "v2.0.0"],
    )
    depth: int = Field(default=1, description="How many commits of history to get.", ge=1, le=1_000)
    subpath: str | None = Field(
        default=None,
        description="Folder of the repository to read and hand on, such as `packages/core`; all of it when left out.",
        max_length=500,
    )
    max_size_mb: int = Field(
        default=500, description="Refuse a repository that takes more megabytes, history included.", ge=1, le=2_000
    )


class Readme(BaseModel):
    """The file that introduces the repository."""

    path: str | None = Field(description="Where it is; null when the repository has none.")
    content: str = Field(description="Its text, at most 60,000 characters; empty when there is none.")


class Docs(BaseModel):
    """The repository's own documentation."""

    paths: list[str] = Field(description="Markdown files under `docs`, `doc` or `documentation` that were read.")
    content: str = Field(description="Their text one after the other, at most 60,000 characters; may be empty.")


class Language(BaseModel):
    """How much of the repository is in one programming language."""

    name: str = Field(description="The language.")
    files: int = Field(description="Number of files.")
    size_bytes: int = Field(description="Their size in bytes.")
    share: float = Field(description="Part of all code, 0 to 1.", ge=0, le=1)


class Output(BaseModel):
    """The clone, and what it says about itself."""

    clone_path: str = Field(description="Folder inside the session, to be given to repo.map and the like.")
    session_id: str = Field(description="The session that holds the clone; later steps get it by themselves.")
    url: str = Field(description="Address it was fetched from, after redirects.")
    commit: str = Field(description="Full id of the commit that is checked out.")
    branch: str | None = Field(description="Its branch; null for a tag or a commit.")
    readme: Readme = Field(description="The README.")
    docs: Docs = Field(description="The documentation folder.")
    file_count: int = Field(description="Number of files, links left out.")
    size_bytes: int = Field(description="Size of the files in bytes, history left out.")
    languages: list[Language] = Field(description="Programming languages, largest first.")


@pack(
    "repo.fetch",
    version="1.0.0",
    effects="none",
    repeatable=True,
    preserves_session=True,
    timeout_seconds=600,
    services=[program("git")],
    credentials=TO_READ,
    metadata=Metadata(
        accepts=["repo_url"],
        produces=["repo_workspace", "session_id", "markdown"],
        intent_keywords=[
            "clone repository",
            "git clone",
            "fetch repo",
            "github repository",
            "checkout code",
            "download source code",
            "read the readme",
        ],
        example_intents=[
            "Clone https://github.com/pallets/click so that we can look at it",
            "Get the v2.1 tag of this repo",
            "What does the README of that GitHub project say?",
            "Check out the develop branch of our public repository",
            "Fetch the source code of this library",
            "Pull the docs folder out of this repository",
            "Which languages is this project written in?",
            "Download just the packages/core folder's sources from that monorepo",
        ],
        typical_use="Use this to bring a Git repository into a run, before mapping or reading it.",
        limitations=[
            "Private repositories need the credential `github`, `git` (https) or `ssh` of their server; SSH "
            "always needs one.",
            "Submodules and Git LFS content are left out.",
            "README and docs are cut at 60,000 characters each.",
            "A branch may have moved when the step runs again; give a commit id to get the very same files.",
        ],
    ),
)
async def fetch(ctx: PackContext, input: Input) -> Output:
    """Clones a Git repository into a workspace that later steps share, and reads its README and docs.

    Nothing of the repository is executed: no hooks, no filters, no submodules.
    """
    return await fetch_into_session(ctx, input)


async def fetch_into_session(
    ctx: PackContext, input: Input, keep: Callable[[PackSession], None] | None = None
) -> Output:
    """What `repo.fetch` does, for packs that go on with the clone.

    Args:
        ctx: Of a pack that preserves its session.
        input: What to fetch.
        keep: Called with the session once it exists.

    Raises:
        PackError: as `repo.fetch` fails.
    """
    url = check_url(input.url)
    ref = check_ref(input.ref) if input.ref is not None else None
    subpath = _checked_subpath(input.subpath)
    ctx.progress(0.05, f"Asking {url}")
    remote = await discover(ctx, url)
    session = await ctx.start_session()
    if keep is not None:
        keep(session)
    job = CloneJob(
        remote=remote,
        workspace=session.path,
        folder=_FOLDER,
        ref=ref,
        depth=input.depth,
        subpath=subpath,
        max_bytes=input.max_size_mb * 1_000_000,
        time_limit_seconds=_TIME_LIMIT_SECONDS,
    )
    ctx.progress(0.1, f"Cloning {remote.url}")
    reporter = asyncio.create_task(_report(ctx, session.path / _FOLDER))
    try:
        clone = await ctx.run_in_process(clone_repository, job, timeout_seconds=_TIME_LIMIT_SECONDS + 30)
    finally:
        reporter.cancel()
    for name, part in (("README", clone.readme), ("documentation", clone.docs)):
        if part.is_cut:
            ctx.warn(f"The repository's {name} is longer than {MAX_CHARACTERS:,} characters and was cut.")
    if not clone.readme.paths:
        ctx.warn("The repository has no README.")
    ctx.progress(1.0, f"Cloned {clone.file_count:,} files at {clone.commit[:12]}")
    return Output(
        clone_path=f"{_FOLDER}/{subpath}" if subpath else _FOLDER,
        session_id=session.id,
        url=remote.url,
        commit=clone.commit,
        branch=clone.branch,
        readme=Readme(path=next(iter(clone.readme.paths), None), content=clone.readme.text),
        docs=Docs(paths=clone.docs.paths, content=clone.docs.text),
        file_count=clone.file_count,
        size_bytes=clone.size_bytes,
        languages=[
            Language(name=each.name, files=each.files, size_bytes=each.size_bytes, share=each.share)
            for each in clone.languages
        ],
    )


def _checked_subpath(subpath: str | None) -> str:
    """The folder without slashes at its ends.

    Raises:
        PackError: `invalid_input` for one that leads out of the repository; refused before anything is fetched.
    """
    text = (subpath or "").strip("/")
    parts = text.split("/") if text else []
    if (subpath or "").startswith("/") or "\\" in text or "\0" in text or {"..", ".", ".git", ""} & set(parts):
        raise PackError(
            "invalid_input",
            f"`{subpath}` is not a folder inside a repository.",
            field="subpath",
            hint="Give a path from the repository's root, such as `packages/core`.",
        )
    return text


async def _report(ctx: PackContext, clone: Path) -> None:
    """Tells every second how much has arrived, until it is cancelled.

    Only Git's own folder of packs is looked at: it has a handful of files, however large the repository.
    """
    while True:
        await asyncio.sleep(1)
        try:
            with os.scandir(clone / ".git" / "objects" / "pack") as scan:
                size = sum(entry.stat().st_size for entry in scan)
        except OSError:
            continue
        ctx.progress(None, f"{size / 1_000_000:.1f} MB received")
