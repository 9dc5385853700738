"""A Ghost blog on loopback: its Admin API as docs.ghost.org has it, and the public pages of what is published.

Tokens are really verified, posts get the slugs and statuses Ghost gives them, and HTML is taken apart and put together
again as Ghost's editor does, so that what it does not know is lost here, too.
"""

from __future__ import annotations

import email
import email.policy
import json
import re
from datetime import UTC, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import jwt
import nh3

from tests.support.loopback_http import Reply
from tests.support.loopback_sites import html_reply, json_reply
from tests.support.scripted_http import Faults

if TYPE_CHECKING:
    from tests.support.loopback_http import LoopbackHttp, Request

KEY_ID = "6489c3d3a5b7f2001c2d3e4f"
SECRET = "5f0c1e2d3b4a59687786958493a2b1c0d9e8f7061524334251607f8e9dacbb1a"
ADMIN_API_KEY = f"{KEY_ID}:{SECRET}"
STAFF = ("ada@example.org", "owner@example.org")


class _RefusedError(Exception):
    def __init__(self, status: int, kind: str, message: str, **more: str) -> None:
        super().__init__(message)
        errors = [{"message": message, "context": None, "type": kind, "property": None, "code": None, **more}]
        self.reply = json_reply({"errors": errors}, status)


