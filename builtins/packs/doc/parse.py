"""`doc.parse`: a document in, Markdown out."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, model_validator

from packline import ArtifactRef, Metadata, PackContext, PackError, PostCondition, excerpt, pack, python_module

from .._bounds import MAX_HTML_ELEMENTS, MAX_HTML_OPEN, MAX_XML_ELEMENTS
from .._http import checked_url, fetch
from .._markdown import cut_at_paragraph
from .._process import too_slow
from ._convert import CPU_SECONDS, MEMORY_BYTES, Converted, convert
from ._pdf import MAX_PAGES

#: A document may be this large when fetched; uploads have the artifact store's own limit.
MAX_DOWNLOAD_BYTES = 32 * 1024 * 1024
DOWNLOAD_SECONDS = 60.0
PARSE_SECONDS = 180.0

#: A step's output may hold 1 MiB; what is longer goes into an artifact as a whole.
MAX_MARKDOWN_BYTES = 900_000


class Input(BaseModel):
    """What to read: exactly one of `source_url` and `artifact`."""

    source_url: str | None = Field(
        default=None,
        max_length=2_000,
        description="Address of the document, fetched now. Give this or `artifact`.",
        examples=["https://example.org/report.pdf"],
    )
    artifact: str | None = Field(
        default=None,
        max_length=100,
        description="Id of an uploaded file or of one an earlier step made, `art_…`. Give this or `source_url`.",
    )
    max_chars: int = Field(
        default=400_000,
        ge=1_000,
        le=900_000,
        description="Longest Markdown to return, in characters. A longer document is cut at a paragraph, "
        "and kept whole as an artifact.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Input:
        if (self.source_url is None) == (self.artifact is None):
            raise ValueError("Give exactly one of `source_url` and `artifact`.")
        return self


class Output(BaseModel):
    """The document's text and what is known about it."""

    markdown: str = Field(description="The text as Markdown: headings, lists, tables, emphasis, links.")
    title: str | None = Field(description="The document's own title, else its first heading.")
    pages: int | None = Field(description="Pages of a PDF, slides of a presentation; null where there are none.")
    format: Literal["pdf", "docx", "xlsx", "pptx", "html", "markdown", "text"] = Field(
        description="What the document turned out to be, judged by its content."
    )
    media_type: str = Field(description="Media type of that format.")
    word_count: int = Field(description="Words in `markdown`.", ge=0)
    needs_ocr: bool = Field(description="Most pages are pictures without text; nothing can be read without OCR.")
    truncated: bool = Field(description="`markdown` is only the beginning; `full_markdown` has it all.")
    full_markdown: ArtifactRef | None = Field(description="The whole text as a file, when `markdown` had to be cut.")
    source_url: str | None = Field(description="Where it was fetched from, after redirects; null for artifacts.")


def _has_text(output: Output, _files: object) -> str | None:
    if output.needs_ocr or output.markdown.strip():
        return None
    return f"the {output.format} document gave no text"


@pack(
    "doc.parse",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=300,
    services=[
        python_module("pdf_oxide", extra="doc"),
        python_module("mammoth", extra="doc"),
        python_module("python_calamine", extra="doc"),
    ],
    post_conditions=[PostCondition("a document with text gives text", _has_text)],
    metadata=Metadata(
        accepts=["source_url", "document", "pdf", "docx", "xlsx", "pptx", "html", "markdown", "text"],
        produces=["markdown", "source_content"],
        intent_keywords=[
            "read document",
            "parse pdf",
            "pdf to markdown",
            "extract text",
            "convert docx",
            "word document",
            "spreadsheet to table",
            "read slides",
        ],
        example_intents=[
            "Read this PDF for me",
            "Turn report.docx into Markdown",
            "What does the paper at https://arxiv.org/pdf/1706.03762 say? Get me its text",
            "Pull the tables out of this Excel file",
            "I uploaded our annual report, extract the text so we can write about it",
            "Convert this PowerPoint to plain notes",
            "get the text of this contract",
            "Make this PDF readable for the next step",
            "How many words does this document have?",
        ],
        typical_use="Use this when the starting point is a file (PDF, Word, Excel, PowerPoint, HTML, Markdown), "
        "uploaded or at an address, and later steps need its text.",
        limitations=[
            "Does not read text inside pictures or scans (no OCR); such pages are reported.",
            "Leaves out pictures, drawings (SVG), charts and page layout; refuses what is a picture itself.",
            "Cannot open files protected with a password.",
            f"Refuses a PDF of more than {MAX_PAGES:,} pages, HTML of more than {MAX_HTML_ELEMENTS:,} elements or "
            f"{MAX_HTML_OPEN:,} within each other, and Office files with more than {MAX_XML_ELEMENTS:,} elements in "
            f"one part; stops after {CPU_SECONDS} seconds of processor time or at {MEMORY_BYTES >> 20} MiB.",
            "Does not read Office files from before 2007, except .xls, nor OpenDocument, EPUB or e-mail files.",
            "For articles on the web use `web.scrape`, which leaves navigation and advertisements out.",
        ],
    ),
)
async def parse(ctx: PackContext, input: Input) -> Output:
    """Reads a document and returns its text as Markdown.

    The format is recognised by content, never by name. PDF, DOCX, XLSX, PPTX, HTML, Markdown and plain text are read;
    headings, lists, tables and links are kept. What could not be read (pages without text, damaged pages) is a warning
    on the step.
    """
    url: str | None = None
    if input.source_url is not None:
        url, result = await _parse_url(ctx, input.source_url)
    else:
        result = await _parse_artifact(ctx, input.artifact or "")
    for warning in result["warnings"]:
        ctx.warn(warning)
    if not result["markdown"].strip() and not result["needs_ocr"]:
        raise PackError(
            "invalid_input",
            f"The {result['format']} document has no text in it.",
            field="artifact" if url is None else "source_url",
            hint="Check that it is the right file.",
        )
    if result["needs_ocr"]:
        ctx.log("Most pages have no text layer; the document looks scanned.", "warning")
    markdown, full = await _within_limits(ctx, result, input.max_chars)
    ctx.progress(1.0, f"{_described(result)} read")
    return Output(
        markdown=markdown,
        title=result["title"],
        pages=result["pages"],
        format=result["format"],
        media_type=result["media_type"],
        word_count=len(markdown.split()),
        needs_ocr=result["needs_ocr"],
        truncated=full is not None,
        full_markdown=full,
        source_url=url,
    )


