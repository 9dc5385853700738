"""`blog.append_cta`: a post in, the same post with a closing that says where to go next out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, PostCondition, pack

from .._http import checked_address
from .._links import only_known_links
from .._writing import (
    MATERIAL_RULE,
    WRITER,
    WRITER_HELPS,
    asked,
    blanks,
    listed,
    material,
    one_line,
    unwrapped,
    use_model,
)
from ._closing import (
    Target,
    append,
    entries_of,
    has_closing,
    missing_targets,
    plain_closing,
    targets_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What a model is shown of a long post: its beginning and its end.
SHOWN_CHARS = 8_000
CLOSING_CHARS = 1_500

_INSTRUCTIONS = f"""You write the closing of a blog post: a heading and one short paragraph that tells readers what \
to do next.

{MATERIAL_RULE}

- Two to four sentences in the language and tone of the post, to the readers named. Concrete: say what they find where.
- Link each of the given addresses once, as a Markdown link with telling words. Use no other address, ever.
- Promise nothing that neither the post nor the request says: no offers, prices, dates, newsletters or contact details.
- Do not sum up the post, do not thank for reading, leave no blanks such as [Name]."""


class Input(BaseModel):
    """The post and what its closing points to."""

    markdown: str = Field(
        min_length=1,
        max_length=800_000,
        description="The post, in Markdown.",
        examples=["# Heat without fire\n\nA heat pump moves heat instead of making it."],
    )
    cta_copy: str | None = Field(
        default=None, max_length=4_000, description="The closing, in Markdown; appended unchanged, without a model."
    )
    project_url: str | None = Field(
        default=None,
        max_length=2_000,
        json_schema_extra={"format": "uri"},
        description="Address of the project or product to point to.",
        examples=["https://click.palletsprojects.com"],
    )
    github_url: str | None = Field(
        default=None,
        max_length=2_000,
        json_schema_extra={"format": "uri"},
        description="Address of its code.",
        examples=["https://github.com/pallets/click"],
    )
    source_url: str | None = Field(
        default=None,
        max_length=2_000,
        json_schema_extra={"format": "uri"},
        description="Address of what the post is based on.",
    )
    audience: str | None = Field(default=None, max_length=200, description="Who reads it.", examples=["new engineers"])
    persona: str | None = Field(
        default=None, max_length=200, description="Voice to write in; only a model can take it into account."
    )
    mode: Literal["auto", "deterministic", "model"] = Field(
        default="auto",
        description="`auto`: a model writes it where one is configured, unless `cta_copy` is given. `deterministic`: "
        "plain sentences around the addresses, in English.",
    )
    model: str | None = Field(
        default=None,
        max_length=200,
        description="A configured model, `provider:name`, to be tried first; else those of the role `writer`.",
    )


class Output(BaseModel):
    """The post with its closing."""

    markdown: str = Field(description="The post with the closing, before its list of sources where it has one.")
    mode: Literal["copy", "deterministic", "model", "none"] = Field(
        description="`copy`: the given `cta_copy`. `none`: nothing was added, since the post has a closing already or "
        "there is nothing to point to."
    )
    closing: str = Field(description="What was added; empty when nothing was.")
    model: str | None = Field(description="The model that wrote it, `provider:name`; null when none did.")


class Closing(BaseModel):
    """The closing of a blog post."""

    heading: str = Field(description="Two to six words, no `#`.", min_length=1, max_length=100)
    markdown: str = Field(
        description="Two to four sentences with the links, in Markdown.", min_length=1, max_length=CLOSING_CHARS
    )


def _is_in_place(output: Output, _files: object) -> str | None:
    return None if output.closing.strip() in output.markdown else "the closing is not in the post"


@pack(
    "blog.append_cta",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=120,
    models=[WRITER_HELPS],
    cost="One short writer call where a model is configured and no `cta_copy` is given; else nothing.",
    post_conditions=[PostCondition("the closing is in the post", _is_in_place)],
    metadata=Metadata(
        accepts=["blog_markdown", "markdown", "grounded_markdown", "text"],
        produces=["blog_markdown", "markdown"],
        intent_keywords=[
            "call to action",
            "add a closing",
            "end of post",
            "link to project",
            "cta",
            "where to go next",
            "invite readers",
            "link to github",
        ],
        example_intents=[
            "Add a call to action to this post",
            "End the article with links to our project and its GitHub page",
            "put a closing under my draft that sends readers to https://example.org",
            "Tell readers at the end where they can try it",
            "Append this sentence to the post as its last words",
            "My article stops abruptly, give it an ending with a link to the source",
            "Close the post with an invitation to contribute on GitHub",
            "Add the usual where-to-go-next section for administrators",
        ],
        typical_use="Use this when a post is finished and should send its readers on, before it is published.",
        limitations=[
            "Points to the given addresses only and does not check that they work.",
            "Without a model the closing is plain and in English, and the voice has no effect.",
            "Adds one closing: a post that has one from here stays as it is.",
            "Does not change the rest of the post.",
        ],
    ),
)
async def append_cta(ctx: PackContext, input: Input) -> Output:
    """Adds a closing to a post that says where to go next, with links to the given addresses and to no others.

    Given words are taken as they are. Otherwise a model writes the closing where one is configured, and plain sentences
    are put around the addresses where none is. A post that was given a closing before is returned unchanged.
    """
    if not input.markdown.strip():
        raise PackError("invalid_input", "`markdown` is blank.", field="markdown", hint="Give the post.")
    targets = targets_of(*(_address(input, name) for name in ("project_url", "github_url", "source_url")))
    copy = (input.cta_copy or "").strip()
    if has_closing(input.markdown, copy):
        ctx.warn("The post has a closing already; nothing was added.")
        return Output(markdown=input.markdown, mode="none", closing="", model=None)
    if copy:
        return Output(markdown=append(input.markdown, copy), mode="copy", closing=copy, model=None)
    if use_model(ctx, input.mode, "deterministic"):
        closing, model = await _written(ctx, input, targets)
        return Output(markdown=append(input.markdown, closing), mode="model", closing=closing, model=model)
    closing = plain_closing(targets, one_line(input.audience))
    if not closing:
        ctx.warn("There is no address to point to and no model to write a closing, so nothing was added.")
        return Output(markdown=input.markdown, mode="none", closing="", model=None)
    return Output(markdown=append(input.markdown, closing), mode="deterministic", closing=closing, model=None)


def _address(input: Input, name: str) -> str:
    value = one_line(getattr(input, name))
    return checked_address(value, field=name).href if value else ""


async def _written(ctx: PackContext, input: Input, targets: Sequence[Target]) -> tuple[str, str]:
    """A closing by a model and the model's name; addresses that were not given are taken out, missing ones added."""
    ctx.progress(0.2, "Writing the closing")
    post = input.markdown.strip()
    if len(post) > SHOWN_CHARS:
        post = f"{post[: SHOWN_CHARS // 2]}\n\n[…]\n\n{post[-SHOWN_CHARS // 2 :]}"
    wanted = asked(
        readers=input.audience, voice=input.persona, **{target.kind.replace("_", " "): target.url for target in targets}
    )
    prompt = "\n\n".join(filter(None, ("Write the closing of this post.", wanted, material("post", post))))
    answer = await ctx.models.structured(WRITER, Closing, prompt, instructions=_INSTRUCTIONS, model=input.model or None)
    heading = one_line(answer.value.heading).lstrip("# ")
    text, invented = only_known_links(unwrapped(answer.value.markdown), [target.url for target in targets])
    if invented:
        ctx.warn(f"The model used links that were not given: {listed(invented)}. They were removed from the closing.")
    if found := blanks(f"{heading}\n{text}", input.markdown):
        raise PackError(
            "invalid_output",
            f"The closing the model wrote has blanks to fill in: {listed(found)}.",
            hint="Run it again, give `cta_copy`, or set `mode` to `deterministic`.",
        )
    if missing := missing_targets(text, targets):
        text += f"\n\n{entries_of(missing)}"
    heading, _ = only_known_links(heading, ())
    ctx.progress(1.0, "Closing written")
    return f"## {heading}\n\n{text.strip()}", answer.model
