"""Handing a message to a mail server (RFC 5321), one phase after another, so that it is known what a failure means.

Until the message itself, no failure can have sent anything. Once the server has the message and does not say
what it did with it, nobody knows: that is `outcome_unknown`, never a reason to try again.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packline import PackError, excerpt

from ._addresses import MailAddress, parse_address

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence

    import aiosmtplib

CONNECT_SECONDS = 20.0
COMMAND_SECONDS = 60.0
#: RFC 5321, 4.5.3.2.6 asks for ten minutes after the message; servers that check contents do take a while.
MESSAGE_SECONDS = 240.0
FAREWELL_SECONDS = 5.0
_HOST = re.compile(r"[A-Za-z0-9.:_-]{1,253}\Z", re.ASCII)
_NOTHING = "Nothing was sent."


@dataclass(frozen=True, slots=True)
class Account:
    """Where and as whom mail is handed in: the credential `smtp`, read.

    Attributes:
        password: Kept out of messages and representations by `__repr__`.
        sender: The address mail comes from; None when the credential names none.
    """

    host: str
    port: int
    security: str
    username: str | None
    password: str
    sender: MailAddress | None

    def __repr__(self) -> str:
        return f"Account({self.where})"

    @property
    def where(self) -> str:
        """For messages."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A recipient the server did not take."""

    address: str
    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """What the server took over; `reply` is its last word, often the number in its queue."""

    accepted: tuple[str, ...]
    refused: tuple[Refusal, ...]
    reply: str


def read_account(fields: Mapping[str, str]) -> Account:
    """The account a credential describes.

    Raises:
        PackError: `credential_invalid`, naming the field.
    """
    host, security = fields.get("host", "").strip(), fields.get("security") or "starttls"
    port = fields.get("port") or ("465" if security == "tls" else "587")
    if not _HOST.match(host):
        raise _incomplete("host", "is not the name of a server")
    if security not in ("starttls", "tls", "none"):
        raise _incomplete("security", "is none of `starttls`, `tls`, `none`")
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        raise _incomplete("port", "is not a port")
    try:
        sender = parse_address(fields["from"]) if fields.get("from") else None
    except ValueError as error:
        raise _incomplete("from", "is not a mail address") from error
    username = fields.get("username") or None
    if username and not fields.get("password"):
        raise _incomplete("password", "is missing, and there is a `username`")
    return Account(host, int(port), security, username, fields.get("password", ""), sender)


async def deliver(
    account: Account, sender: MailAddress, recipients: Sequence[str], message: bytes, *, leave_out_refused: bool
) -> Delivered:
    """Hands the message to the server.

    Args:
        account: Where and as whom.
        sender: Of the envelope; bounces go there.
        recipients: Bare addresses.
        message: With CRLF line ends.
        leave_out_refused: Send to the others when the server refuses some; otherwise to nobody.

    Raises:
        PackError: `credential_invalid`, `invalid_input`, `resource_exhausted`, `upstream_unavailable` and `timeout`
            mean that nothing was sent; `outcome_unknown` that nobody knows.
    """
    import ssl

    import aiosmtplib

    context = None if account.security == "none" else await asyncio.to_thread(ssl.create_default_context)
    server = aiosmtplib.SMTP(
        hostname=account.host,
        port=account.port,
        local_hostname=sender.domain,
        use_tls=account.security == "tls",
        start_tls=False,
        tls_context=context,
        timeout=COMMAND_SECONDS,
    )
    try:
        await _open(server, account, context)
        await _sign_in(server, account)
        accepted, refused = await _envelope(server, account, sender, recipients, len(message), leave_out_refused)
        reply = await _message(server, account, message)
        # The message has its answer: the outcome of QUIT does not matter.
        with contextlib.suppress(aiosmtplib.SMTPException, OSError):
            await server.quit(timeout=FAREWELL_SECONDS)
    finally:
        server.close()
    return Delivered(tuple(accepted), tuple(refused), reply)


