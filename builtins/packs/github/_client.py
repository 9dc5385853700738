"""GitHub's REST API over the step's HTTP client: one origin, one version, failures that blame the right side."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode

from packline import CredentialNeed, PackContext, PackError, WebAddressError, read_web_address

from .._http import USER_AGENT
from ._failures import raise_for_answer
from ._repo import api_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    import httpx2

JSONValue: TypeAlias = "bool | int | float | str | list[JSONValue] | dict[str, JSONValue] | None"

#: What each pack declares; reading public things works without it.
MAY_USE_TOKEN = CredentialNeed("github", "github", required=False)
NEEDS_TOKEN = CredentialNeed("github", "github")

API_VERSION = "2022-11-28"
TIMEOUT_SECONDS = 30.0
MAX_BYTES = 20 * 1024 * 1024
PAGE_SIZE = 100
MAX_PAGES = 10
#: Without a credential there are 60 requests an hour, so what was read is used for a while.
PUBLIC_SECONDS = 300.0
#: With one, an answer kept this long is only used once GitHub says that it has not changed.
CHECKED_SECONDS = 3600.0
_MAX_REDIRECTS = 3
_TOKEN = re.compile(r"[\x21-\x7e]{1,1000}\Z")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list; `next_url` is None at the last one."""

    items: list[dict[str, Any]]
    next_url: str | None


@dataclass(frozen=True, slots=True)
class GitHub:
    """The API as one caller sees it.

    Attributes:
        ctx: The step.
        base_url: Root of the API.
        token: Presented with every request; None to read as anybody.
        fields: GitHub's names of fields to the pack's, for refusals.
    """

    ctx: PackContext
    base_url: str
    token: str | None
    fields: Mapping[str, str]

    async def get(self, path: str, *, what: str, field: str | None = "repo", **parameters: str) -> dict[str, Any]:
        """One thing, read now."""
        response = await self._send("GET", self._url(path, parameters), what=what, field=field)
        return _object(response)

    async def get_kept(
        self, path: str, shape: Callable[[dict[str, Any]], JSONValue], *, what: str, field: str | None = "repo"
    ) -> JSONValue:
        """One thing in the form `shape` gives it, never older than GitHub's own when a credential is there.

        Without one it may be five minutes old.
        """
        return await self._kept(self._url(path, {}), lambda response: shape(_object(response)), what, field)

    async def page_kept(
        self, url: str, shape: Callable[[dict[str, Any]], JSONValue], *, what: str, field: str | None = "repo"
    ) -> Page:
        """One page of a list, its items in the form `shape` gives them; as fresh as `get_kept`."""

        def shaped(response: httpx2.Response) -> JSONValue:
            page = self._page(response)
            return {"items": [shape(item) for item in page.items], "next": page.next_url}

        kept = await self._kept(url, shaped, what, field)
        assert isinstance(kept, dict)
        return Page(kept["items"], kept["next"])  # type: ignore[arg-type]  # as written just above

    async def items(
        self, path: str, *, what: str, max_pages: int = MAX_PAGES, field: str | None = "repo", **parameters: str
    ) -> AsyncIterator[dict[str, Any]]:
        """The items of a list, page after page, read now; ends silently after `max_pages`."""
        url: str | None = self.list_url(path, **parameters)
        for _ in range(max_pages):
            if url is None:
                return
            page = self._page(await self._send("GET", url, what=what, field=field))
            for item in page.items:
                yield item
            url = page.next_url

    async def post(self, path: str, body: Mapping[str, JSONValue], *, what: str) -> dict[str, Any]:
        """Makes something."""
        response = await self._send("POST", self._url(path, {}), what=what, field="repo", body=body)
        return _object(response)

    def list_url(self, path: str, **parameters: str) -> str:
        """Address of the first page of a list, with pages as long as they come."""
        return self._url(path, {**parameters, "per_page": parameters.get("per_page", str(PAGE_SIZE))})

    def _url(self, path: str, parameters: Mapping[str, str]) -> str:
        query = f"?{urlencode(parameters)}" if parameters else ""
        return f"{self.base_url}{path}{query}"

    async def _kept(
        self, url: str, shaped: Callable[[httpx2.Response], JSONValue], what: str, field: str | None
    ) -> JSONValue:
        """What `shaped` makes of the answer; asked for with `If-None-Match` when one is kept (RFC 9110, 13.1.2)."""
        asked_now = False

        async def ask() -> JSONValue:
            nonlocal asked_now
            asked_now = True
            response = await self._send("GET", url, what=what, field=field)
            return {"tag": response.headers.get("etag"), "value": shaped(response)}

        digest = hashlib.sha256(url.encode()).hexdigest()
        if self.token is None:
            kept = await self.ctx.cached(f"public:{digest}", PUBLIC_SECONDS, ask)
        else:
            kept = await self.ctx.cached(f"checked:{digest}", CHECKED_SECONDS, ask)
        assert isinstance(kept, dict)
        if asked_now or self.token is None:
            return kept["value"]
        tag = kept["tag"]
        response = await self._send("GET", url, what=what, field=field, tag=tag if isinstance(tag, str) else None)
        return kept["value"] if response.status_code == 304 else shaped(response)

    def _page(self, response: httpx2.Response) -> Page:
        data = _json(response)
        items = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else None
        if items is None:
            raise _not_github(response, "a list was expected")
        return Page(items, self._next_url(response))

    def _next_url(self, response: httpx2.Response) -> str | None:
        """The next page, by the `Link` header (RFC 8288); only ever at the same place."""
        address = response.links.get("next", {}).get("url")
        return None if address is None else self._at_home(response, address, "it names {} for the next page")

    def _at_home(self, response: httpx2.Response, address: str, why: str) -> str:
        """An address GitHub names in an answer; the token goes nowhere else."""
        try:
            target = read_web_address(address, base=str(response.request.url))
        except WebAddressError as error:
            raise _not_github(response, why.format("what is not an address")) from error
        if target.account is not None or target.origin != read_web_address(self.base_url).origin:
            raise _not_github(response, why.format(target.host))
        return target.url

    async def _send(
        self,
        method: str,
        url: str,
        *,
        what: str,
        field: str | None,
        body: Mapping[str, JSONValue] | None = None,
        tag: str | None = None,
    ) -> httpx2.Response:
        headers = {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": API_VERSION,
            "User-Agent": USER_AGENT,
        }
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if tag is not None:
            headers["If-None-Match"] = tag
        for _ in range(_MAX_REDIRECTS + 1):
            response = await self.ctx.http.request(
                method,
                url,
                headers=headers,
                json=body,
                follow_redirects=False,  # the client would turn a redirected POST into a GET
                extensions={"max_bytes": MAX_BYTES, "total_seconds": TIMEOUT_SECONDS},
            )
            location = response.headers.get("location")
            if response.status_code not in (301, 302, 307, 308) or not location:
                break
            # A renamed repository: the same request at its new address.
            url = self._at_home(response, location, "it sends requests on to {}")
        if response.status_code != 304:
            raise_for_answer(response, what=what, with_token=self.token is not None, fields=self.fields, field=field)
            if not response.is_success:
                raise _not_github(response, f"it answered HTTP {response.status_code}")
        return response


