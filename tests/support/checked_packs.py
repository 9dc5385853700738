"""Three small packs and a lookup over them, for checks of definitions."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from packline import Pack, PackContext, pack


class ScrapeInput(BaseModel):
    url: str = Field(description="Page to read.", json_schema_extra={"format": "uri"})
    timeout: int = 10
    headers: dict[str, str] = {}


class Link(BaseModel):
    href: str
    text: str | None = None


class ScrapeOutput(BaseModel):
    markdown: str
    title: str | None = None
    links: list[Link] = []
    raw: Any = None


class Slide(BaseModel):
    text: str
    level: int = 1


class RenderInput(BaseModel):
    markdown: str = Field(min_length=1, max_length=100_000)
    title: str | None = None
    format: Literal["pdf", "pptx"] = "pdf"
    slides: list[Slide] = []
    width: int = 3


class RenderOutput(BaseModel):
    pages: int


class FetchInput(BaseModel):
    repo: str


class FetchOutput(BaseModel):
    files: list[str]


@pack("web.scrape", version="1.2.0", effects="none", repeatable=True)
async def scrape(ctx: PackContext, input: ScrapeInput) -> ScrapeOutput:
    """Reads a page."""
    return ScrapeOutput(markdown=input.url)


@pack("slides.render", version="1.0.0", effects="none", repeatable=True)
async def render(ctx: PackContext, input: RenderInput) -> RenderOutput:
    """Renders slides."""
    return RenderOutput(pages=1)


@pack("repo.fetch", version="2.0.1", effects="none", repeatable=True, preserves_session=True)
async def fetch(ctx: PackContext, input: FetchInput) -> FetchOutput:
    """Fetches a repository."""
    return FetchOutput(files=[])


class Packs:
    """A lookup over a fixed set of packs."""

    def __init__(self, *packs: Pack) -> None:
        self._packs = {one.name: one for one in packs or (scrape, render, fetch)}

    def find(self, name: str, version: str | None = None) -> Pack | None:
        found = self._packs.get(name)
        if found is None or version in (None, found.version, found.version.split(".")[0]):
            return found
        return None

    def names(self) -> list[str]:
        return sorted(self._packs)

    def versions(self, name: str) -> list[str]:
        return [self._packs[name].version] if name in self._packs else []

    def unloaded(self, name: str) -> None:
        """All of them were loaded."""
