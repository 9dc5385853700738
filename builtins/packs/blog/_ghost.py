"""Ghost's Admin API (docs.ghost.org/admin-api): signed requests, posts, pictures, and what its refusals mean."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError

from packline import (
    CredentialNeed,
    PackContext,
    PackError,
    WebAddressError,
    excerpt,
    raise_for_status,
    read_web_address,
)

from .._http import USER_AGENT
from .._marks import mark_of, not_before

if TYPE_CHECKING:
    import httpx2

GHOST = CredentialNeed("ghost", "ghost", required=False)

#: The response shapes this is written for; Ghost answers in them as long as it can.
API_VERSION = "v5.0"
#: Ghost refuses tokens that are good for longer.
TOKEN_SECONDS = 300
TIMEOUT_SECONDS = 45.0
MAX_BYTES = 10 * 1024 * 1024
PAGE_SIZE = 50
MAX_PAGES = 10
_KEY = re.compile(r"([0-9a-f]{24}):([0-9a-f]{64})\Z")
#: Ghost's names of fields to ours.
_FIELDS = {"title": "title", "slug": "title", "custom_excerpt": "excerpt", "html": "body", "tags": "tags"}
#: Ghost makes the addresses of drafts whether asked for or not, and stumbles without `uuid` and `status`.
_HEAD_FIELDS = "id,uuid,status,created_at,codeinjection_head"
_Model = TypeVar("_Model", bound=BaseModel)
_OURS: dict[str, Any] = {"credential": GHOST.key}


class Author(BaseModel):
    """A staff member as Ghost sends it."""

    email: str | None = None


class GhostPost(BaseModel):
    """A post as Ghost sends it."""

    id: str
    slug: str
    url: str
    status: Literal["draft", "published", "scheduled", "sent"]
    title: str
    html: str | None = None
    authors: list[Author] = []


class _Head(BaseModel):
    id: str
    codeinjection_head: str | None = None


class _Pagination(BaseModel):
    next: int | None = None


class _Meta(BaseModel):
    pagination: _Pagination = _Pagination()


class _Heads(BaseModel):
    posts: list[_Head]
    meta: _Meta = _Meta()


class _Posts(BaseModel):
    posts: list[GhostPost]


class _Image(BaseModel):
    url: str


class _Images(BaseModel):
    images: list[_Image]


@dataclass(frozen=True, slots=True)
class Ghost:
    """One blog.

    Attributes:
        ctx: The step.
        url: Address of the blog, without a slash at the end.
        key_id: First half of the Admin API key.
        secret: Second half.
    """

    ctx: PackContext
    url: str
    key_id: str
    secret: bytes = field(repr=False)

    @property
    def host(self) -> str:
        """For messages."""
        return read_web_address(self.url).host

    @property
    def mark(self) -> str:
        """What a post of this step carries in its head; readers do not see it."""
        return f'<meta name="packline" content="{mark_of(self.ctx)}">'

    async def find_own(self) -> str | None:
        """Id of the post an earlier attempt of this step made, drafts included.

        Raises:
            PackError: `outcome_unknown` when this is a repeat and there are more posts since than are looked through.
        """
        digest = mark_of(self.ctx)
        since = not_before(self.ctx).strftime("%Y-%m-%d %H:%M:%S")
        page: int | None = 1
        for _ in range(MAX_PAGES):
            if page is None:
                return None
            query = {
                "filter": f"status:[draft,published,scheduled,sent]+created_at:>'{since}'",
                "order": "created_at asc",
                "fields": _HEAD_FIELDS,
                "limit": str(PAGE_SIZE),
                "page": str(page),
            }
            listed = self._read(_Heads, await self._send("GET", f"posts/?{urlencode(query)}"))
            for post in listed.posts:
                if digest in (post.codeinjection_head or ""):
                    return post.id
            page = listed.meta.pagination.next
        if page is not None and self.ctx.attempt_number > 1:
            raise PackError(
                "outcome_unknown",
                f"An earlier attempt may have posted to {self.host}, and {MAX_PAGES * PAGE_SIZE} posts have come "
                "since, more than are looked through.",
                hint="Look in Ghost; if the post is not there, start a new run.",
            )
        return None

    async def create(self, post: dict[str, Any]) -> GhostPost:
        """Makes a post out of Ghost's own fields, `html` among them."""
        response = await self._send("POST", "posts/?source=html", json={"posts": [post]})
        return self._only(response)

    async def read_back(self, post_id: str) -> GhostPost:
        """The post as it is stored now, with its text and authors."""
        query = urlencode({"formats": "html", "include": "authors"})
        return self._only(await self._send("GET", f"posts/{post_id}/?{query}"))

    async def upload_image(self, name: str, content: bytes, media_type: str) -> str:
        """Stores a picture on the blog; returns its address."""
        response = await self._send(
            "POST",
            "images/upload/",
            files={"file": (name, content, media_type)},
            data={"purpose": "image", "ref": name},
        )
        images = self._read(_Images, response).images
        if len(images) != 1:
            raise self._strange("one picture was expected")
        return images[0].url

    def _only(self, response: httpx2.Response) -> GhostPost:
        posts = self._read(_Posts, response).posts
        if len(posts) != 1 or not re.fullmatch(r"[0-9a-f]{24}", posts[0].id):
            raise self._strange("one post was expected")
        return posts[0]

    def _read(self, model: type[_Model], response: httpx2.Response) -> _Model:
        try:
            return model.model_validate_json(response.content)
        except ValidationError as error:
            raise self._strange("the answer is not what its documentation says") from error

    def _strange(self, why: str) -> PackError:
        return PackError(
            "upstream_unavailable",
            f"`{self.host}` did not answer as Ghost does: {why}.",
            hint="If this lasts, check the field `url` of the credential `ghost`: it is the address of the blog.",
        )

    async def _send(self, method: str, path: str, **content: Any) -> httpx2.Response:  # noqa: ANN401 - passed on
        response = await self.ctx.http.request(
            method,
            f"{self.url}/ghost/api/admin/{path}",
            headers={
                "Authorization": f"Ghost {self._token()}",
                "Accept-Version": API_VERSION,
                "Accept": "application/json",
                "User-Agent": USER_AGENT,
            },
            follow_redirects=False,  # the token is for this blog, and a redirected POST would become a GET
            extensions={"max_bytes": MAX_BYTES, "total_seconds": TIMEOUT_SECONDS},
            **content,
        )
        if response.is_redirect:
            raise PackError(
                "credential_invalid",
                f"`{self.host}` sends its visitors on to `{self._redirected(response)}`.",
                hint="Store that address as `url` of the credential `ghost`.",
                detail=_OURS,
            )
        if response.is_error:
            raise self._failure(response)
        return response

    def _redirected(self, response: httpx2.Response) -> str:
        """Where the blog is now, for a reader: scheme and host, or as it was sent when it is no address."""
        location = response.headers.get("location", "")
        try:
            return read_web_address(location, base=self.url).origin
        except WebAddressError as error:
            return error.shown

    def _token(self) -> str:
        """A token for the next five minutes; begun a little early, in case the blog's clock is behind."""
        import jwt

        begun = int(time.time()) - 10
        claims = {"iat": begun, "exp": begun + TOKEN_SECONDS, "aud": "/admin/"}
        return jwt.encode(claims, self.secret, algorithm="HS256", headers={"kid": self.key_id})

    def _failure(self, response: httpx2.Response) -> PackError:
        """The step's failure, with Ghost's own reason."""
        try:
            raise_for_status(response)
        except PackError as error:
            failure = error.failure
        ghost_error = _first_error(response)
        reason = _one_line(ghost_error.get("context")) or _one_line(ghost_error.get("message"))
        because = f": {reason.rstrip('.')}" if reason else ""
        code, hint, named = str(failure.code), failure.hint, _FIELDS.get(str(ghost_error.get("property")))
        match response.status_code:
            case 403 if ghost_error.get("type") == "HostLimitError":
                code, hint = "quota_exceeded", "The plan of the blog allows no more; see its settings."
                message = f"`{self.host}` has reached a limit of its plan"
            case 401 | 403:
                message = f"`{self.host}` does not accept the credential `ghost` (HTTP {response.status_code})"
                hint = "Store the Admin API key of a custom integration of this blog as `admin_api_key`."
            case 404:
                message = f"`{self.host}` has no such thing in its Admin API (HTTP 404)"
                hint = "Check the field `url` of the credential `ghost`: it is the address of the blog."
            case 413:
                code, message = "resource_exhausted", f"`{self.host}` takes no request that large (HTTP 413)"
                hint = "Make the post or its picture smaller."
            case 422:
                message = f"`{self.host}` did not accept the post (HTTP 422)"
                hint = "Change the input and try again."
            case status:
                message = f"`{self.host}` answered HTTP {status}"
        detail: dict[str, Any] = {"status": response.status_code, "type": _one_line(ghost_error.get("type"))}
        if code == "credential_invalid":
            detail.update(_OURS)
        return PackError(
            code,
            f"{message}{because}.",
            field=named,
            hint=hint,
            retry_after_seconds=failure.retry_after_seconds,
            detail=detail,
        )


