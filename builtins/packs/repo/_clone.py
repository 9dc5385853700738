"""Cloning a repository into a workspace and reading what it says about itself; blocks, so it runs in a worker."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packline import PackError

from ._files import inside, list_files, measure_languages
from ._git import MAX_CHECKED_OUT_FILES, Git
from ._introduction import read_docs, read_readme
from ._ssh import ssh_session

if TYPE_CHECKING:
    from pathlib import Path

    from ._address import Remote
    from ._files import LanguageShare
    from ._introduction import Introduction


@dataclass(frozen=True, slots=True)
class CloneJob:
    """What to clone, and where to.

    Attributes:
        remote: The repository, checked.
        workspace: Folder of the session.
        folder: Name of the clone in it.
        ref: Branch, tag, full ref name or commit; None for the default branch.
        depth: How many commits of history.
        subpath: Folder of the repository that is read, without slashes at its ends; empty for all of it.
        max_bytes: Most that clone and history together may take on disk.
        time_limit_seconds: For everything.
    """

    remote: Remote
    workspace: Path
    folder: str
    ref: str | None
    depth: int
    subpath: str
    max_bytes: int
    time_limit_seconds: float


@dataclass(frozen=True, slots=True)
class Clone:
    """What was cloned.

    Attributes:
        commit: Full commit id.
        branch: Its branch, or None for a tag or a commit.
        readme: The README.
        docs: The documentation folder.
        file_count: Number of files.
        size_bytes: Their size, history left out.
        languages: Largest first.
    """

    commit: str
    branch: str | None
    readme: Introduction
    docs: Introduction
    file_count: int
    size_bytes: int
    languages: list[LanguageShare]


def clone_repository(job: CloneJob) -> Clone:
    """Clones and reads a repository.

    Raises:
        PackError: `not_found` for a missing ref or folder, `credential_invalid` for a key or server that is not
            accepted, `resource_exhausted` for one that is too large, `timeout`, `upstream_unavailable` when the server
            stops answering, `handler_failed` for what Git refuses.
    """
    target = job.workspace / job.folder
    if target.exists():
        shutil.rmtree(target)  # left by an attempt that was cut off
    with ssh_session(job.remote, lifetime_seconds=job.time_limit_seconds) as ssh:
        git = Git(
            job.remote,
            job.workspace,
            target,
            max_bytes=job.max_bytes,
            time_limit_seconds=job.time_limit_seconds,
            ssh=ssh,
        )
        return _clone(git, job, target)


def _clone(git: Git, job: CloneJob, target: Path) -> Clone:
    git.require_version()
    ref, branch = _find_ref(git, job)
    target.mkdir()
    git.run("init", "--quiet", "--template=", ".")
    git.run("remote", "add", "origin", job.remote.url)
    _fetch(git, job, ref, branch)
    wanted = f"refs/remotes/origin/{branch}" if branch else "FETCH_HEAD"
    checkout = (
        ["checkout", "--quiet", "--force", "-B", branch, wanted]
        if branch
        else ["checkout", "--quiet", "--force", "--detach", wanted]
    )
    git.run(*checkout)
    commit = git.run("rev-parse", "--verify", "HEAD").strip()
    return _read_clone(job, commit, branch)


def _find_ref(git: Git, job: CloneJob) -> tuple[str, str | None]:
    """What to ask the server for, and the branch when it is one.

    Raises:
        PackError: `not_found` when the server has no such ref or nothing at all.
    """
    ref = job.ref
    if ref is not None and _is_commit_id(ref):
        return ref, None
    wanted = ["HEAD"] if ref is None else [ref, f"refs/heads/{ref}", f"refs/tags/{ref}"]
    listing = _list_refs(git, job, wanted)
    if ref is None:
        head = listing.get("ref: HEAD")
        if head is not None:
            return head, head.removeprefix("refs/heads/")
        if "HEAD" in listing:
            return "HEAD", None
        raise PackError("not_found", f"{job.remote.url} has no commits yet.", field="url")
    for name in (f"refs/heads/{ref}", f"refs/tags/{ref}", ref):
        if name in listing and name.startswith("refs/"):
            return name, name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else None
    raise PackError(
        "not_found",
        f"{job.remote.url} has no branch or tag `{ref}`.",
        field="ref",
        hint="Leave ref out for the default branch; commits are given by their full id.",
    )


def _list_refs(git: Git, job: CloneJob, wanted: list[str]) -> dict[str, str]:
    """The server's refs of these names: name to commit, and `ref: HEAD` to the branch that HEAD points to."""
    status, printed, complaint = git.try_run("ls-remote", "--symref", "--", job.remote.url, *wanted)
    if status != 0:
        git.fail_unreachable(complaint)
    refs: dict[str, str] = {}
    for line in printed.splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: refs/heads/"):
            refs[f"ref: {name}"] = value.removeprefix("ref: ")
        else:
            refs[name] = value
    return refs


def _fetch(git: Git, job: CloneJob, ref: str, branch: str | None) -> None:
    """Gets the commits.

    Raises:
        PackError: `not_found` when the server answers but does not serve the commit, else `upstream_unavailable`.
    """
    refspec = f"+{ref}:refs/remotes/origin/{branch}" if branch else ref
    options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", f"--depth={job.depth}")
    status, _, complaint = git.try_run("fetch", *options, "origin", refspec)
    if status == 0:
        return
    if _is_commit_id(ref):
        _list_refs(git, job, ["HEAD"])  # raises when the server is what fails
        git.fail("not_found", f"{job.remote.url} has no commit {ref}, or does not serve it.", complaint, field="ref")
    git.fail_unreachable(complaint)


def _is_commit_id(ref: str) -> bool:
    return len(ref) in (40, 64) and all(char in "0123456789abcdef" for char in ref)


def _read_clone(job: CloneJob, commit: str, branch: str | None) -> Clone:
    root = inside(job.workspace, f"{job.folder}/{job.subpath}" if job.subpath else job.folder, field="subpath")
    files, _ = list_files(root, limit=MAX_CHECKED_OUT_FILES)
    readme = read_readme(root, files)
    return Clone(
        commit=commit,
        branch=branch,
        readme=readme,
        docs=read_docs(root, files, except_paths=readme.paths),
        file_count=len(files),
        size_bytes=sum(file.size_bytes for file in files),
        languages=measure_languages(files),
    )
