"""`practice.text`: something to try pipelines on, without a key, a network or a file of one's own."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, pack

_SAMPLE = Path(__file__).with_name("sample.md")


class Input(BaseModel):
    """Nothing is needed."""


class Output(BaseModel):
    """The text that ships."""

    title: str = Field(description="Its title.")
    text: str = Field(description="The text as Markdown, title included.")
    word_count: int = Field(description="How many words it has.", ge=1)


@pack(
    "practice.text",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=10,
    metadata=Metadata(
        practice=True,
        accepts=[],
        produces=["markdown", "text", "source_content"],
        intent_keywords=[
            "sample text",
            "practice text",
            "example content",
            "demo text",
            "try it out",
            "placeholder text",
        ],
        example_intents=[
            "Give me some text to try a pipeline on",
            "I need example content for a test",
            "Is there a sample document I can use?",
            "Try the slide packs without a document of my own",
            "Show me what a first step looks like",
            "Use the text that ships with Packline",
            "Something in Markdown with headings, a list and a table, please",
            "Start a demo that needs no key and no network",
        ],
        typical_use="Use this as the first step of a pipeline that is tried out before real material is available.",
        limitations=[
            "Always the same text, in English, about how a run works.",
            "Takes no input of any kind.",
        ],
    ),
)
async def text(ctx: PackContext, input: Input) -> Output:
    """Hands over the practice text that ships with Packline: about 300 words of Markdown with lists and a table."""
    content = _SAMPLE.read_text(encoding="utf-8")
    title = content.partition("\n")[0].removeprefix("# ")
    ctx.progress(1.0, f"Read “{title}”")
    return Output(title=title, text=content, word_count=len(content.split()))
