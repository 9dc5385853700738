"""Finds what changed in a clone, by comparing in a fresh repository; blocks, so it runs in a worker.

An agent that worked in the clone could write anything into its `.git`: filters, hooks, other remotes,
programs that Git would start. So nothing of it is used. The commit it was cloned at is fetched again into a fresh
repository, the files are copied next to it without any `.git`, and Git compares the two.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packline import PackError

from ._files import inside
from ._git import MAX_CHECKED_OUT_FILES, Git
from ._ssh import ssh_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ._address import Remote

#: Longest patch, in bytes.
MAX_PATCH_BYTES = 20 * 1024 * 1024
#: Changed files that are listed one by one.
MAX_LISTED_FILES = 200
#: Who a commit is by; a person's name would claim that a person wrote it.
AUTHOR_NAME, AUTHOR_EMAIL = "Packline", "packline@localhost"
#: Names Git gives a meaning to, on some file system at least (CVE-2014-9390).
_GITS_OWN = frozenset({".git", "git~1"})


@dataclass(frozen=True, slots=True)
class ChangeJob:
    """Which clone is looked at.

    Attributes:
        remote: Where it was cloned from, checked.
        commit: Full id of the commit it was cloned at.
        workspace: Folder of the session.
        clone: The clone's folder in it.
        max_bytes: Most that history and files together may take on disk.
        time_limit_seconds: For everything.
    """

    remote: Remote
    commit: str
    workspace: Path
    clone: str
    max_bytes: int
    time_limit_seconds: float


@dataclass(frozen=True, slots=True)
class PushJob:
    """How the changes are to be pushed.

    Attributes:
        branch: Branch to make; never one that is there with something else.
        message: Of the commit.
        committed_at: Seconds since 1970. The same for the same step, so that a repeat makes the same commit.
    """

    branch: str
    message: str
    committed_at: int


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that differs.

    Attributes:
        added: Lines added; None for a binary file.
        removed: Lines removed; None for a binary file.
    """

    path: str
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class Changes:
    """How a clone differs from the commit it was made at.

    Attributes:
        patch: As `git apply` takes it; empty when nothing differs.
        files: The first that differ, by path.
        file_count: How many differ.
        commit: Id of the commit that was pushed; None when nothing was to be.
        is_new: Whether the branch was made just now.
    """

    patch: bytes
    files: list[ChangedFile]
    file_count: int
    commit: str | None = None
    is_new: bool = False


def find_changes(job: ChangeJob) -> Changes:
    """How the clone differs from its commit.

    Raises:
        PackError: `not_found`, `resource_exhausted`, `timeout`, `upstream_unavailable`, `handler_failed`.
    """
    with _fresh_copy(job) as (git, scratch):
        return _compare(git, job, scratch)


def push_changes(job: ChangeJob, push: PushJob) -> Changes:
    """Makes one commit of what differs and pushes it as a new branch; pushes nothing when nothing differs.

    Raises:
        PackError: besides those of `find_changes`, `invalid_input` when the branch is there with something else,
            `policy_denied` when the server rejects the branch.
    """
    when = f"@{push.committed_at} +0000"
    variables = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", AUTHOR_NAME), ("EMAIL", AUTHOR_EMAIL), ("DATE", when))
    }
    with _fresh_copy(job, variables) as (git, scratch):
        changes = _compare(git, job, scratch)
        if not changes.file_count:
            return changes
        message = scratch / "message"
        message.write_text(push.message, encoding="utf-8")
        tree = git.run("write-tree").strip()
        commit = git.run("commit-tree", tree, "-p", job.commit, "-F", str(message)).strip()
        ref = f"refs/heads/{push.branch}"
        there = git.run("ls-remote", "--", job.remote.url, ref).partition("\t")[0]
        if there and there != commit:
            raise PackError(
                "invalid_input",
                f"The branch `{push.branch}` of {job.remote.url} is there already, with something else.",
                field="branch",
                hint="Give another branch; what is there is never overwritten.",
            )
        if not there:
            _push(git, job, commit, ref)
        return Changes(changes.patch, changes.files, changes.file_count, commit, is_new=not there)