async def _open(server: aiosmtplib.SMTP, account: Account, context: ssl.SSLContext | None) -> None:
    import aiosmtplib

    try:
        await server.connect(timeout=CONNECT_SECONDS)
        await server.ehlo()
        if account.security == "starttls":
            if not server.supports_extension("starttls"):
                raise PackError(
                    "credential_invalid",
                    f"The mail server {account.where} offers no STARTTLS. {_NOTHING}",
                    hint="Set `security` of the credential `smtp` to `tls`, usually with port 465.",
                    detail={"credential": "smtp"},
                )
            await server.starttls(tls_context=context)
            await server.ehlo()
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        raise _unreachable(account, error) from error


async def _sign_in(server: aiosmtplib.SMTP, account: Account) -> None:
    import aiosmtplib

    if account.username is None:
        return
    if not server.supports_extension("auth"):
        raise PackError(
            "credential_invalid",
            f"The mail server {account.where} does not let anybody sign in this way. {_NOTHING}",
            hint="Check `security` of the credential `smtp`, or leave `username` out where none is wanted.",
            detail={"credential": "smtp"},
        )
    try:
        await server.login(account.username, account.password)
    except aiosmtplib.SMTPResponseException as error:
        if 400 <= error.code < 500:
            raise _later(account, f"cannot check the account now (SMTP {error.code})") from error
        raise PackError(
            "credential_invalid",  # without the server's words, which may repeat what it was sent
            f"The mail server {account.where} does not accept the account or its password (SMTP {error.code}). "
            f"{_NOTHING}",
            hint="Store the right `username` and `password` in the credential `smtp`; some providers want an app "
            "password.",
            detail={"credential": "smtp"},
        ) from error
    except (aiosmtplib.SMTPException, OSError) as error:
        raise _unreachable(account, error) from error


async def _envelope(
    server: aiosmtplib.SMTP,
    account: Account,
    sender: MailAddress,
    recipients: Sequence[str],
    size_bytes: int,
    leave_out_refused: bool,
) -> tuple[list[str], list[Refusal]]:
    import aiosmtplib

    limit = server.esmtp_extensions.get("size", "")
    if limit.isdigit() and 0 < int(limit) < size_bytes:
        raise PackError(
            "resource_exhausted",
            f"The message has {size_bytes:,} bytes, and {account.where} takes {int(limit):,}. {_NOTHING}",
            field="attachments",
            hint="Attach less, or send a link.",
        )
    options = [f"SIZE={size_bytes}"] if server.supports_extension("size") else []
    accepted: list[str] = []
    refused: list[Refusal] = []
    try:
        await server.mail(sender.spec, options=options)
        for recipient in recipients:
            try:
                await server.rcpt(recipient)
                accepted.append(recipient)
            except aiosmtplib.SMTPRecipientRefused as error:
                if error.code == 421:
                    raise
                refused.append(Refusal(recipient, error.code, _one_line(error.message)))
    except aiosmtplib.SMTPSenderRefused as error:
        raise _sender_refused(account, sender, error) from error
    except aiosmtplib.SMTPResponseException as error:
        raise _later(account, f"ends the talk ({_code(error)})") from error
    except (aiosmtplib.SMTPException, OSError) as error:
        raise _unreachable(account, error) from error
    if refused and not (accepted and leave_out_refused):
        raise _recipients_refused(account, refused, could_leave_out=bool(accepted))
    return accepted, refused


async def _message(server: aiosmtplib.SMTP, account: Account, message: bytes) -> str:
    import aiosmtplib

    try:
        response = await server.data(message, timeout=MESSAGE_SECONDS)
    except aiosmtplib.SMTPDataError as error:
        if 400 <= error.code < 500:
            raise _later(account, f"does not take the message now ({_code(error)})") from error
        if error.code == 552:
            raise PackError(
                "resource_exhausted",
                f"The mail server {account.where} finds the message too large ({_code(error)}). {_NOTHING}",
                field="attachments",
                hint="Attach less, or send a link.",
            ) from error
        if 500 <= error.code < 600:
            raise PackError(
                "invalid_input",
                f"The mail server {account.where} refused the message ({_code(error)}). {_NOTHING}",
                hint="Change what the server objects to and send it again.",
            ) from error
        raise _nobody_knows(account, error) from error
    except (aiosmtplib.SMTPException, OSError) as error:
        raise _nobody_knows(account, error) from error
    return _one_line(response.message)


