"""A mail server on loopback: RFC 5321 with STARTTLS, AUTH and SIZE, strict about order, with replies to be scripted."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import email
import email.policy
import ipaddress
import re
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.waiting import pass_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from email.message import EmailMessage
    from pathlib import Path

USERNAME = "packline@example.org"
PASSWORD = "correct horse battery staple"

#: Instead of a reply.
DROP, SILENCE, GARBAGE = "drop", "silence", "garbage"


@dataclass(frozen=True)
class Mail:
    """One message the server took over."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes
    encrypted: bool
    signed_in_as: str | None

    @property
    def message(self) -> EmailMessage:
        """Parsed as a mail program would."""
        lines = self.content.replace(b"\r\n", b"\n")
        return email.message_from_bytes(lines, policy=email.policy.default)  # type: ignore[return-value]


class _HangUpError(Exception):
    pass


@dataclass
class SmtpDouble:
    """The server.

    Attributes:
        tls: For STARTTLS, or from the start with `implicit`; None offers neither.
        implicit: TLS from the first byte.
        wants_account: Whether mail is taken from signed-in callers only.
        size_limit: Told with SIZE and enforced.
        refused: Addresses to refuse, with the reply.
        script: What to answer to a command instead; keys are verbs, `CONNECT`, and `MESSAGE` for the end of data.
        keep_when_scripted: A scripted `MESSAGE` is taken over all the same.
        mails: What was taken over.
        commands: Everything that was said, without secrets.
        passing_seconds: How far a silence puts the clock of its loop forward, again and again, for clients in it.
    """

    tls: ssl.SSLContext | None = None
    implicit: bool = False
    wants_account: bool = True
    size_limit: int = 30_000_000
    refused: dict[str, str] = field(default_factory=dict)
    script: dict[str, str] = field(default_factory=dict)
    keep_when_scripted: bool = False
    mails: list[Mail] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    passing_seconds: float = 0.0
    connections: int = 0
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        ends = (_HangUpError, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError)
        with contextlib.suppress(*ends):
            await _Talk(self, reader, writer).run()
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()