@contextmanager
def _fresh_copy(job: ChangeJob, variables: Mapping[str, str] | None = None) -> Iterator[tuple[Git, Path]]:
    """A fresh repository at the commit whose index holds the files of the clone, and a folder next to it."""
    source = inside(job.workspace, job.clone, field="clone_path")
    scratch = Path(tempfile.mkdtemp(prefix=".packline-", dir=job.workspace))
    try:
        target = scratch / "tree"
        target.mkdir()
        with ssh_session(job.remote, lifetime_seconds=job.time_limit_seconds) as ssh:
            git = Git(
                job.remote,
                scratch,
                target,
                max_bytes=job.max_bytes,
                time_limit_seconds=job.time_limit_seconds,
                ssh=ssh,
                variables=variables,
                task="Comparing with",
            )
            git.require_version()
            git.run("init", "--quiet", "--template=", ".")
            options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--depth=1")
            status, _, complaint = git.try_run("fetch", *options, "--", job.remote.url, job.commit)
            if status != 0:
                git.raise_over_ssh(complaint)
                git.fail(
                    "not_found",
                    f"{job.remote.url} no longer serves the commit {job.commit}.",
                    complaint,
                    field="commit",
                    hint="Fetch the repository again.",
                )
            git.run("read-tree", job.commit)
            _take_files(source, target)
            git.run("add", "--all", "--", ".")
            yield git, scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _take_files(source: Path, target: Path) -> None:
    """The files and links of a tree without anything of Git's: linked where possible, since they are only read."""
    count = 0
    folders = [(str(source), str(target))]
    while folders:
        here, there = folders.pop()
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.name.casefold() in _GITS_OWN:
                    continue
                to = os.path.join(there, entry.name)
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    os.mkdir(to)
                    folders.append((entry.path, to))
                    continue
                count += 1
                if count > MAX_CHECKED_OUT_FILES:
                    raise PackError(
                        "resource_exhausted", f"The clone holds more than {MAX_CHECKED_OUT_FILES:,} files by now."
                    )
                if stat.S_ISLNK(mode):
                    os.symlink(os.readlink(entry.path), to)
                elif stat.S_ISREG(mode):
                    try:
                        os.link(entry.path, to, follow_symlinks=False)
                    except OSError:
                        shutil.copy2(entry.path, to, follow_symlinks=False)


def _compare(git: Git, job: ChangeJob, scratch: Path) -> Changes:
    plain = ("--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all")
    patch, counts = scratch / "patch", scratch / "counts"
    shape = ("--binary", "--full-index", "--src-prefix=a/", "--dst-prefix=b/")
    git.run("diff", *plain, *shape, f"--output={patch}", job.commit, "--")
    git.run("diff", *plain, "--numstat", "-z", f"--output={counts}", job.commit, "--")
    if patch.stat().st_size > MAX_PATCH_BYTES:
        raise PackError(
            "resource_exhausted",
            f"The changes are {patch.stat().st_size:,} bytes as a patch; at most {MAX_PATCH_BYTES:,} are kept.",
            hint="Have built and downloaded files left out, by a `.gitignore` for one.",
        )
    entries = [entry for entry in counts.read_bytes().split(b"\0") if entry]
    return Changes(patch.read_bytes(), [_changed_file(entry) for entry in entries[:MAX_LISTED_FILES]], len(entries))


def _changed_file(entry: bytes) -> ChangedFile:
    added, removed, path = entry.decode("utf-8", "replace").split("\t", 2)
    return ChangedFile(path, int(added) if added != "-" else None, int(removed) if removed != "-" else None)


def _push(git: Git, job: ChangeJob, commit: str, ref: str) -> None:
    options = ("--porcelain", "--no-verify", "--no-signed", "--recurse-submodules=no")
    status, printed, complaint = git.try_run("push", *options, "--", job.remote.url, f"{commit}:{ref}")
    if status == 0:
        return
    # `--porcelain` marks a ref that was refused by `!`, which a failing connection never prints.
    if any(line.startswith("!\t") for line in printed.splitlines()):
        git.fail(
            "policy_denied",
            f"{job.remote.url} rejects the branch `{ref.removeprefix('refs/heads/')}`.",
            printed + complaint,
            field="branch",
            hint="Look at the rules for branches of that repository, or give another branch.",
        )
    git.fail_unreachable(complaint)
