"""`email.send`: a message to people, handed to a mail server once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, field_validator

from packline import CredentialNeed, Metadata, PackContext, PackError, PostCondition, pack, python_module

from .._marks import mark_of
from ._addresses import MailAddress, has_control, parse_address
from ._delivery import deliver, read_account
from ._message import Attachment, Parts, compose, html_of

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_RECIPIENTS = 50
#: Together and before encoding, which adds a third: most servers take messages of 20 to 25 MB.
MAX_ATTACHMENT_BYTES = 15 * 1024 * 1024


class Input(BaseModel):
    """The message."""

    to: list[str] = Field(
        default_factory=list,
        max_length=MAX_RECIPIENTS,
        description="Who it is for, as `ada@example.org` or `Ada Example <ada@example.org>`.",
        examples=[["Ada Example <ada@example.org>"]],
    )
    cc: list[str] = Field(
        default_factory=list, max_length=MAX_RECIPIENTS, description="Who gets a copy, for all to see."
    )
    bcc: list[str] = Field(
        default_factory=list, max_length=MAX_RECIPIENTS, description="Who gets a copy that the others do not see."
    )
    subject: str = Field(min_length=1, max_length=250, description="Subject, one line.")
    text: str | None = Field(
        default=None, max_length=200_000, description="Message as plain text. Give this or `markdown`."
    )
    markdown: str | None = Field(
        default=None,
        max_length=200_000,
        description="Message in Markdown; sent formatted, and as plain text for programs that prefer it.",
    )
    attachments: list[str] = Field(
        default_factory=list, max_length=20, description="Ids of artifacts to attach, `art_…`; at most 15 MiB together."
    )
    reply_to: str | None = Field(default=None, max_length=400, description="Where answers go, if not to the sender.")
    sender: str | None = Field(
        default=None,
        max_length=400,
        description="Address to send from, if not the credential's `from`; the account must be allowed to.",
    )
    leave_out_refused: bool = Field(
        default=False,
        description="When the server refuses some recipients: send to the others. Otherwise nothing is sent.",
    )

    @field_validator("subject")
    @classmethod
    def _one_line(cls, subject: str) -> str:
        if has_control(subject):
            raise ValueError("The subject must be one line, without control characters.")
        if not subject.strip():
            raise ValueError("The subject is blank.")
        return subject.strip()

    @field_validator("to", "cc", "bcc")
    @classmethod
    def _addresses(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            parse_address(entry)
        return entries

    @field_validator("reply_to", "sender")
    @classmethod
    def _address(cls, entry: str | None) -> str | None:
        if entry is not None:
            parse_address(entry)
        return entry


class Refused(BaseModel):
    """A recipient who was left out."""

    address: str = Field(description="The address.")
    code: int = Field(description="The server's reply code.")
    reason: str = Field(description="The server's words.")


class Output(BaseModel):
    """What the mail server took over."""

    message_id: str = Field(description="Id in the message's header; the same for every attempt of this step.")
    sender: str = Field(description="Address it was sent from.")
    accepted: list[str] = Field(description="Addresses the server took the message for.")
    refused: list[Refused] = Field(description="Addresses it did not.")
    subject: str = Field(description="Subject.")
    size_bytes: int = Field(ge=1, description="Size of the whole message.")
    reply: str = Field(description="The server's last word, often its number in the queue.")


def _was_taken(output: Output, _files: object) -> str | None:
    return None if output.accepted else "the server took it for nobody"


@pack(
    "email.send",
    version="1.0.0",
    effects="external",
    repeatable=False,
    at_most_once=True,
    timeout_seconds=600,
    services=[python_module("aiosmtplib", extra="email")],
    credentials=[CredentialNeed("smtp", "smtp")],
    post_conditions=[PostCondition("the mail server took the message for somebody", _was_taken)],
    metadata=Metadata(
        accepts=["markdown", "text", "email"],
        produces=["email", "json"],
        intent_keywords=[
            "send email",
            "mail this",
            "e-mail report",
            "notify by mail",
            "send attachment",
            "message somebody",
            "newsletter to list",
        ],
        example_intents=[
            "Mail the deck to ada@example.org",
            "Send the weekly report to the team with the PDF attached",
            "e-mail me the summary when it is done",
            "Notify ops@example.org that the run has finished",
            "Write to our customer with the proposal and copy Bob",
            "Forward these search results to my boss",
            "Please send the minutes to everyone who was there",
            "Drop me a mail with the podcast",
        ],
        typical_use="Use this when a result should reach people by e-mail, with or without files attached.",
        limitations=[
            "Needs the credential `smtp` of a mail server; that server may be on a private network.",
            "Mail servers know no idempotency keys: a message whose fate is unknown is not sent again by itself.",
            "At most 50 recipients and 15 MiB of attachments.",
            "Being taken by the server is not being delivered; bounces go to the sender's mailbox.",
            "Does not read mail.",
        ],
    ),
)
async def send(ctx: PackContext, input: Input) -> Output:
    """Sends one e-mail through the mail server of the credential `smtp`.

    Nothing is sent unless the server takes every recipient, or `leave_out_refused` says otherwise. When the server
    breaks off after it was given the message, or the process dies meanwhile, the step fails as `outcome_unknown`
    instead of sending it twice. The message id is made of the step's idempotency key, so a repeat can be recognised.
    """
    text, html = _texts(input)
    account = read_account(await ctx.credential("smtp"))
    sender = parse_address(input.sender) if input.sender else account.sender
    if sender is None:
        raise PackError(
            "credential_invalid",
            "The credential `smtp` names no address to send from.",
            hint="Store one in its field `from`, or give `sender`.",
            detail={"credential": "smtp"},
        )
    to, cc, bcc = ([parse_address(entry) for entry in entries] for entries in (input.to, input.cc, input.bcc))
    recipients = _distinct([*to, *cc, *bcc])
    if not recipients or len(recipients) > MAX_RECIPIENTS:
        raise PackError(
            "invalid_input",
            f"There are {len(recipients)} recipients; a message has 1 to {MAX_RECIPIENTS}.",
            field="to",
            hint="Give at least one address in `to`, `cc` or `bcc`, and use a mailing list for many.",
        )
    attachments = await _open_attachments(ctx, input.attachments)
    if account.security == "none" and account.username:
        ctx.warn(f"The password goes to {account.where} unencrypted, since the credential says `security: none`.")
    ctx.progress(0.2, "Writing the message")
    message_id = f"<{mark_of(ctx)}@{sender.domain}>"
    reply_to = parse_address(input.reply_to) if input.reply_to else None
    parts = Parts(message_id, sender, to, cc, reply_to, input.subject, text, html, attachments)
    message = await asyncio.to_thread(compose, parts)
    ctx.progress(0.5, f"Handing {len(message):,} bytes for {len(recipients)} to {account.where}")
    done = await deliver(account, sender, recipients, message, leave_out_refused=input.leave_out_refused)
    for refusal in done.refused:
        ctx.warn(f"{refusal.address} was left out: SMTP {refusal.code} {refusal.reason}")
    ctx.progress(1.0, f"Sent to {len(done.accepted)} of {len(recipients)}")
    return Output(
        message_id=message_id,
        sender=sender.spec,
        accepted=list(done.accepted),
        refused=[Refused(address=entry.address, code=entry.code, reason=entry.reason) for entry in done.refused],
        subject=input.subject,
        size_bytes=len(message),
        reply=done.reply,
    )


def _texts(input: Input) -> tuple[str, str | None]:
    """The message as plain text, and as a page when it is in Markdown."""
    given = [name for name in ("text", "markdown") if (getattr(input, name) or "").strip()]
    if len(given) != 1:
        what = "both `text` and `markdown`" if given else "neither `text` nor `markdown`"
        raise PackError(
            "invalid_input", f"There is {what}.", field="text", hint="Give the message in exactly one of them."
        )
    if input.text and input.text.strip():
        return input.text, None
    markdown = input.markdown or ""
    return markdown, html_of(markdown)


def _distinct(addresses: Iterable[MailAddress]) -> list[str]:
    return list({address.spec.lower(): address.spec for address in addresses}.values())


async def _open_attachments(ctx: PackContext, artifact_ids: list[str]) -> list[Attachment]:
    files = [await ctx.open_artifact(artifact_id) for artifact_id in dict.fromkeys(artifact_ids)]
    total = sum(file.ref.size_bytes for file in files)
    if total > MAX_ATTACHMENT_BYTES:
        raise PackError(
            "invalid_input",
            f"The attachments have {total:,} bytes together; at most {MAX_ATTACHMENT_BYTES:,} are sent.",
            field="attachments",
            hint="Attach less, or send a link.",
        )
    return [Attachment(file.ref.name, file.ref.media_type, file.path) for file in files]