async def open_ghost(ctx: PackContext) -> Ghost:
    """The blog of the credential `ghost`.

    Raises:
        PackError: `credential_invalid` when it cannot be had or is incomplete.
    """
    given = await ctx.credential("ghost")
    text, key = given.get("url", ""), _KEY.match(given.get("admin_api_key", "").strip())
    hint = "Store the address the blog is read at, such as `https://blog.example.org`."
    wrong = "The field `url` of the credential `ghost` is not the address of a blog"
    try:
        blog = read_web_address(text)
    except WebAddressError as error:
        raise PackError("credential_invalid", f"{wrong}: {error.reason}.", hint=hint, detail=_OURS) from error
    if blog.account is not None or blog.query or "#" in text:
        raise PackError("credential_invalid", f"{wrong}.", hint=hint, detail=_OURS)
    url = blog.url.rstrip("/").removesuffix("/ghost")
    if key is None:
        raise PackError(
            "credential_invalid",
            "The field `admin_api_key` of the credential `ghost` is not an Admin API key.",
            hint="Copy it from Ghost: Settings, Integrations, Add custom integration. It has the form `id:secret`.",
            detail=_OURS,
        )
    return Ghost(ctx, url, key[1], bytes.fromhex(key[2]))


def _first_error(response: httpx2.Response) -> dict[str, Any]:
    try:
        errors = json.loads(response.content)["errors"]
        return errors[0] if isinstance(errors[0], dict) else {}
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}


def _one_line(value: object) -> str:
    return excerpt(" ".join(value.split()), 300) if isinstance(value, str) else ""
