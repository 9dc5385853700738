"""`repo.diff`: what was changed in a clone, as a patch."""

from __future__ import annotations

from pydantic import Field

from packline import Metadata, PackContext, pack, program

from ._access import TO_READ
from ._solution import Change, Clone, change_job, make_patch, nothing_changed


class Input(Clone):
    """Which clone."""

    must_differ: bool = Field(default=False, description="Fail when nothing was changed.")


class Output(Change):
    """What was changed."""


@pack(
    "repo.diff",
    version="1.0.0",
    effects="none",
    repeatable=True,
    uses_session=True,
    timeout_seconds=360,
    services=[program("git")],
    credentials=TO_READ,
    metadata=Metadata(
        accepts=["repo_workspace", "session_id"],
        produces=["code_diff"],
        intent_keywords=[
            "git diff",
            "make a patch",
            "what changed",
            "changes in the clone",
            "patch file",
            "changed files",
        ],
        example_intents=[
            "Give me the agent's changes as a patch",
            "What was changed in the clone?",
            "Make a diff of the repository so that I can review it",
            "Save the edits as a .patch file",
            "Which files did the last step touch?",
            "Turn the work in the session into something I can git apply",
            "Show how many lines were added and removed",
            "I want the change, but nothing pushed",
        ],
        typical_use="Use this after something changed a clone, an agent for one, to get the change as a patch.",
        limitations=[
            "Compares with the commit the clone was made at, which the server must still hand out.",
            "Commits made in the clone count as changes; their messages are not kept.",
            "Files that the repository's `.gitignore` leaves out are left out; so are submodules.",
            "Patches up to 20 MB.",
        ],
    ),
)
async def diff(ctx: PackContext, input: Input) -> Output:
    """Compares a clone with the commit it was made at and keeps the difference as a patch for `git apply`.

    Nothing of the clone's own `.git` is used: a process that changed the clone may have put anything there.
    """
    change = await make_patch(ctx, await change_job(ctx, input, ctx.session))
    if input.must_differ and not change.file_count:
        raise nothing_changed()
    ctx.progress(1.0, f"{change.file_count} files changed")
    return Output(**dict(change))
