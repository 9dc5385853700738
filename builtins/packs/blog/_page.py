"""A post as a page: cleaned of active content, with its own style sheet."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from typing import TYPE_CHECKING

from ._front_matter import title_key

if TYPE_CHECKING:
    from ._input import Post

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


def visible_text(markup: str) -> str:
    """What a reader of the markup sees."""
    import nh3

    dropped = {"script", "style", "template", "noscript"}
    return html.unescape(nh3.clean(re.sub(r"<[^>]+>", r" \g<0>", markup), tags=set(), clean_content_tags=dropped))


def clean_html(body: str, title: str) -> tuple[str, list[str]]:
    """Markup without active elements and without a heading that repeats the title, and the names of what went."""
    import nh3

    clean = nh3.clean(
        body,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        clean_content_tags={"script", "style", "template", "noscript", "title", "head"},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    heading = re.match(r"\s*<h1[^>]*>(.*?)</h1>", clean, re.DOTALL)
    if heading and title_key(html.unescape(re.sub(r"<[^>]+>", "", heading[1]))) == title_key(title):
        clean = clean[heading.end() :]
    return clean.strip(), _removed_elements(body)


def html_page(post: Post, title: str) -> tuple[str, list[str]]:
    """A standalone page and the names of the active elements that were taken out of the body."""
    clean, removed = clean_html(post.body, title)
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src https: http: data:; base-uri 'none'; "
        "form-action 'none'"
    )
    meta = [f'<meta name="author" content="{html.escape(post.author)}">'] if post.author else []
    if post.excerpt:
        meta.append(f'<meta name="description" content="{html.escape(post.excerpt)}">')
    if post.tags:
        meta.append(f'<meta name="keywords" content="{html.escape(", ".join(post.tags))}">')
    lead = f'<p class="lead">{html.escape(post.excerpt)}</p>' if post.excerpt else ""
    byline = [html.escape(post.author)] if post.author else []
    byline.extend(f'<span class="tag">{html.escape(tag)}</span>' for tag in post.tags)
    line = f'<p class="meta">{" ".join(byline)}</p>' if byline else ""
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
        f"<title>{html.escape(title)}</title>{''.join(meta)}<style>{_STYLE}</style></head>\n"
        f"<body><article><h1>{html.escape(title)}</h1>{lead}{line}\n{clean}\n</article></body></html>\n"
    )
    return page, removed


def _removed_elements(markup: str) -> list[str]:
    """Names of active elements and handlers in the markup, for the warning; cleaning itself does not rely on this."""
    names = ("script", "style", "iframe", "form", "object", "embed", "svg", "video", "audio", "input", "button", "link")
    found = [f"<{name}>" for name in names if re.search(rf"<{name}\b", markup, re.IGNORECASE)]
    if re.search(r"<[^>]+\son\w+\s*=", markup, re.IGNORECASE):
        found.append("event handlers")
    return found
