"""`http.post`: posts JSON, a text or a message for people to a web address."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from packline import (
    CredentialNeed,
    Metadata,
    PackContext,
    PackError,
    WebAddressError,
    excerpt,
    pack,
    raise_for_status,
    read_web_address,
)

from .._http import USER_AGENT, checked_address
from .._marks import mark_of
from ._chat import Form, message_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packline import WebAddress

#: Longest body that is sent, and longest answer that is read.
MAX_BYTES = 1024 * 1024
TIMEOUT_SECONDS = 30.0
#: Characters of the answer that the output has.
ANSWER_CHARACTERS = 20_000
#: The field of the credential that is the address; all others are headers.
_URL = "url"
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{1,8000}\Z")
#: Headers that the request itself sets.
_RESERVED = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection", "idempotency-key"})


class Message(BaseModel):
    """A message for people."""

    title: str = Field(min_length=1, max_length=300, description="First line.")
    text: str = Field(default="", max_length=10_000, description="What happened.")
    link: str = Field(default="", max_length=2_000, description="Where to read more.")
    form: Form = Field(
        default="auto",
        description="Whose form it has. `auto`: that of Slack, Discord or Teams if the address is theirs, otherwise "
        "JSON with `title`, `text` and `link`, as `plain`. Mattermost and Rocket.Chat take `slack`.",
    )


class Input(BaseModel):
    """What is posted, and where."""

    url: str | None = Field(
        default=None,
        min_length=1,
        max_length=2_000,
        description="Address to post to, https or http. Defaults to the field `url` of the credential `http`.",
    )
    body: Any = Field(default=None, description="JSON to post. Give this, `text` or `message`.")
    text: str | None = Field(default=None, max_length=500_000, description="Plain text to post.")
    message: Message | None = Field(
        default=None,
        description="A message for people, in the form that the webhooks of Slack, Discord or Teams take.",
    )


class Output(BaseModel):
    """The answer."""

    status: int = Field(description="HTTP status, 200 to 299.")
    host: str = Field(description="Host that answered.")
    body: Any = Field(default=None, description="The answer, if it is JSON.")
    text: str = Field(description=f"The answer as text, up to {ANSWER_CHARACTERS:,} characters.")


@pack(
    "http.post",
    version="1.0.0",
    effects="external",
    repeatable=False,
    takes_idempotency_key=True,
    timeout_seconds=120,
    credentials=[CredentialNeed("http", "generic", required=False)],
    metadata=Metadata(
        accepts=["json", "text"],
        produces=["json", "text"],
        intent_keywords=[
            "post to webhook",
            "call webhook",
            "http post",
            "send to slack",
            "discord message",
            "teams message",
            "call an api",
        ],
        example_intents=[
            "Post this to our Slack channel",
            "Send a Discord message when the build fails",
            "Call the webhook https://example.org/hooks/deploy with this JSON",
            "Tell the team in Teams that the report is ready",
            "POST the result to our API",
            "Notify the channel",
            "Trigger the deploy hook",
            "Send these numbers to the dashboard's endpoint",
        ],
        typical_use="Use this to hand a result to another system, or to notify a chat channel through its webhook.",
        limitations=[
            "Only POST, without redirects; addresses in private networks are refused unless the operator allows them.",
            "The headers of the credential `http` go only to the origin of its `url`.",
            "A repeated step sends the same `Idempotency-Key`; a receiver that ignores it may get a message twice.",
            "Sends at most 1 MiB and reads at most 1 MiB of the answer.",
        ],
    ),
)
async def post(ctx: PackContext, input: Input) -> Output:
    """Posts JSON, a text or a message for people to a web address.

    The credential `http` is optional. Its field `url` is the address to post to, such as the webhook of a chat channel;
    each other field is sent as the header of that name, `_` written as `-`, for example `authorization`.
    """
    credential = await ctx.find_credential("http")
    address = _address(input, credential)
    content, content_type = _content(input, address)
    if len(content) > MAX_BYTES:
        raise PackError(
            "invalid_input", f"The body has {len(content):,} bytes; at most {MAX_BYTES:,} are sent.", field="body"
        )
    ctx.progress(0.3, f"Posting {len(content):,} bytes to {address.host}")
    response = await ctx.http.request(
        "POST",
        address.url,
        content=content,
        headers={
            "accept": "application/json, text/plain;q=0.9, */*;q=0.5",
            "user-agent": USER_AGENT,
            **_headers(credential, address),
            "content-type": content_type,
            "idempotency-key": mark_of(ctx),
        },
        follow_redirects=False,  # a redirected POST would become a GET, and the headers are for this origin
        extensions={"max_bytes": MAX_BYTES, "total_seconds": TIMEOUT_SECONDS},
    )
    if response.is_redirect:
        raise PackError(
            "invalid_input",
            f"`{address.host}` redirects (HTTP {response.status_code}), which a POST does not follow.",
            field="url" if input.url else None,
            hint="Give the address it leads to.",
        )
    raise_for_status(response)
    ctx.progress(1.0, f"{address.host} answered {response.status_code}")
    return Output(
        status=response.status_code,
        host=address.host,
        body=_json(response.content, response.headers.get("content-type", "")),
        text=excerpt(response.text, ANSWER_CHARACTERS),
    )


def _address(input: Input, credential: Mapping[str, str] | None) -> WebAddress:
    if input.url is not None:
        return checked_address(input.url, field="url")
    given = None if credential is None else credential.get(_URL)
    if given is None:
        raise PackError(
            "credential_invalid",
            "There is no address to post to: the input has no `url`, and the credential `http` has none or is missing.",
            field="url",
            hint="Store the address in the field `url` of a credential `http` of kind `generic`, and grant it to "
            "`http.post`.",
            detail={"credential": "http"},
        )
    # Not quoted in messages: the address of a chat channel's webhook is a secret itself.
    try:
        address = read_web_address(given.strip())
    except WebAddressError as error:
        raise PackError("credential_invalid", "The field `url` of the credential `http` is not an address.") from error
    if address.account is not None:
        raise PackError("credential_invalid", "The address in the credential `http` carries a user name or password.")
    return address


def _headers(credential: Mapping[str, str] | None, address: WebAddress) -> dict[str, str]:
    """Return the headers of the credential, if it is for this origin."""
    if credential is None:
        return {}
    try:
        is_for_it = read_web_address(credential.get(_URL, "").strip()).origin == address.origin
    except WebAddressError:
        is_for_it = False
    fields = {name: value.strip() for name, value in credential.items() if name != _URL}
    if not is_for_it or not fields:
        return {}
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    for name, value in headers.items():
        if name in _RESERVED or not _HEADER_VALUE.match(value):
            raise PackError(
                "credential_invalid",
                f"The field `{name.replace('-', '_')}` of the credential `http` cannot be sent as a header.",
                hint="Use one line of ASCII characters, and no header that the request itself sets.",
                detail={"credential": "http"},
            )
    return headers


def _content(input: Input, address: WebAddress) -> tuple[bytes, str]:
    given = [name for name in ("body", "text", "message") if getattr(input, name) is not None]
    if len(given) != 1:
        shown = ", ".join(f"`{name}`" for name in given) or "none of them"
        raise PackError("invalid_input", f"Give `body`, `text` or `message`; this input has {shown}.", field="body")
    if input.text is not None:
        return input.text.encode(), "text/plain; charset=utf-8"
    body = input.body
    if input.message is not None:
        message = input.message
        body = message_for(address, message.form, message.title, message.text, message.link)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(), "application/json"


def _json(content: bytes, content_type: str) -> Any:  # noqa: ANN401 - as it was answered
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
