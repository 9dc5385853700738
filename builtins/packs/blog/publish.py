"""`blog.publish`: a post in, a finished file or a post on a Ghost blog out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import ArtifactRef, Metadata, PackContext, PackError, PostCondition, pack

from .._writing import count_words
from ._front_matter import markdown_post
from ._ghost import GHOST
from ._input import Post
from ._page import html_page, visible_text
from ._to_ghost import send
from ._words import make_slug, refuse_placeholder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packline import ArtifactFile


class Input(Post):
    """The post and where it goes."""

    target: Literal["artifact", "ghost"] = Field(
        default="artifact", description="Where to publish: a file to download, or a Ghost blog and a file of it."
    )
    status: Literal["draft", "published"] = Field(
        default="draft", description="On Ghost: a draft that people look over, or public at once. A file has neither."
    )
    feature_image: str | None = Field(
        default=None,
        max_length=100,
        description="On Ghost: id of a picture to show above the post, `art_…`. A file has none.",
    )


class Output(BaseModel):
    """The published post."""

    artifact: ArtifactRef = Field(description="The post as a file.")
    target: Literal["artifact", "ghost"] = Field(description="Where it went.")
    status: Literal["saved", "draft", "published", "scheduled", "sent"] = Field(
        description="`saved` as a file; otherwise its state on Ghost."
    )
    url: str | None = Field(description="Public address, of a draft that of its preview; null for a file.")
    post_id: str | None = Field(description="Ghost's id of the post; null for a file.")
    slug: str = Field(description="The title in the form used in addresses.")
    word_count: int = Field(ge=1, description="Words in the body; East Asian characters count one each.")
    created: bool = Field(description="False when an earlier attempt of this step had posted it.")


def _is_whole(output: Output, files: Sequence[ArtifactFile]) -> str | None:
    file = next((file for file in files if file.ref.artifact_id == output.artifact.artifact_id), None)
    if file is None:
        return "no file was saved"
    with file.path.open("rb") as opened:
        start = opened.read(16)
    return None if start.startswith((b"---\n", b"<!doctype html>")) else "the file is neither a post nor a page"


def _is_on_ghost(output: Output, _files: Sequence[ArtifactFile]) -> str | None:
    if output.target == "artifact":
        return None
    has_address = output.url is not None and output.url.startswith(("https://", "http://"))
    return None if output.post_id and has_address else "Ghost gave the post no id or no address"


@pack(
    "blog.publish",
    version="1.1.0",
    # For the target `ghost`; a file alone changes nothing outside.
    effects="external",
    repeatable=True,
    takes_idempotency_key=True,
    timeout_seconds=240,
    credentials=[GHOST],
    post_conditions=[
        PostCondition("the post was saved as a whole file", _is_whole),
        PostCondition("a post on Ghost was read back and has an address", _is_on_ghost),
    ],
    metadata=Metadata(
        accepts=["blog_markdown", "markdown", "grounded_markdown", "html"],
        produces=["blog_post", "markdown", "html", "url"],
        intent_keywords=[
            "publish post",
            "save blog post",
            "blog file",
            "front matter",
            "post to file",
            "hugo post",
            "export article",
            "html page from post",
            "ghost blog",
            "ghost draft",
            "post online",
        ],
        example_intents=[
            "Publish this as a blog post",
            "Put the article on our Ghost blog as a draft",
            "Save the article with front matter so I can drop it into Hugo",
            "make a post file out of this text, tags: lighthouses, optics",
            "Post it to Ghost now, with the picture from the last run on top",
            "I'm done editing, ship it as Markdown",
            "Give me the finished post as a standalone HTML page",
            "Put title, author and excerpt on top and save it",
            "Export the draft for our Jekyll site",
            "Can I get this blog article as one file?",
        ],
        typical_use="Use this when a post is written and should become a finished file, or a draft or public post on a "
        "Ghost blog.",
        limitations=[
            "Posts to Ghost, which needs the credential `ghost`; for other sites it saves a file.",
            "Does not change a post that is there, send newsletters, or publish at a later time.",
            "Does not write or rewrite text.",
            "HTML is cleaned: scripts, styles, forms and embedded frames are removed, which a warning says.",
            "Pictures in the text stay links to where they are; only the one above the post is sent to Ghost.",
        ],
    ),
)
async def publish(ctx: PackContext, input: Input) -> Output:
    """Turns a finished post into a file, and on request into a post on a Ghost blog.

    The file is Markdown with YAML front matter, or a standalone HTML page that is cleaned of scripts and other active
    content, carries its own style and loads nothing but the post's pictures. On Ghost the post becomes a draft unless
    `status` says `published`; it is read back before the step counts as done. A step that runs again finds the post it
    made and makes no second one.

    Titles that are still a template's blank, such as `{{TITLE}}` or `Your title here`, are refused.
    """
    title = " ".join(input.title.split())
    refuse_placeholder(title)
    words = count_words(visible_text(input.body) if input.format == "html" else input.body)
    if not words:
        raise PackError(
            "invalid_input",
            "`body` holds no words, so there is nothing to publish.",
            field="body",
            hint="Give the text of the post.",
        )
    ctx.progress(0.1, f"Preparing {words:,} words")
    slug = make_slug(title)
    if input.format == "markdown":
        name, content, media_type = f"{slug}.md", markdown_post(input, title, slug), "text/markdown; charset=utf-8"
    else:
        page, removed = html_page(input, title)
        if removed:
            ctx.warn(f"Removed from the post because a page must not carry it: {', '.join(removed)}.")
        name, content, media_type = f"{slug}.html", page, "text/html; charset=utf-8"
    artifact = await ctx.save_artifact(name, content.encode(), media_type)
    if input.target == "artifact":
        if input.status == "published" or input.feature_image:
            ctx.warn("`status` and `feature_image` are for Ghost; the post was saved as a file.")
        ctx.progress(1.0, f"Saved {name}")
        return Output(
            artifact=artifact,
            target="artifact",
            status="saved",
            url=None,
            post_id=None,
            slug=slug,
            word_count=words,
            created=True,
        )
    post, is_new = await send(
        ctx, input, title=title, slug=slug, status=input.status, feature_image=input.feature_image
    )
    ctx.progress(1.0, f"{post.status.capitalize()}: {post.url}")
    return Output(
        artifact=artifact,
        target="ghost",
        status=post.status,
        url=post.url,
        post_id=post.id,
        slug=post.slug,
        word_count=words,
        created=is_new,
    )
