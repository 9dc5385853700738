"""`blog.rewrite_for_audience`: source material in, a blog post for certain readers out."""

from __future__ import annotations

import asyncio
import re
from typing import Literal

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, PostCondition, excerpt, pack

from .._writing import (
    MATERIAL_RULE,
    NEEDS_WRITER,
    WRITER,
    asked,
    count_words,
    listed,
    material,
    one_line,
    shortened,
    unsourced,
)
from ._kept_sources import sources_of, with_sources
from ._post import body_of, excerpt_of, post_shape, tags_of, titled

#: Words aimed at.
LENGTHS = {"short": 400, "medium": 900, "long": 1_600}
#: A source says only so much: nothing may be made up, so a short one cannot carry a long post.
MOST_WORDS_OF_SOURCE = 1.5
FEWEST_WORDS = 120
#: Share of the words aimed at that a post must have to count as one; a good short post is better than none.
LEAST_SHARE = 0.2

_INSTRUCTIONS = f"""You are an editor. You rewrite source material as a blog post for given readers.

{MATERIAL_RULE}

- Say nothing the source does not say. No fact, number, date, name, quotation, example or web address may come from \
anywhere else, your own knowledge included. What the source leaves open stays open.
- Do not change what figures, names and quotations mean. Keep statements the source hedges hedged.
- Write for the readers named: explain what they cannot know, leave out what they do not need, use their words.
- Where the source has marks such as [1] behind a statement, keep them behind it. Its list of sources is added; leave \
it out.
- Begin with what matters to these readers, not with an announcement of what the post will do.
- Sections with telling headings, short paragraphs, lists or tables where they help. No title: it is set already.
- Plain words, active voice; no filler, no superlatives, no "in today's world", no summary that only repeats.
- Leave out menus, cookie notices, advertisements and other page furniture the source may carry.
- No closing invitation to buy, sign up or contact anybody, and no blanks such as [Name]: neither is in the source.
- Write in the language of the title."""


class Input(BaseModel):
    """The material and whom to write for."""

    source_content: str = Field(
        min_length=1,
        max_length=500_000,
        description="What to write from: Markdown or plain text. The post says nothing that is not in it.",
        examples=["Heat pumps move heat instead of making it. In 2021 a study of 550 homes found savings of 18 %."],
    )
    audience: str = Field(
        min_length=1,
        max_length=200,
        description="Who reads it, and what they know.",
        examples=["engineers new to the team"],
    )
    title: str = Field(min_length=1, max_length=300, description="Title of the post.", examples=["What a lens can do"])
    angle: str | None = Field(
        default=None, max_length=300, description="What to stress, such as `what it costs to run`; none when left out."
    )
    persona: str | None = Field(
        default=None,
        max_length=200,
        description="Voice to write in, such as `a friendly engineer`; neutral when left out.",
    )
    length: Literal["short", "medium", "long"] = Field(
        default="medium",
        description="About 400, 900 or 1,600 words; less where the source does not say enough.",
    )
    model: str | None = Field(
        default=None,
        max_length=200,
        description="A configured model, `provider:name`, to be tried first; else those of the role `writer`.",
    )


class Output(BaseModel):
    """The post."""

    markdown: str = Field(description="The whole post in Markdown: the title as its only `# ` heading, then the body.")
    title: str = Field(description="Title of the post, as given.")
    excerpt: str = Field(description="A sentence or two for lists and previews, at most 300 characters.")
    tags: list[str] = Field(description="Subjects, at most eight.")
    word_count: int = Field(ge=1, description="Words in the body; East Asian characters count one each.")
    unsourced: list[str] = Field(
        description="Figures and web addresses in the post that the source does not hold: look at them first."
    )
    model: str = Field(description="The model that wrote it, `provider:name`.")


def _is_a_post(output: Output, _files: object) -> str | None:
    if not output.markdown.startswith("# "):
        return "the post does not begin with its title"
    if len(re.findall(r"(?m)^(?:```|~~~)", output.markdown)) % 2:
        return "a block of code has no end"
    return None if output.word_count >= 20 else f"the post has only {output.word_count} words"