async def open_github(ctx: PackContext, *, fields: Mapping[str, str], must_sign_in: bool) -> GitHub:
    """The API with the credential `github`, which reading can do without.

    Raises:
        PackError: `credential_invalid` when it is needed and cannot be had, or is not a token.
    """
    given = await (ctx.credential("github") if must_sign_in else ctx.find_credential("github"))
    token = None if given is None else given.get("token", "").strip()
    if token is not None and not _TOKEN.match(token):
        raise PackError(
            "credential_invalid",
            "The credential `github` holds no usable token.",
            hint="Store a personal access token in its field `token`, on one line.",
            detail={"credential": "github"},
        )
    return GitHub(ctx, api_url(ctx), token, fields)


def _object(response: httpx2.Response) -> dict[str, Any]:
    data = _json(response)
    if not isinstance(data, dict):
        raise _not_github(response, "an object was expected")
    return data


def _json(response: httpx2.Response) -> JSONValue:
    try:
        data: JSONValue = json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise _not_github(response, "the answer is not JSON") from error
    return data


def _not_github(response: httpx2.Response, why: str) -> PackError:
    return PackError(
        "upstream_unavailable",
        f"`{response.request.url.host}` did not answer as GitHub's API does: {why}.",
        hint="If this lasts, an operator should check PACKLINE_SERVICE_GITHUB_URL and any proxy in between.",
    )