def _incomplete(field: str, what: str) -> PackError:
    return PackError(
        "credential_invalid",
        f"The field `{field}` of the credential `smtp` {what}.",
        hint="Store `smtp` with `host`, and as needed `port`, `security`, `username`, `password`, `from`.",
        detail={"credential": "smtp"},
    )


def _later(account: Account, what: str) -> PackError:
    return PackError(
        "upstream_unavailable",
        f"The mail server {account.where} {what}. {_NOTHING}",
        hint="Resume the run in a while.",
    )


def _unreachable(account: Account, error: Exception) -> PackError:
    import ssl

    if isinstance(error, TimeoutError):
        return PackError("timeout", f"The mail server {account.where} did not answer in time. {_NOTHING}")
    cause: BaseException | None = error
    why = type(error).__name__
    while cause is not None:
        match cause:
            case ssl.SSLCertVerificationError():
                why = f"its certificate was not accepted ({cause.verify_message})"
            case ssl.SSLError():
                why = "it does not speak TLS on this port"
            case ConnectionRefusedError():
                why = "it refuses connections"
        cause = cause.__cause__ or cause.__context__
    code = getattr(error, "code", 0)
    if isinstance(code, int) and 400 <= code < 600:
        why = f"it answered SMTP {code}"
    return PackError(
        "upstream_unavailable",
        f"The mail server {account.where} cannot be used: {why}. {_NOTHING}",
        hint="Check `host`, `port` and `security` of the credential `smtp`.",
    )


def _sender_refused(account: Account, sender: MailAddress, error: aiosmtplib.SMTPSenderRefused) -> PackError:
    if error.code == 552:
        return PackError(
            "resource_exhausted",
            f"The mail server {account.where} finds the message too large ({_code(error)}). {_NOTHING}",
            field="attachments",
            hint="Attach less, or send a link.",
        )
    if 400 <= error.code < 500:
        return _later(account, f"takes no mail from {sender.spec} now ({_code(error)})")
    return PackError(
        "credential_invalid",
        f"The mail server {account.where} takes no mail from {sender.spec} ({_code(error)}). {_NOTHING}",
        hint="Set `from` of the credential `smtp`, or `sender`, to an address the account may send from.",
        detail={"credential": "smtp"},
    )


def _recipients_refused(account: Account, refused: Sequence[Refusal], *, could_leave_out: bool) -> PackError:
    refusals = "; ".join(
        excerpt(f"{refusal.address}: SMTP {refusal.code} {refusal.reason}", 200) for refusal in refused[:5]
    )
    more = f" and {len(refused) - 5} more" if len(refused) > 5 else ""
    detail: list[dict[str, str | int]] = [
        {"address": refusal.address, "code": refusal.code, "reason": refusal.reason} for refusal in refused
    ]
    is_lasting = any(refusal.code >= 500 for refusal in refused)
    or_without = " or set `leave_out_refused` to send to the others" if could_leave_out else ""
    return PackError(
        "invalid_input" if is_lasting else "upstream_unavailable",
        f"The mail server {account.where} does not take mail for {refusals}{more}. {_NOTHING}",
        field="to" if is_lasting else None,
        hint=f"Correct the address{or_without}." if is_lasting else f"Resume the run in a while{or_without}.",
        detail={"refused": [dict(entry) for entry in detail]},
    )


def _nobody_knows(account: Account, error: Exception) -> PackError:
    how = "did not say in time" if isinstance(error, TimeoutError) else "broke off before it said"
    return PackError(
        "outcome_unknown",
        f"The mail server {account.where} was given the message and {how} what it did with it.",
        hint="Ask a recipient or look into the server's log; send it again only when it did not arrive.",
    )


def _code(error: aiosmtplib.SMTPResponseException) -> str:
    return f"SMTP {error.code}: {_one_line(error.message)}".rstrip(": .")


def _one_line(text: object) -> str:
    return excerpt(re.sub(r"[\x00-\x20\x7f]+", " ", str(text)).strip(), 200)
