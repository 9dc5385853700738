"""`repo.push`: what was changed in a clone becomes a commit on a new branch of its repository."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field, field_validator

from packline import Metadata, PackContext, pack, program

from ..github._input import one_line
from ._access import TO_PUSH
from ._solution import Change, Clone, change_job, check_branch, commit_message, push_branch, save_change, sign_in


class Input(Clone):
    """Which clone, and what the commit is called."""

    title: str = Field(min_length=1, max_length=500, description="First line of the commit's message.")
    message: str = Field(default="", max_length=65_000, description="The rest of the commit's message.")
    branch: str | None = Field(
        default=None,
        max_length=200,
        description="Branch to make; one of the form `packline/0123456789ab` when left out.",
        examples=["fix-lamp"],
    )

    _title = field_validator("title")(one_line)


class Output(Change):
    """What was pushed."""

    branch: str = Field(description="The branch.")
    commit: str = Field(description="Full id of the commit.")
    base_commit: str = Field(description="Full id of the commit it follows.")
    repo_url: str = Field(description="Address of the repository.")
    created: bool = Field(description="False when an earlier attempt had pushed the same already.")


@pack(
    "repo.push",
    version="1.0.0",
    effects="external",
    repeatable=True,
    takes_idempotency_key=True,
    uses_session=True,
    timeout_seconds=400,
    services=[program("git")],
    credentials=TO_PUSH,
    metadata=Metadata(
        accepts=["repo_workspace", "session_id"],
        produces=["code_diff", "json"],
        intent_keywords=[
            "git push",
            "push a branch",
            "commit changes",
            "new branch",
            "publish changes",
            "branch on github",
        ],
        example_intents=[
            "Push the agent's changes as a branch",
            "Commit what was changed in the clone",
            "Put the fix on a branch called fix-lamp",
            "Publish the edits so that I can open a pull request",
            "push my changes to github",
            "Make a branch out of the work in the session",
            "Commit and push, but open no pull request",
            "Save the change in the repository itself, on its own branch",
        ],
        typical_use="Use this when what was changed in a clone should be a branch of its repository.",
        limitations=[
            "Pushes with the credential `github` to the GitHub that is set up here, with `git` or `ssh` to the "
            "server that the credential names.",
            "Makes one commit, by Packline; commits made in the clone are not kept apart.",
            "Never overwrites a branch: with the same name and something else on it the step fails.",
            "Files that the repository's `.gitignore` leaves out are not pushed; nor are submodules.",
        ],
    ),
)
async def push(ctx: PackContext, input: Input) -> Output:
    """Commits what differs from the commit a clone was made at, and pushes it as a new branch.

    Nothing of the clone's own `.git` is used: a process that changed the clone may have put anything there. A step that
    runs again makes the same commit and finds it pushed.
    """
    if input.branch is not None:
        check_branch(input.branch)
    job = await change_job(ctx, input, ctx.session)
    job = replace(job, remote=await sign_in(ctx, job.remote))
    message = commit_message(input.title, input.message)
    branch, changes = await push_branch(ctx, job, branch=input.branch, message=message)
    ctx.progress(1.0, f"Pushed {changes.file_count} changed files as {branch}")
    return Output(
        **dict(await save_change(ctx, changes)),
        branch=branch,
        commit=changes.commit or "",
        base_commit=job.commit,
        repo_url=job.remote.url,
        created=changes.is_new,
    )
