"""A post on its way to a Ghost blog: its text as HTML, its picture, once however often the step runs."""

from __future__ import annotations

import asyncio
import html
from typing import TYPE_CHECKING, Any, Literal

from packline import PackContext, PackError, excerpt

from .._writing import count_words
from ._front_matter import markdown_body
from ._ghost import Ghost, GhostPost, open_ghost
from ._page import clean_html, visible_text

if TYPE_CHECKING:
    from packline import ArtifactFile

    from ._input import Post

#: What Ghost's columns hold.
TITLE_CHARS = 255
EXCERPT_CHARS = 300
IMAGE_BYTES = 5 * 1024 * 1024
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"GIF87a", "image/gif", "gif"),
    (b"GIF89a", "image/gif", "gif"),
)
#: Less than this share of the words coming back means that Ghost dropped part of the text.
_KEPT_WORDS = 0.9


async def send(
    ctx: PackContext,
    post: Post,
    *,
    title: str,
    slug: str,
    status: Literal["draft", "published"],
    feature_image: str | None,
) -> tuple[GhostPost, bool]:
    """The post on the blog, read back, and whether it was made just now.

    Raises:
        PackError: as Ghost answered; `invalid_input` for what Ghost cannot hold.
    """
    if len(title) > TITLE_CHARS:
        raise PackError(
            "invalid_input",
            f"`title` has {len(title)} characters, and Ghost holds {TITLE_CHARS}.",
            field="title",
            hint="Shorten it.",
        )
    ghost = await open_ghost(ctx)
    picture = await _open_picture(ctx, feature_image) if feature_image else None
    markup = as_html(post, title)
    ctx.progress(0.3, f"Looking whether {ghost.host} has this post already")
    found = await ghost.find_own()
    is_new = found is None
    if found is None:
        fields = _fields(ctx, ghost, post, title=title, slug=slug, status=status, markup=markup)
        if picture is not None:
            ctx.progress(0.5, "Sending the picture")
            fields["feature_image"] = await ghost.upload_image(*picture)
        ctx.progress(0.7, f"Sending the post to {ghost.host}")
        found = (await ghost.create(fields)).id
    else:
        ctx.warn(f"An earlier attempt of this step had sent this post to {ghost.host}; it was kept as it is.")
    ctx.progress(0.9, "Reading it back")
    stored = await ghost.read_back(found)
    _compare(ctx, ghost, post, stored, markup)
    if is_new and stored.status != status:
        ctx.warn(f"The post is {stored.status} on {ghost.host}, not {status}.")
    if stored.status == "published":
        await _visit(ctx, stored.url)
    return stored, is_new


def as_html(post: Post, title: str) -> str:
    """The text as HTML that is safe to show, with a line about its author when that is a name."""
    if post.format == "html":
        markup, _ = clean_html(post.body, title)
    else:
        from markdown_it import MarkdownIt

        # Raw HTML in Markdown stays text: cleaned away, a `<T>` in prose would be lost without a trace.
        parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        markup, _ = clean_html(parser.render(markdown_body(post.body, title)), title)
    author = (post.author or "").strip()
    return f"<p><em>By {html.escape(author)}</em></p>\n{markup}" if author and "@" not in author else markup


def _fields(
    ctx: PackContext, ghost: Ghost, post: Post, *, title: str, slug: str, status: str, markup: str
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "title": title,
        "slug": slug,
        "html": markup,
        "status": status,
        "tags": [{"name": tag} for tag in post.tags],
        "codeinjection_head": ghost.mark,
    }
    summary = " ".join((post.excerpt or "").split())
    if len(summary) > EXCERPT_CHARS:
        summary = excerpt(summary, EXCERPT_CHARS - 1, ending="").rpartition(" ")[0] + "…"
        ctx.warn(f"The excerpt was cut to the {EXCERPT_CHARS} characters Ghost holds.")
    if summary:
        fields["custom_excerpt"] = summary
    if "@" in (post.author or ""):
        fields["authors"] = [(post.author or "").strip()]
    return fields


def _compare(ctx: PackContext, ghost: Ghost, post: Post, stored: GhostPost, sent: str) -> None:
    """Warns of what did not arrive."""
    sent_words, stored_words = count_words(visible_text(sent)), count_words(visible_text(stored.html or ""))
    if stored_words == 0:
        raise PackError(
            "invalid_output",
            f"{ghost.host} took the post, but holds no text of it.",
            hint=f"Look at it in Ghost; its id is {stored.id}.",
        )
    if stored_words < sent_words * _KEPT_WORDS:
        ctx.warn(f"{ghost.host} kept {stored_words:,} of {sent_words:,} words of the post; look at it in Ghost.")
    author = (post.author or "").strip().lower()
    if "@" in author and author not in {(entry.email or "").lower() for entry in stored.authors}:
        ctx.warn(f"{ghost.host} has no staff member with the address given as author; it chose another author.")


async def _visit(ctx: PackContext, url: str) -> None:
    """Warns when readers cannot get at the published post, which is none of Ghost's refusals."""
    try:
        async with ctx.http.stream("GET", url, extensions={"total_seconds": 15.0}) as response:
            status = response.status_code
    except PackError as error:
        ctx.warn(f"The post is published, but {url} could not be opened: {error.failure.message}")
        return
    if status != 200:
        ctx.warn(f"The post is published, but {url} answered HTTP {status}; the site may be private.")


async def _open_picture(ctx: PackContext, artifact_id: str) -> tuple[str, bytes, str]:
    file = await ctx.open_artifact(artifact_id)
    if file.ref.size_bytes > IMAGE_BYTES:
        raise PackError(
            "invalid_input",
            f"The picture {file.ref.name} has {file.ref.size_bytes:,} bytes; at most {IMAGE_BYTES:,} are sent.",
            field="feature_image",
            hint="Give a smaller one.",
        )
    content = await asyncio.to_thread(file.path.read_bytes)
    media_type, ending = _kind_of(content, file)
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in file.ref.name.rpartition(".")[0])
    return f"{stem.strip('-')[:80] or 'picture'}.{ending}", content, media_type


def _kind_of(content: bytes, file: ArtifactFile) -> tuple[str, str]:
    """The picture format by the first bytes, not by the name."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp", "webp"
    for start, media_type, ending in _IMAGES:
        if content.startswith(start):
            return media_type, ending
    raise PackError(
        "invalid_input",
        f"{file.ref.name} is not a picture that blogs show.",
        field="feature_image",
        hint="Give a PNG, JPEG, GIF or WebP.",
    )
