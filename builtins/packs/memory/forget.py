"""`memory.forget`: lets go of what Packline learned about its caller."""

from __future__ import annotations

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, pack


class Input(BaseModel):
    """What to forget."""

    scope: str = Field(
        default="all",
        min_length=1,
        max_length=210,
        description="`all`, `packs`, `pipelines`, `pack:<id>`, `pipeline:<id>` or `entry:<id>`.",
        examples=["all", "pack:slides.render"],
    )
    dry_run: bool = Field(default=False, description="Only count the rows, forget nothing.")


class Output(BaseModel):
    """The result of forgetting."""

    scope: str = Field(description="The scope of the request.")
    rows: int = Field(description="Rows of memory that were deleted, or would be.", ge=0)
    forgotten: bool = Field(description="Whether they were deleted; false after a dry run.")


@pack(
    "memory.forget",
    version="1.0.0",
    effects="idempotent",
    repeatable=True,
    timeout_seconds=60,
    metadata=Metadata(
        accepts=["text"],
        produces=["json"],
        intent_keywords=[
            "forget my defaults",
            "clear memory",
            "erase what you learned",
            "reset preferences",
            "delete habits",
            "stop suggesting",
        ],
        example_intents=[
            "Forget everything you learned about me",
            "Stop suggesting the executive persona all the time",
            "Wipe my usual choices for slide decks",
            "How many remembered rows would go if I cleared my history of choices?",
            "Reset what is filled in for me",
            "Erase the memory of that one run",
            "Clear the learned settings of the blog pipeline",
            "I want to start from scratch with my preferences",
            "Remove what was remembered about the packs I call",
        ],
        typical_use="Use this to delete what was learned from the caller's own runs, all of it or a part.",
        limitations=[
            "Forgets the caller's own memory only; an administrator uses the memory page for others.",
            "Leaves runs, artifacts, caches, credentials and pinned or excluded defaults as they are.",
            "Does not stop learning; learning is paused on the memory page or by `packline memory pause`.",
        ],
    ),
)
async def forget(ctx: PackContext, input: Input) -> Output:
    """Forgets rows of the caller's audit memory, and with them the defaults that were learned from them."""
    rows = await ctx.memory.forget(input.scope, dry_run=input.dry_run)
    ctx.log(f"{rows} rows {'would be' if input.dry_run else 'were'} forgotten.")
    return Output(scope=input.scope, rows=rows, forgotten=not input.dry_run)
