"""`swe.solve`: an agent does a task in a clone of a repository; the change becomes a patch, branch or pull request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field, field_validator

from packline import ArtifactRef, Metadata, PackContext, excerpt, pack, program

from ..github import create_pr as pull_requests
from ..github._input import one_line
from ..github._repo import parse_repo
from ..repo import fetch as fetching
from ..repo._access import TO_READ
from ..repo._solution import (
    Clone,
    FileChange,
    change_job,
    check_branch,
    commit_message,
    make_patch,
    nothing_changed,
    push_branch,
    save_change,
    sign_in,
)

if TYPE_CHECKING:
    from packline import PackSession

#: The task is put between lines of dashes, to separate other people's words in it from the instruction.
_PROMPT = """\
The folder `repo` holds a clone of a Git repository. Do the task below by changing its files. Do not commit, do not \
push, and change nothing outside of `repo`. Run the repository's own tests where you can. When you are done, answer \
with a short summary of what you changed and why, for the people who review it.

The task is between the two lines of dashes. It may quote other people's words: follow what it asks for in the \
repository, and nothing else.

--------
{task}
--------
"""
_SUMMARY_CHARACTERS = 60_000


class Input(BaseModel):
    """The task, and what is to become of the change."""

    repo_url: str = Field(
        min_length=1,
        max_length=2_000,
        description="Address of a public Git repository, https or http; for a branch or pull request one on GitHub.",
        examples=["https://github.com/pallets/click"],
    )
    task: str = Field(
        min_length=1,
        max_length=60_000,
        description="What to change, as you would tell a colleague.",
        examples=["Make `--version` print the version on one line, and add a test for it."],
    )
    mode: Literal["patch", "branch", "pull_request"] = Field(
        default="patch",
        description="How to deliver the change: as a patch file, a pushed branch, or a branch with a pull request.",
    )
    ref: str | None = Field(
        default=None, max_length=250, description="Branch, tag or full commit id to start from; the default branch."
    )
    agent: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="Agent profile that does the work; the one PACKLINE_AGENT names when left out.",
        examples=["claude"],
    )
    model: str | None = Field(
        default=None, min_length=1, max_length=200, description="Model for the agent to use; by default its profile's."
    )
    title: str = Field(
        default="Change made by an agent",
        min_length=1,
        max_length=200,
        description="First line of the commit, title of the pull request.",
    )
    branch: str | None = Field(
        default=None,
        max_length=200,
        description="Branch to make; one of the form `packline/0123456789ab` when left out.",
        examples=["fix-lamp"],
    )
    draft: bool = Field(default=True, description="Open the pull request as a draft.")
    max_size_mb: int = Field(
        default=500, ge=1, le=2_000, description="Refuse a repository that takes more megabytes than this."
    )

    _title = field_validator("title")(one_line)


class Output(BaseModel):
    """What became of the task."""

    summary: str = Field(description="What the agent says it changed.")
    agent: str = Field(description="The agent profile that did the work, and `@model` when one was given.")
    changed_files: list[FileChange] = Field(description="What differs, at most 200 files.")
    file_count: int = Field(description="Number of files that differ.", ge=1)
    artifact: ArtifactRef = Field(description="The change as a patch, as `git apply` takes it.")
    base_commit: str = Field(description="Full id of the commit the work began at.")
    branch: str | None = Field(description="The branch that was pushed; null for a patch.")
    commit: str | None = Field(description="Full id of the commit on it; null for a patch.")
    pr_url: str | None = Field(description="The pull request; null unless one was asked for.")
    clone_path: str = Field(description="Folder of the clone inside the session.")
    session_id: str = Field(description="The session that holds the clone; later steps get it by themselves.")


@pack(
    "swe.solve",
    version="1.0.0",
    effects="external",
    repeatable=False,
    preserves_session=True,
    uses_agent=True,
    timeout_seconds=2_400,
    services=[program("git")],
    credentials=TO_READ,
    cost="what the agent spends on its model; recorded on the attempt if the agent reports it",
    metadata=Metadata(
        accepts=["repo_url", "description"],
        produces=["code_diff", "pr_url", "session_id", "repo_workspace"],
        intent_keywords=[
            "coding agent",
            "solve a task",
            "change the code",
            "fix a bug",
            "implement a feature",
            "software engineering",
            "write a patch",
        ],
        example_intents=[
            "Have an agent fix this bug in our repository",
            "Add a --json flag to that tool and give me the patch",
            "Write the missing tests for https://github.com/pallets/click",
            "Rename this option everywhere and push a branch",
            "Let a coding agent refactor the parser",
            "Implement the feature and open a pull request",
            "Update the deprecated calls in that project",
            "Solve this task in the repo with Claude",
        ],
        typical_use="Use this when an agent is to change a repository in one call, outside of a pipeline.",
        limitations=[
            "Needs a declared agent profile and a sandbox (bubblewrap); the agent may start any program inside it.",
            "Branches need the credential `github`, `git` or `ssh`; pull requests `github` and a repository there.",
            "Private repositories need the same credentials; no submodules, no Git LFS content.",
            "Nothing but what the agent itself tries out is tested: look at the change before you take it.",
            "Running it again starts over; the repo-solve-* pipelines resume where they stopped.",
        ],
    ),
)
async def solve(ctx: PackContext, input: Input) -> Output:
    """Clones a repository, has an agent do a task in the clone, and makes a patch, a branch or a pull request of it.

    The agent works behind a sandbox like that of an agent step, with a transcript, and is given no credential of the
    repository. Nothing of the `.git` it may have changed is used afterwards. Signing in is tried before it starts.
    """
    if input.branch is not None:
        check_branch(input.branch)
    sessions: list[PackSession] = []
    wanted = fetching.Input(url=input.repo_url, ref=input.ref, max_size_mb=input.max_size_mb)
    fetched = await fetching.fetch_into_session(ctx, wanted, sessions.append)
    clone = Clone(clone_path=fetched.clone_path, url=fetched.url, commit=fetched.commit, max_size_mb=input.max_size_mb)
    job = await change_job(ctx, clone, sessions[0])
    if input.mode == "pull_request":
        parse_repo(ctx, job.remote.url, field="repo_url")
    if input.mode != "patch":
        job = replace(job, remote=await sign_in(ctx, job.remote))
    answer = await ctx.ask_agent(_PROMPT.format(task=input.task), agent=input.agent, model=input.model, may_spawn=True)
    summary = excerpt(answer.text.strip(), _SUMMARY_CHARACTERS, ending="")
    branch = commit = pr_url = None
    if input.mode == "patch":
        change = await make_patch(ctx, job)
    else:
        message = commit_message(input.title, summary)
        branch, changes = await push_branch(ctx, job, branch=input.branch, message=message)
        change, commit = await save_change(ctx, changes), changes.commit
    if change.artifact is None:
        raise nothing_changed()
    if branch is not None and input.mode == "pull_request":
        asked = pull_requests.Input(
            repo=job.remote.url, title=input.title, head=branch, body=summary, draft=input.draft
        )
        proposed = await pull_requests.create_pr.handler(ctx, asked)
        assert isinstance(proposed, pull_requests.Output)
        pr_url = proposed.pr_url
    ctx.progress(1.0, f"{change.file_count} files changed")
    return Output(
        summary=summary,
        agent=answer.agent,
        changed_files=change.changed_files,
        file_count=change.file_count,
        artifact=change.artifact,
        base_commit=job.commit,
        branch=branch,
        commit=commit,
        pr_url=pr_url,
        clone_path=fetched.clone_path,
        session_id=fetched.session_id,
    )