class _Talk:
    def __init__(self, server: SmtpDouble, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.encrypted = server.implicit
        self.greeted = False
        self.account: str | None = None
        self.sender: str | None = None
        self.recipients: list[str] = []

    async def run(self) -> None:
        await self.say("CONNECT", "220 mail.example ESMTP")
        while True:
            line = (await self.reader.readuntil(b"\r\n"))[:-2].decode("ascii")
            verb, _, rest = line.partition(" ")
            verb = verb.upper()
            self.server.commands.append(line if verb != "AUTH" else f"AUTH {rest.partition(' ')[0]}")
            handler = getattr(self, f"on_{verb.lower()}", None)
            if handler is None:
                await self.say(verb, "502 5.5.1 Command not implemented")
                continue
            await handler(rest)

    async def say(self, verb: str, reply: str) -> bool:
        """Answers, or does what the script has instead; tells whether the script did."""
        scripted = self.server.script.get(verb)
        while scripted == SILENCE:
            pass_time(self.server.passing_seconds)
            await asyncio.sleep(0.02)  # and again, for whoever begins to wait only now
        if scripted == DROP:
            self.writer.transport.abort()
            raise _HangUpError
        text = "\x00\x01 what?" if scripted == GARBAGE else scripted or reply
        self.writer.write(text.encode() + b"\r\n")
        await self.writer.drain()
        if text.startswith("421"):
            raise _HangUpError
        return scripted is not None

    async def on_ehlo(self, rest: str) -> None:
        if not re.fullmatch(r"[A-Za-z0-9.:\[\]-]+", rest):
            await self.say("EHLO", "501 5.5.4 Invalid name")
            return
        self.greeted = True
        lines = ["mail.example greets you", f"SIZE {self.server.size_limit}", "8BITMIME"]
        if self.server.tls and not self.encrypted:
            lines.append("STARTTLS")
        if self.encrypted or self.server.tls is None:
            lines.append("AUTH PLAIN LOGIN")
        lines.append("ENHANCEDSTATUSCODES")
        text = "\r\n".join(f"250{' ' if n == len(lines) else '-'}{line}" for n, line in enumerate(lines, 1))
        await self.say("EHLO", text)

    async def on_starttls(self, rest: str) -> None:
        if self.server.tls is None or self.encrypted:
            await self.say("STARTTLS", "454 4.7.0 TLS not available")
            return
        if await self.say("STARTTLS", "220 2.0.0 Ready"):
            return
        await self.writer.start_tls(self.server.tls)
        self.encrypted, self.greeted = True, False

    async def on_auth(self, rest: str) -> None:
        if self.server.tls is not None and not self.encrypted:
            await self.say("AUTH", "538 5.7.11 Encryption required")
            return
        method, _, initial = rest.partition(" ")
        if method.upper() == "PLAIN":
            if not initial:
                self.writer.write(b"334 \r\n")
                initial = (await self.reader.readuntil(b"\r\n"))[:-2].decode()
            _, name, password = base64.b64decode(initial).decode().split("\x00")
        elif method.upper() == "LOGIN":
            given = [initial] if initial else []
            for asked in ("VXNlcm5hbWU6", "UGFzc3dvcmQ6")[len(given) :]:
                self.writer.write(f"334 {asked}\r\n".encode())
                given.append((await self.reader.readuntil(b"\r\n"))[:-2].decode())
            name, password = (base64.b64decode(text).decode() for text in given)
        else:
            await self.say("AUTH", "504 5.5.4 Unknown method")
            return
        if (name, password) != (USERNAME, PASSWORD):
            await self.say("AUTH", "535 5.7.8 Authentication credentials invalid")
            return
        if not await self.say("AUTH", "235 2.7.0 Welcome"):
            self.account = name

    async def on_mail(self, rest: str) -> None:
        match = re.fullmatch(r"FROM:<([^<>\s]+)>(?: SIZE=(\d+))?(?: BODY=8BITMIME)?", rest)
        if not self.greeted or self.sender is not None:
            await self.say("MAIL", "503 5.5.1 Bad sequence of commands")
        elif self.server.wants_account and self.account is None:
            await self.say("MAIL", "530 5.7.0 Authentication required")
        elif match is None:
            await self.say("MAIL", "501 5.5.4 Syntax error")
        elif int(match[2] or 0) > self.server.size_limit:
            await self.say("MAIL", "552 5.3.4 Message too big")
        elif not await self.say("MAIL", "250 2.1.0 Sender ok"):
            self.sender = match[1]

    async def on_rcpt(self, rest: str) -> None:
        match = re.fullmatch(r"TO:<([^<>\s]+)>", rest)
        if self.sender is None:
            await self.say("RCPT", "503 5.5.1 MAIL first")
        elif match is None:
            await self.say("RCPT", "501 5.5.4 Syntax error")
        elif refusal := self.server.refused.get(match[1]):
            await self.say("RCPT", refusal)
        elif not await self.say("RCPT", "250 2.1.5 Recipient ok"):
            self.recipients.append(match[1])

    async def on_data(self, rest: str) -> None:
        if not self.recipients:
            await self.say("DATA", "503 5.5.1 RCPT first")
            return
        if await self.say("DATA", "354 Go ahead"):
            return
        content = bytearray()
        while (line := await self.reader.readuntil(b"\r\n")) != b".\r\n":
            if len(line) > 1000:
                await self.say("LINE", "500 5.5.2 Line too long")
                return
            content += line[1:] if line.startswith(b".") else line
        assert self.sender is not None
        mail = Mail(self.sender, tuple(self.recipients), bytes(content), self.encrypted, self.account)
        if "MESSAGE" not in self.server.script or self.server.keep_when_scripted:
            self.server.mails.append(mail)
        self.sender, self.recipients = None, []
        await self.say("MESSAGE", "250 2.0.0 Ok: queued as 4F5A6B")

    async def on_rset(self, rest: str) -> None:
        self.sender, self.recipients = None, []
        await self.say("RSET", "250 2.0.0 Ok")

    async def on_quit(self, rest: str) -> None:
        await self.say("QUIT", "221 2.0.0 Bye")
        raise _HangUpError


@contextlib.asynccontextmanager
async def serving_mail(server: SmtpDouble) -> AsyncIterator[SmtpDouble]:
    """Runs a server on a port of its own while the block runs."""
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await server.serve(reader, writer)

    context = server.tls if server.implicit else None
    listening = await asyncio.start_server(
        connected, "127.0.0.1", 0, ssl=context, ssl_shutdown_timeout=0.1 if context else None, limit=2**22
    )
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's context for 127.0.0.1, and the file that callers trust it by (`SSL_CERT_FILE`)."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail.example")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = made.public_bytes(serialization.Encoding.PEM)
    (folder / "both.pem").write_bytes(private + public)
    (folder / "trusted.pem").write_bytes(public)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return context, folder / "trusted.pem"