class GhostDouble:
    """The blog.

    Attributes:
        posts: By id, as the API shows them.
        images: Name and content of what was uploaded.
        now: The blog's clock.
        posts_limit: How many posts its plan allows.
        is_private: Whether readers need a password.
    """

    def __init__(self) -> None:
        self.faults = Faults()
        self.http: LoopbackHttp
        self.posts: dict[str, dict[str, Any]] = {}
        self.images: dict[str, bytes] = {}
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.posts_limit: int | None = None
        self.is_private = False

    def answer(self, request: Request) -> Reply:
        """What Ghost would say."""
        parts = urlsplit(request.path)
        try:
            if parts.path.startswith("/ghost/api/admin/"):
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self._verify(request)
                return self._admin(request, parts.path.removeprefix("/ghost/api/admin/"), query)
        except _RefusedError as refused:
            return refused.reply
        return self._page(parts.path)

    def _verify(self, request: Request) -> None:
        if not request.headers.get("accept-version", "").startswith("v"):
            raise _RefusedError(400, "BadRequestError", "Request not acceptable for unversioned client.")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme != "Ghost":
            raise _RefusedError(403, "NoPermissionError", "Authorization failed", context="Unable to determine user.")
        try:
            if jwt.get_unverified_header(token).get("kid") != KEY_ID:
                raise _RefusedError(401, "UnauthorizedError", "Unknown Admin API Key", code="UNKNOWN_ADMIN_API_KEY")
            options: Any = {"require": ["iat", "exp", "aud"]}
            claims = jwt.decode(
                token, bytes.fromhex(SECRET), algorithms=["HS256"], audience="/admin/", options=options, leeway=1
            )
        except jwt.InvalidTokenError as error:
            raise _RefusedError(401, "UnauthorizedError", f"Invalid token: {error}", code="INVALID_JWT") from None
        if claims["exp"] - claims["iat"] > 300:
            raise _RefusedError(401, "UnauthorizedError", "Invalid token: maxAge exceeded", code="INVALID_JWT")

    def _admin(self, request: Request, path: str, query: dict[str, str]) -> Reply:
        if request.method == "GET" and path == "posts/":
            return self._browse(query)
        if request.method == "GET" and (match := re.fullmatch(r"posts/([0-9a-f]{24})/", path)):
            post = self.posts.get(match[1])
            if post is None:
                raise _RefusedError(404, "NotFoundError", "Resource not found error, cannot read post.")
            return json_reply({"posts": [_shown(post, query)]})
        if request.method == "POST" and path == "posts/":
            return self._add(json.loads(request.body), query)
        if request.method == "POST" and path == "images/upload/":
            return self._upload(request)
        raise _RefusedError(404, "NotFoundError", "Resource not found")

    def _browse(self, query: dict[str, str]) -> Reply:
        found = list(self.posts.values())
        if wanted := query.get("filter"):
            match = re.fullmatch(r"(?:status:\[([a-z,]+)\]\+)?created_at:>'(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)'", wanted)
            if match is None:
                raise _RefusedError(400, "BadRequestError", "Error parsing filter")
            statuses = (match[1] or "published").split(",")
            found = [post for post in found if post["created_at"] > match[2].replace(" ", "T")]
            found = [post for post in found if post["status"] in statuses]
        field, _, direction = query.get("order", "created_at desc").partition(" ")
        found.sort(key=lambda post: (post[field], post["id"]), reverse=direction.lower() == "desc")
        size, page = min(100, int(query.get("limit", "15"))), int(query.get("page", "1"))
        pages = max(1, -(-len(found) // size))
        pagination = {"page": page, "limit": size, "pages": pages, "total": len(found), "prev": None}
        pagination["next"] = page + 1 if page < pages else None
        fields = query.get("fields", "uuid").split(",")
        if "uuid" not in fields and any(post["status"] != "published" for post in found):
            # The address of a draft is made of it, whether it is asked for or not.
            raise _RefusedError(500, "InternalServerError", "An unexpected error occurred, please try again.")
        shown = [_shown(post, query) for post in found[(page - 1) * size : page * size]]
        return json_reply({"posts": shown, "meta": {"pagination": pagination}})

    def _add(self, body: dict[str, Any], query: dict[str, str]) -> Reply:
        (given,) = body["posts"]
        for name, longest in (("title", 255), ("custom_excerpt", 300), ("slug", 191)):
            if len(given.get(name) or "") > longest:
                raise _RefusedError(
                    422,
                    "ValidationError",
                    "Validation error, cannot save post.",
                    context=f"Value in [posts.{name}] exceeds maximum length of {longest} characters.",
                    property=name,
                )
        if not given.get("title"):
            raise _RefusedError(422, "ValidationError", "Validation error", property="title")
        if self.posts_limit is not None and len(self.posts) >= self.posts_limit:
            raise _RefusedError(403, "HostLimitError", "Host Limit error, cannot save post.")
        self.add(given, given.get("html") if query.get("source") == "html" else None)
        return json_reply({"posts": [_shown(next(reversed(self.posts.values())), {})]}, 201)

    def add(self, given: dict[str, Any], html: str | None = None) -> dict[str, Any]:
        """A new post, as if somebody had written it."""
        self.now += timedelta(seconds=1)
        post_id = f"{len(self.posts) + 1:024x}"
        wanted = re.sub(r"[^a-z0-9]+", "-", given.get("slug") or given["title"].lower()).strip("-") or "untitled"
        taken = {post["slug"] for post in self.posts.values()}
        slug = next(s for s in (wanted, *(f"{wanted}-{n}" for n in range(2, 1000))) if s not in taken)
        status = given.get("status", "draft")
        emails = [author for author in given.get("authors", []) if author in STAFF] or ["owner@example.org"]
        at = self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        public = f"/{slug}/" if status == "published" else f"/p/00000000-0000-4000-8000-{post_id[-12:]}/"
        self.posts[post_id] = {
            **{name: given.get(name) for name in ("title", "custom_excerpt", "feature_image", "codeinjection_head")},
            "id": post_id,
            "uuid": f"00000000-0000-4000-8000-{post_id[-12:]}",
            "slug": slug,
            "status": status,
            "html": None if html is None else _through_the_editor(html),
            "tags": [{"name": tag["name"]} for tag in given.get("tags", [])],
            "authors": [{"email": address} for address in emails],
            "url": self.http.url(public),
            "created_at": at,
            "published_at": at if status == "published" else None,
        }
        return self.posts[post_id]

    def _upload(self, request: Request) -> Reply:
        head = f"content-type: {request.headers['content-type']}\r\n\r\n".encode()
        message = email.message_from_bytes(head + request.body, policy=email.policy.HTTP)
        parts = {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}
        file = parts.get("file")
        if file is None:
            raise _RefusedError(422, "ValidationError", "Please select an image.")
        name = file.get_filename() or ""
        if not re.search(r"\.(jpe?g|png|gif|svgz?|ico|webp)\Z", name) or not file.get_content_type().startswith(
            "image/"
        ):
            raise _RefusedError(415, "UnsupportedMediaTypeError", "Please select a valid image.")
        content = file.get_payload(decode=True)
        assert isinstance(content, bytes)
        self.images[name] = content
        reference = parts["ref"].get_payload(decode=True).decode() if "ref" in parts else None
        place = self.http.url(f"/content/images/2026/11/{name}")
        return json_reply({"images": [{"url": place, "ref": reference}]}, 201)

    def _page(self, path: str) -> Reply:
        if self.is_private:
            return Reply(b"", 302, {"location": "/private/"}) if path != "/private/" else html_reply("Password?")
        name = path.rpartition("/")[2]
        if name in self.images:
            return Reply(self.images[name], headers={"content-type": "image/png"})
        for post in self.posts.values():
            if post["status"] == "published" and path == f"/{post['slug']}/":
                return html_reply(_rendered(post))
        return Reply(b"<h1>404</h1>", 404, {"content-type": "text/html"})


def _shown(post: dict[str, Any], query: dict[str, str]) -> dict[str, Any]:
    """A post with the fields asked for; its text only when that is, as in Ghost."""
    shown = dict(post)
    if "html" not in query.get("formats", ""):
        shown.pop("html")
    if fields := query.get("fields"):
        shown = {name: value for name, value in shown.items() if name in fields.split(",")}
    return shown


def _through_the_editor(html: str) -> str:
    """Ghost keeps what its editor has cards for; wrappers are opened and unknown elements lose their tags."""
    known = {
        "a", "b", "blockquote", "br", "code", "del", "em", "figure", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6",
        "hr", "i", "img", "li", "ol", "p", "pre", "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead",
        "tr", "u", "ul",
    }  # fmt: skip
    return nh3.clean(html, tags=known, link_rel=None)


def _rendered(post: dict[str, Any]) -> str:
    """The page a theme would make: the look of Ghost's default theme, in small."""
    picture = f'<img class="feature" src="{escape(post["feature_image"])}" alt="">' if post["feature_image"] else ""
    tags = "".join(f'<span class="tag">{escape(tag["name"])}</span>' for tag in post["tags"])
    lead = f'<p class="lead">{escape(post["custom_excerpt"])}</p>' if post["custom_excerpt"] else ""
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(post['title'])}</title>"
        f"{post['codeinjection_head'] or ''}<style>body{{max-width:720px;margin:3rem auto;padding:0 1rem;"
        "font:19px/1.6 Georgia,serif;color:#15171a}h1{font:800 44px/1.15 sans-serif}h2,h3{font-family:sans-serif}"
        ".tag{font:600 14px sans-serif;color:#ff1a75;margin-right:1em}.lead{font-size:22px;color:#738a94}"
        "img{max-width:100%}blockquote{border-left:3px solid #ff1a75;margin:0;padding-left:1.2em}"
        "pre{background:#15171a;color:#fff;padding:1em;overflow:auto;font-size:15px}table{border-collapse:collapse}"
        "td,th{border-bottom:1px solid #ccc;padding:.4em .8em}</style></head><body><article>"
        f"{tags}<h1>{escape(post['title'])}</h1>{lead}{picture}{post['html']}</article></body></html>"
    )
