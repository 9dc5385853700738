"""A pack that makes the files a test names, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from packline import Pack, PackContext, pack

if TYPE_CHECKING:
    from collections.abc import Mapping


class Nothing(BaseModel):
    """It takes nothing."""


class Files(BaseModel):
    """The files made."""

    artifacts: list[str] = Field(description="Ids of the artifacts.")


def maker(files: Mapping[str, tuple[bytes, str]]) -> Pack:
    """A pack `test.files` that makes files, each with its content and media type, by name."""

    @pack("test.files", version="1.0.0", effects="none", repeatable=True)
    async def make(ctx: PackContext, given: Nothing) -> Files:
        """Makes files."""
        made = [await ctx.save_artifact(name, content, kind) for name, (content, kind) in files.items()]
        return Files(artifacts=[ref.artifact_id for ref in made])

    return make
