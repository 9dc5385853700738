"""A message as it goes over the wire (RFC 5322, MIME), made of checked parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.headerregistry import Address
    from pathlib import Path

    from ._addresses import MailAddress

#: Mail programs drop style sheets but keep these; widths and fonts as common newsletters have them.
_PAGE = (
    '<!doctype html>\n<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<style>a{{color:#4338ca}}pre{{background:#f5f7fa;padding:12px;overflow-x:auto}}code{{font-size:14px}}"
    "table{{border-collapse:collapse}}td,th{{border:1px solid #d6dbe4;padding:6px 10px;text-align:left}}"
    "blockquote{{margin:0;padding-left:14px;border-left:3px solid #c7cdd8;color:#4a5363}}"
    "img{{max-width:100%;height:auto}}h1{{font-size:24px}}h2{{font-size:20px}}h3{{font-size:17px}}</style></head>\n"
    '<body style="margin:0;padding:24px 16px;background:#ffffff;color:#1c2330;'
    'font:16px/1.55 -apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif">'
    '<div style="max-width:640px;margin:0 auto">\n{body}\n</div></body></html>\n'
)
_MEDIA_TYPE = re.compile(r"([a-z0-9.+-]+)/([a-z0-9.+-]+)\s*(?:;\s*charset=\"?([A-Za-z0-9_.:-]+)\"?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file to go along, read when the message is made."""

    name: str
    media_type: str
    path: Path


@dataclass(frozen=True, slots=True)
class Parts:
    """What a message is made of; texts are without line breaks where headers are.

    Attributes:
        message_id: With its angle brackets.
        html: Markup for the second form of the text; None for plain text alone.
    """

    message_id: str
    sender: MailAddress
    to: Sequence[MailAddress]
    cc: Sequence[MailAddress]
    reply_to: MailAddress | None
    subject: str
    text: str
    html: str | None
    attachments: Sequence[Attachment]


def compose(parts: Parts) -> bytes:
    """The message. Blind copies are not in it; they are a matter of the envelope alone."""
    from email.message import EmailMessage
    from email.policy import SMTP
    from email.utils import format_datetime

    message = EmailMessage(policy=SMTP)
    message["From"] = _header(parts.sender)
    if parts.to:
        message["To"] = [_header(address) for address in parts.to]
    if parts.cc:
        message["Cc"] = [_header(address) for address in parts.cc]
    if parts.reply_to:
        message["Reply-To"] = _header(parts.reply_to)
    message["Subject"] = parts.subject
    message["Date"] = format_datetime(datetime.now(UTC))
    message["Message-ID"] = parts.message_id
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: keeps absence notes from answering
    message.set_content(parts.text, cte="quoted-printable")
    if parts.html is not None:
        message.add_alternative(parts.html, subtype="html", cte="quoted-printable")
    for attachment in parts.attachments:
        match = _MEDIA_TYPE.match(attachment.media_type)
        main, sub, charset = match.groups() if match else ("application", "octet-stream", None)
        if main.lower() in ("multipart", "message"):
            main, sub = "application", "octet-stream"
        message.add_attachment(
            attachment.path.read_bytes(),
            maintype=main,
            subtype=sub,
            filename=_file_name(attachment.name),
            params={"charset": charset} if charset else None,
        )
    return message.as_bytes()


def html_of(markdown: str) -> str:
    """Markdown as a page for mail programs; raw HTML in it stays text."""
    import nh3
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    body = nh3.clean(parser.render(markdown), url_schemes={"http", "https", "mailto"}, link_rel=None)
    return _PAGE.format(body=body.strip())


def _header(address: MailAddress) -> Address:
    from email.headerregistry import Address

    return Address(address.name, address.local, address.domain)


def _file_name(name: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f-\x9f/\\\u2028\u2029]+", "_", name)[:200] or "attachment"
