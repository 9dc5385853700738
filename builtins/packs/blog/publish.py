"""`blog.publish`: a post in, a finished file out."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field, field_validator

from packline import ArtifactRef, Metadata, PackContext, PackError, PostCondition, pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packline import ArtifactFile

#: A title that is nothing but a template's blank, in the notations people use.
_PLACEHOLDER = re.compile(
    r"\s*(?:\{\{[^{}]*\}\}|\$\{\{?[^{}]*\}\}?|<[A-Z_ -]+>"
    r"|\[(?:[A-Z][A-Z_ -]*|(?:your |insert |post |blog )*title(?: here)?)\]"
    r"|(?:your|insert|enter|add|the|my)(?: \w+)? title(?: here)?|title(?: goes)? here|untitled(?: post)?|title"
    r"|tbd|todo|fixme|xxx+|lorem ipsum.*|n/?a|null|none|undefined|test title)\s*[.!\u2026]*\s*",
    re.IGNORECASE,
)
_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p",
    "pre", "q", "s", "section", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot",
    "th", "thead", "time", "tr", "u", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"id", "lang", "dir"},
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan", "scope"},
    "time": {"datetime"},
}
_STYLE = """
:root{color-scheme:light dark;--fg:#1c2330;--dim:#5c6675;--bg:#fff;--rule:#e3e7ee;--accent:#4338ca;--soft:#f5f7fa}
@media (prefers-color-scheme:dark){:root{--fg:#e6ebf3;--dim:#98a4b8;--bg:#10151f;--rule:#2a3344;--accent:#a5b4fc;\
--soft:#182030}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:18px/1.65 Inter,ui-sans-serif,system-ui,-apple-system,\
"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
article{max-width:44rem;margin:0 auto;padding:4rem 1.25rem 6rem;overflow-wrap:break-word}
h1,h2,h3,h4{line-height:1.2;letter-spacing:-.012em;text-wrap:balance}
h1{font-size:clamp(2rem,6vw,2.9rem);margin:0 0 .6rem}h2{margin:2.6rem 0 .8rem}h3{margin:2rem 0 .6rem}
.lead{font-size:1.2rem;color:var(--dim);margin:0 0 1rem}
.meta{color:var(--dim);font-size:.9rem;border-bottom:1px solid var(--rule);padding-bottom:1.4rem;margin-bottom:2rem}
.tag{display:inline-block;background:var(--soft);border-radius:99px;padding:.1rem .7rem;margin:.2rem .3rem 0 0}
a{color:var(--accent);text-underline-offset:.18em}img{max-width:100%;height:auto;border-radius:8px}
pre{background:var(--soft);border:1px solid var(--rule);border-radius:8px;padding:1rem 1.2rem;overflow-x:auto}
code{font:.88em ui-monospace,"Cascadia Code",Consolas,Menlo,monospace}
:not(pre)>code{background:var(--soft);border-radius:4px;padding:.1em .35em}
blockquote{margin:1.5rem 0;padding:.1rem 0 .1rem 1.2rem;border-left:4px solid var(--accent);color:var(--dim)}
table{border-collapse:collapse;width:100%;font-size:.92rem;display:block;overflow-x:auto}
th,td{padding:.5rem .75rem;border-bottom:1px solid var(--rule);text-align:left}th{background:var(--soft)}
hr{border:0;border-top:1px solid var(--rule);margin:2.5rem 0}
""".strip()
_WORD = re.compile(r"[\w'\u2019-]*\w", re.UNICODE)
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class Input(BaseModel):
    """The post and where it goes."""

    format: Literal["markdown", "html"] = Field(
        default="markdown",
        description="What `body` is written in; the file has the same format: Markdown with front matter, or a page.",
    )
    title: str = Field(min_length=1, max_length=300, description="Title of the post.")
    body: str = Field(max_length=800_000, description="Text of the post, in `format`.")
    author: str | None = Field(default=None, max_length=200, description="Who wrote it.")
    tags: list[str] = Field(default_factory=list, max_length=20, description="Subjects, at most 20.")
    excerpt: str | None = Field(default=None, max_length=600, description="A sentence or two for lists and previews.")
    target: Literal["artifact"] = Field(default="artifact", description="Where to publish: a file to download.")

    @field_validator("tags")
    @classmethod
    def _short_tags(cls, tags: list[str]) -> list[str]:
        clean = list(dict.fromkeys(" ".join(tag.split()) for tag in tags if tag.strip()))
        if too_long := next((tag for tag in clean if len(tag) > 60), None):
            raise ValueError(f"Tag `{too_long[:60]}…` is longer than 60 characters.")
        return clean


class Output(BaseModel):
    """The published post."""

    artifact: ArtifactRef = Field(description="The post as a file.")
    target: Literal["artifact"] = Field(description="Where it went.")
    url: str | None = Field(description="Public address; null for a file.")
    slug: str = Field(description="The title as it would stand in an address.")
    word_count: int = Field(ge=1, description="Words in the body; East Asian characters count one each.")


def _is_whole(output: Output, files: Sequence[ArtifactFile]) -> str | None:
    file = next((file for file in files if file.ref.artifact_id == output.artifact.artifact_id), None)
    if file is None:
        return "no file was saved"
    with file.path.open("rb") as opened:
        start = opened.read(16)
    return None if start.startswith((b"---\n", b"<!doctype html>")) else "the file is neither a post nor a page"


@pack(
    "blog.publish",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=60,
    post_conditions=[PostCondition("the post was saved as a whole file", _is_whole)],
    metadata=Metadata(
        accepts=["blog_markdown", "markdown", "grounded_markdown", "html"],
        produces=["blog_post", "markdown", "html"],
        intent_keywords=[
            "publish post",
            "save blog post",
            "blog file",
            "front matter",
            "post to file",
            "hugo post",
            "export article",
            "html page from post",
        ],
        example_intents=[
            "Publish this as a blog post",
            "Save the article with front matter so I can drop it into Hugo",
            "make a post file out of this text, tags: lighthouses, optics",
            "I'm done editing, ship it as Markdown",
            "Give me the finished post as a standalone HTML page",
            "Put title, author and excerpt on top and save it",
            "Export the draft for our Jekyll site",
            "Can I get this blog article as one file?",
        ],
        typical_use="Use this when a post is written and should become a finished file with title, author and tags.",
        limitations=[
            "Saves a file to download; does not post to Ghost, WordPress or any other site yet.",
            "Does not write or rewrite text.",
            "HTML is cleaned: scripts, styles, forms and embedded frames are removed, which a warning says.",
            "Pictures stay links to where they are; they are not stored with the post.",
        ],
    ),
)
async def publish(ctx: PackContext, input: Input) -> Output:
    """Turns a finished post into a file: Markdown with YAML front matter, or a standalone HTML page.

    The page is cleaned of scripts and other active content, carries its own style and loads nothing but the post's
    pictures. Titles that are still a template's blank, such as `{{TITLE}}` or `Your title here`, are refused.
    """
    title = " ".join(input.title.split())
    _refuse_placeholder(title)
    words = count_words(_visible_text(input.body) if input.format == "html" else input.body)
    if not words:
        raise PackError(
            "invalid_input",
            "`body` holds no words, so there is nothing to publish.",
            field="body",
            hint="Give the text of the post.",
        )
    ctx.progress(0.2, f"Preparing {words:,} words")
    slug = make_slug(title)
    if input.format == "markdown":
        name, content, media_type = f"{slug}.md", _markdown_post(input, title, slug), "text/markdown; charset=utf-8"
    else:
        page, removed = _html_page(input, title)
        if removed:
            ctx.warn(f"Removed from the post because a page must not carry it: {', '.join(removed)}.")
        name, content, media_type = f"{slug}.html", page, "text/html; charset=utf-8"
    artifact = await ctx.save_artifact(name, content.encode(), media_type)
    ctx.progress(1.0, f"Saved {name}")
    return Output(artifact=artifact, target=input.target, url=None, slug=slug, word_count=words)


def _refuse_placeholder(title: str) -> None:
    if not title:
        raise PackError("invalid_input", "`title` is blank.", field="title", hint="Give the post a title.")
    if _PLACEHOLDER.fullmatch(title):
        raise PackError(
            "invalid_input",
            f"`title` is \u201c{title[:80]}\u201d, which looks like a blank that was never filled in.",
            field="title",
            hint="Give the post's own title; if it is meant to be called that, add a word to it.",
        )


def make_slug(title: str) -> str:
    """The title in lower-case letters, digits and dashes, at most 80 characters; accents are folded where they can."""
    folded = unicodedata.normalize("NFKD", title.replace("\u00df", "ss").replace("\u00f8", "o"))
    latin = "".join(character for character in folded if not unicodedata.combining(character))
    text = unicodedata.normalize("NFC", latin).lower().replace("'", "").replace("\u2019", "")
    slug = re.sub(r"[\W_]+", "-", text).strip("-")
    if len(slug) > 80:
        slug = slug[:80].rsplit("-", 1)[0] if "-" in slug[:80] else slug[:80]
    return slug or "post"


def count_words(text: str) -> int:
    """Words of a text; East Asian characters, written without spaces, count one each."""
    characters = len(_EAST_ASIAN.findall(text))
    return characters + len(_WORD.findall(_EAST_ASIAN.sub(" ", text)))


def _markdown_post(input: Input, title: str, slug: str) -> str:
    """Front matter and body. Values are written as JSON strings, which YAML 1.2 reads as they are."""

    def quoted(value: str) -> str:
        return json.dumps(" ".join(value.split()), ensure_ascii=False)

    lines = [f"title: {quoted(title)}", f"slug: {quoted(slug)}"]
    if input.author and input.author.strip():
        lines.append(f"author: {quoted(input.author)}")
    if input.excerpt and input.excerpt.strip():
        lines.append(f"excerpt: {quoted(input.excerpt)}")
    if input.tags:
        lines.append("tags:")
        lines.extend(f"  - {quoted(tag)}" for tag in input.tags)
    body = _without_own_title(_without_front_matter(input.body), title)
    return "---\n" + "\n".join(lines) + "\n---\n\n" + body.strip("\n") + "\n"


def _without_front_matter(body: str) -> str:
    """The body without front matter of its own, which would end up as text."""
    text = body.replace("\r\n", "\n").removeprefix("\ufeff")
    match = re.match(r"\s*---[ \t]*\n((?:[A-Za-z_][\w-]*[ \t]*:.*\n|[ \t]+.*\n|-[ \t].*\n)+)---[ \t]*(?:\n|\Z)", text)
    return text[match.end() :] if match else text


def _without_own_title(body: str, title: str) -> str:
    """The body without a first heading that only repeats the title, which sites set themselves."""
    match = re.match(r"\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\n|\Z)", body)
    if match and _key(match[1]) == _key(title):
        return body[match.end() :]
    return body


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()


def _visible_text(markup: str) -> str:
    import nh3

    dropped = {"script", "style", "template", "noscript"}
    return html.unescape(nh3.clean(re.sub(r"<[^>]+>", r" \g<0>", markup), tags=set(), clean_content_tags=dropped))


def _html_page(input: Input, title: str) -> tuple[str, list[str]]:
    """A standalone page and the names of the active elements that were taken out of the body."""
    import nh3

    clean = nh3.clean(
        input.body,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        clean_content_tags={"script", "style", "template", "noscript", "title", "head"},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    heading = re.match(r"\s*<h1[^>]*>(.*?)</h1>", clean, re.DOTALL)
    if heading and _key(html.unescape(re.sub(r"<[^>]+>", "", heading[1]))) == _key(title):
        clean = clean[heading.end() :]
    removed = _removed_elements(input.body)
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src https: http: data:; base-uri 'none'; "
        "form-action 'none'"
    )
    meta = [f'<meta name="author" content="{html.escape(input.author)}">'] if input.author else []
    if input.excerpt:
        meta.append(f'<meta name="description" content="{html.escape(input.excerpt)}">')
    if input.tags:
        meta.append(f'<meta name="keywords" content="{html.escape(", ".join(input.tags))}">')
    lead = f'<p class="lead">{html.escape(input.excerpt)}</p>' if input.excerpt else ""
    byline = [html.escape(input.author)] if input.author else []
    byline.extend(f'<span class="tag">{html.escape(tag)}</span>' for tag in input.tags)
    line = f'<p class="meta">{" ".join(byline)}</p>' if byline else ""
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
        f"<title>{html.escape(title)}</title>{''.join(meta)}<style>{_STYLE}</style></head>\n"
        f"<body><article><h1>{html.escape(title)}</h1>{lead}{line}\n{clean.strip()}\n</article></body></html>\n"
    )
    return page, removed


def _removed_elements(markup: str) -> list[str]:
    """Names of active elements and handlers in the markup, for the warning; cleaning itself does not rely on this."""
    names = ("script", "style", "iframe", "form", "object", "embed", "svg", "video", "audio", "input", "button", "link")
    found = [f"<{name}>" for name in names if re.search(rf"<{name}\b", markup, re.IGNORECASE)]
    if re.search(r"<[^>]+\son\w+\s*=", markup, re.IGNORECASE):
        found.append("event handlers")
    return found