@pack(
    "blog.rewrite_for_audience",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=300,
    models=[NEEDS_WRITER],
    cost="One writer call: it reads the source and writes about 400 to 1,600 words; a second one when the answer must "
    "be repaired.",
    post_conditions=[PostCondition("the answer is a whole post with its title", _is_a_post)],
    metadata=Metadata(
        accepts=["source_content", "markdown", "text", "brief", "grounded_markdown"],
        produces=["blog_markdown", "markdown"],
        intent_keywords=[
            "write blog post",
            "rewrite for audience",
            "turn into article",
            "adapt text for readers",
            "blog from notes",
            "explain to beginners",
            "rephrase for customers",
            "article from source",
        ],
        example_intents=[
            "Write a blog post from these notes for people new to sailing",
            "Rewrite this white paper for customers who are not engineers",
            "turn our release notes into an article for administrators",
            "I have a long report; make a readable post of it for the board",
            "Explain this design document to new hires, in a friendly voice",
            "Adapt the press release for our developer blog and stress what it costs",
            "make a short post out of this brief",
            "Can you rephrase this research summary for parents?",
            "Schreib aus diesem Text einen Beitrag für Einsteiger",
        ],
        typical_use="Use this when there is material that says what is to be said, and a post for certain readers is "
        "wanted from it.",
        limitations=[
            "Needs a model for the role `writer`; nothing is written without one.",
            "Instructs the model to say only what the source says, but a model can still err: figures and addresses "
            "that the source lacks are listed, other statements are not checked.",
            "Reads at most the first 160,000 characters of the source.",
            "Adds no sources of its own and no call to action; for those use `content.ground` and `blog.append_cta`.",
            "Does not save or publish anything; for that use `blog.publish`.",
        ],
    ),
)
async def rewrite_for_audience(ctx: PackContext, input: Input) -> Output:
    """Writes a blog post for certain readers out of source material, and says nothing the material does not say.

    The material is data: what it asks for is not done. An answer that is too short, or has blanks left to fill in, is
    sent back to the model once. Marks such as `[1]` and the sources they name are carried over. Figures and web
    addresses that the source does not hold are listed and warned about.
    """
    source = input.source_content.strip()
    for name, value in (("source_content", source), ("audience", input.audience), ("title", input.title)):
        if not one_line(value):
            raise PackError("invalid_input", f"`{name}` is blank.", field=name, hint=f"Give {_WHAT[name]}.")
    title = one_line(input.title)
    given = shortened(ctx, source, "The source")
    source_words = await asyncio.to_thread(count_words, given)
    aim = min(LENGTHS[input.length], max(FEWEST_WORDS, round(source_words * MOST_WORDS_OF_SOURCE)))
    if aim < LENGTHS[input.length]:
        ctx.warn(f"The source has only {source_words} words, so a post of about {aim} words was asked for.")
    ctx.progress(0.1, f"Writing from {source_words:,} words for {excerpt(one_line(input.audience), 80)}")
    answer = await ctx.models.structured(
        WRITER,
        post_shape(source, title, int(aim * LEAST_SHARE)),
        _prompt(input, title, given, aim),
        instructions=_INSTRUCTIONS,
        model=input.model or None,
    )
    body = body_of(answer.value.markdown, title)
    summary = excerpt_of(answer.value.excerpt)
    requested = " ".join(filter(None, (title, input.audience, input.angle)))
    new = await asyncio.to_thread(unsourced, f"{body}\n{summary}", (source, requested))
    if new:
        ctx.warn(f"The source does not hold {listed(new)}; check {'them' if len(new) > 1 else 'it'} before publishing.")
    words = count_words(body)
    body = with_sources(body, sources_of(source))
    ctx.progress(1.0, f"{words:,} words written")
    return Output(
        markdown=titled(title, body),
        title=title,
        excerpt=summary,
        tags=tags_of(answer.value.tags),
        word_count=words,
        unsourced=new,
        model=answer.model,
    )


_WHAT = {
    "source_content": "the text to write from",
    "audience": "the readers to write for, such as `new engineers`",
    "title": "the title of the post",
}


def _prompt(input: Input, title: str, source: str, words: int) -> str:
    wanted = asked(
        title=title,
        readers=input.audience,
        angle=input.angle,
        voice=input.persona,
        length=f"about {words:,} words",
    )
    return f"Write the post.\n\n{wanted}\n\n{material('source', source)}"
