"""From a changed clone to a patch or a pushed branch: what `repo.diff`, `repo.push` and `swe.solve` share."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from packline import ArtifactRef, PackContext, PackError, excerpt

from .._http import failure_for_answer
from .._marks import CLOCK_SLACK, mark_of, not_before
from ._access import refused, require_sign_in
from ._address import check_ref, check_url, discover
from ._changes import ChangeJob, Changes, PushJob, find_changes, push_changes

if TYPE_CHECKING:
    from packline import PackSession

    from ._address import Remote

TIME_LIMIT_SECONDS = 300.0
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_ASK_SECONDS = 20.0


class Clone(BaseModel):
    """A clone in a session, as `repo.fetch` tells of it."""

    clone_path: str = Field(
        default="repo", max_length=500, description="Folder of the clone in the session; `clone_path` of repo.fetch."
    )
    url: str = Field(min_length=1, max_length=2_000, description="Where it was cloned from; `url` of repo.fetch.")
    commit: str = Field(
        min_length=40, max_length=64, description="Full id of the commit it was cloned at; `commit` of repo.fetch."
    )
    max_size_mb: int = Field(
        default=500, ge=1, le=2_000, description="Refuse a repository that takes more megabytes than this."
    )


class FileChange(BaseModel):
    """How one file differs."""

    path: str = Field(description="Path in the repository.")
    added: int | None = Field(description="Lines added; null for a binary file.")
    removed: int | None = Field(description="Lines removed; null for a binary file.")


class Change(BaseModel):
    """How the clone differs from the commit it was made at."""

    changed_files: list[FileChange] = Field(description="What differs, at most 200 files.")
    file_count: int = Field(description="Number of files that differ.", ge=0)
    artifact: ArtifactRef | None = Field(description="The patch, as `git apply` takes it; null when nothing differs.")


async def change_job(ctx: PackContext, clone: Clone, session: PackSession | None) -> ChangeJob:
    """What is to be compared, its server asked through the egress guard.

    Args:
        ctx: The step.
        clone: The clone.
        session: Where it is.

    Raises:
        PackError: `session_unavailable` without a session; as `discover` and `check_url` do.
    """
    if session is None:
        raise PackError("session_unavailable", "There is no clone to look at.", hint="Put repo.fetch before this step.")
    if not _COMMIT.match(clone.commit):
        raise PackError(
            "invalid_input",
            f"`{excerpt(clone.commit, 70)}` is not the full id of a commit.",
            field="commit",
            hint="Pass on `commit` of repo.fetch.",
        )
    return ChangeJob(
        remote=await discover(ctx, check_url(clone.url)),
        commit=clone.commit,
        workspace=session.path,
        clone=clone.clone_path.split("/", 1)[0],  # the whole repository, also when only a part was read
        max_bytes=clone.max_size_mb * 1_000_000,
        time_limit_seconds=TIME_LIMIT_SECONDS,
    )


async def make_patch(ctx: PackContext, job: ChangeJob) -> Change:
    """The changes as an artifact.

    Raises:
        PackError: see `find_changes`.
    """
    ctx.progress(0.2, f"Comparing with {job.commit[:12]}")
    changes = await ctx.run_in_process(find_changes, job, timeout_seconds=TIME_LIMIT_SECONDS + 30)
    return await save_change(ctx, changes)


async def save_change(ctx: PackContext, changes: Changes) -> Change:
    """Save the patch as an artifact and return the changes."""
    artifact = None
    if changes.file_count:
        artifact = await ctx.save_artifact("changes.patch", changes.patch, "text/x-patch")
    files = [FileChange(path=file.path, added=file.added, removed=file.removed) for file in changes.files]
    return Change(changed_files=files, file_count=changes.file_count, artifact=artifact)


def nothing_changed() -> PackError:
    """Return the failure of a step whose work is nothing without a change."""
    return PackError(
        "invalid_input",
        "Nothing was changed in the repository.",
        cause="The clone has the same files as the commit it was made at, apart from what `.gitignore` names.",
        hint="Look at what the step that was to change it says; describe the task more closely.",
    )


async def sign_in(ctx: PackContext, remote: Remote) -> Remote:
    """The repository with the credential that pushes to it, once the server has accepted that.

    Over SSH only the push itself shows whether the key may push.

    Raises:
        PackError: `credential_invalid` when there is no credential for this server or it may not push; what else the
            server answers.
    """
    import httpx2

    if remote.ssh is not None:
        return remote
    signed = await require_sign_in(ctx, remote.url)
    address = f"{remote.url}/info/refs?service=git-receive-pack"
    headers = {"User-Agent": "git/2 (packline)", "Authorization": signed.header}
    try:
        answer = await ctx.http.get(address, headers=headers, follow_redirects=False, timeout=_ASK_SECONDS)
    except httpx2.TimeoutException as error:
        raise PackError("timeout", f"{remote.url} did not answer within {_ASK_SECONDS:.0f} s.") from error
    except httpx2.TransportError as error:
        raise PackError("upstream_unavailable", f"{remote.url} could not be reached: {error}.") from error
    if answer.status_code in (401, 403):
        raise refused(signed.key, remote.url, f"HTTP {answer.status_code}; pushing needs write access")
    if answer.status_code != 200:
        raise failure_for_answer(answer, field="url", hint=None)
    return replace(remote, authorization=signed.header)


async def push_branch(ctx: PackContext, job: ChangeJob, *, branch: str | None, message: str) -> tuple[str, Changes]:
    """Pushes the changes as one commit on a branch of their own; the branch's name, and the changes.

    Raises:
        PackError: see `push_changes`; `invalid_input` when nothing differs.
    """
    name = check_branch(branch) if branch is not None else f"packline/{mark_of(ctx)[:12]}"
    push = PushJob(name, message, int((not_before(ctx) + CLOCK_SLACK).timestamp()))
    ctx.progress(0.3, f"Pushing {name}")
    changes = await ctx.run_in_process(push_changes, job, push, timeout_seconds=TIME_LIMIT_SECONDS + 30)
    if not changes.file_count:
        raise nothing_changed()
    return name, changes


def check_branch(name: str) -> str:
    """The name of a branch that can be made.

    Raises:
        PackError: `invalid_input` for a name Git would refuse, or of something that is not a branch.
    """
    try:
        check_ref(name)
    except PackError as error:
        raise PackError(
            "invalid_input", f"`{excerpt(name, 100)}` cannot be the name of a branch.", field="branch"
        ) from error
    if name.startswith("refs/") or name == "HEAD":
        raise PackError("invalid_input", f"`{name}` is not a branch name.", field="branch", hint="Such as `fix-lamp`.")
    return name


def commit_message(title: str, text: str) -> str:
    """A message of one line, a blank one and the rest."""
    rest = text.strip()
    return f"{title}\n\n{rest}\n" if rest else f"{title}\n"