async def _parse_url(ctx: PackContext, source_url: str) -> tuple[str, Converted]:
    url = checked_url(source_url, field="source_url")
    ctx.progress(0.0, "Fetching the document")
    answer = await fetch(ctx, url, field="source_url", max_bytes=MAX_DOWNLOAD_BYTES, timeout_seconds=DOWNLOAD_SECONDS)
    if not answer.body:
        raise PackError("invalid_input", f"{answer.url} answered with nothing.", field="source_url")
    ctx.progress(0.4, f"Reading {len(answer.body):,} bytes")
    return answer.url, await _converted(
        ctx, "source_url", answer.body, answer.media_type, answer.charset, answer.file_name
    )


async def _parse_artifact(ctx: PackContext, artifact_id: str) -> Converted:
    file = await ctx.open_artifact(artifact_id)
    ctx.progress(0.2, f"Reading {file.ref.name}")
    return await _converted(ctx, "artifact", str(file.path), _plain_type(file.ref.media_type), None, file.ref.name)


def _plain_type(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


async def _converted(
    ctx: PackContext, field: str, source: str | bytes, media_type: str, charset: str | None, name: str
) -> Converted:
    """Converts in a separate process; its refusals name the input field."""
    try:
        return await ctx.run_in_process(
            convert, source, media_type, charset, name, os.getpid(), timeout_seconds=PARSE_SECONDS
        )
    except PackError as error:
        failure = error.failure
        if failure.code == "timeout":
            raise too_slow(f"`{name}`", PARSE_SECONDS, field) from error
        died_of = failure.detail.get("signal") if isinstance(failure.detail, dict) else None
        if died_of == signal.SIGXCPU:
            raise PackError(
                "resource_exhausted",
                f"`{name}` was not read within {CPU_SECONDS} seconds of processor time.",
                field=field,
                hint="Split the document, or save it again with another program.",
            ) from error
        if failure.code == "resource_exhausted" or (failure.code == "handler_failed" and died_of is not None):
            # The document brought its reader down: out of its memory, or into a fault of the library.
            raise PackError(
                "resource_exhausted",
                f"`{name}` could not be read: its reader ran out of the {MEMORY_BYTES >> 20} MiB it has, "
                "or broke over it.",
                field=field,
                hint="Split the document, or save it again with another program.",
                detail=failure.message,
            ) from error
        if failure.code != "invalid_input" or failure.field is not None:
            raise
        raise PackError.of(replace(failure, field=field)) from error


async def _within_limits(ctx: PackContext, result: Converted, max_chars: int) -> tuple[str, ArtifactRef | None]:
    """The Markdown, cut at a paragraph when too long, and then the whole of it as an artifact."""
    whole = result["markdown"]
    cut = cut_at_paragraph(whole, max_chars=max_chars, max_bytes=MAX_MARKDOWN_BYTES)
    if len(cut) == len(whole):
        return whole, None
    title = (result["title"] or "document").replace("/", " ").replace("\\", " ")
    stem = Path(excerpt(title, 80, ending="").strip() or "document").name
    ref = await ctx.save_artifact(f"{stem}.md", whole.encode(), "text/markdown")
    ctx.warn(f"The text is {len(whole):,} characters long; the first {len(cut):,} are returned, `{ref.name}` has all.")
    return cut, ref


def _described(result: Converted) -> str:
    kind = {"pdf": "PDF", "docx": "Word document", "xlsx": "Spreadsheet", "pptx": "Presentation"}.get(
        result["format"], "Document"
    )
    return f"{kind} of {result['pages']} pages" if result["pages"] else kind
