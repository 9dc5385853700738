"""`email.send` against a mail server on loopback: what arrives, what is refused, and what is never sent twice."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packline import PackError
from tests.support.pack_harness import Harness, load_module, load_pack
from tests.support.smtp_server import DROP, GARBAGE, PASSWORD, SILENCE, USERNAME, SmtpDouble, certificate, serving_mail

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.failures import Failure

send = load_pack("email/send.py")
delivery = load_module("email/_delivery.py")
addresses = load_module("email/_addresses.py")
messages = load_module("email/_message.py")
MAIL = {"to": ["ada@example.org"], "subject": "Lights at sea", "text": "Fire, then glass."}


@pytest.fixture
async def server() -> AsyncIterator[SmtpDouble]:
    async with serving_mail(SmtpDouble()) as running:
        yield running


@pytest.fixture
def harness(tmp_path: Path, server: SmtpDouble) -> Harness:
    return Harness(tmp_path, credentials={"smtp": account(server)})


def account(server: SmtpDouble, **change: str) -> dict[str, str]:
    return {
        "host": "127.0.0.1",
        "port": str(server.port),
        "security": "none",
        "username": USERNAME,
        "password": PASSWORD,
        "from": "Packline <packline@example.org>",
        **change,
    }


async def failure(harness: Harness, **change: Any) -> Failure:
    with pytest.raises(PackError) as caught:
        await harness.call(send, {**MAIL, **change})
    told = json.dumps(asdict(caught.value.failure)) + json.dumps(harness.progress) + repr(harness.warnings)
    assert PASSWORD not in told
    found = caught.value.failure
    if found.code == "credential_invalid":
        assert isinstance(found.detail, dict)
        assert found.detail["credential"] == "smtp"
    return found


# ------------------------------------------------------------------------------------------------- what arrives


async def test_plain_text(harness: Harness, server: SmtpDouble) -> None:
    output = await harness.call(send, MAIL)
    (mail,) = server.mails
    assert (mail.sender, mail.recipients) == ("packline@example.org", ("ada@example.org",))
    message = mail.message
    assert message["From"] == "Packline <packline@example.org>"
    assert message["To"] == "ada@example.org"
    assert message["Subject"] == "Lights at sea"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Date"].datetime.tzinfo is not None
    assert message["Message-ID"] == output["message_id"]
    assert message.get_content() == "Fire, then glass.\n"
    assert output["accepted"] == ["ada@example.org"]
    assert output["refused"] == []
    assert "4F5A6B" in output["reply"]
    assert output["size_bytes"] == len(mail.content)
    assert server.commands[-1] == "QUIT"


async def test_markdown_in_two_forms(harness: Harness, server: SmtpDouble) -> None:
    text = "# Lights\n\nFire, *then* [glass](https://example.org).\n\n| a | b |\n|---|---|\n| 1 | 日本 |\n\n{braces}"
    await harness.call(send, {**MAIL, "text": None, "markdown": text})
    message = server.mails[0].message
    assert message.get_content_type() == "multipart/alternative"
    plain, page = message.iter_parts()
    assert plain.get_content_type() == "text/plain"
    assert plain.get_content().rstrip("\n") == text
    markup = page.get_content()
    assert "<h1>Lights</h1>" in markup
    assert '<a href="https://example.org">glass</a>' in markup
    assert "日本" in markup
    assert "{braces}" in markup
    assert "<td>1</td>" in markup


async def test_markdown_cannot_act(harness: Harness, server: SmtpDouble) -> None:
    text = "<script>alert(1)</script> [x](javascript:alert(1)) <img src=x onerror=y()>"
    await harness.call(send, {**MAIL, "text": None, "markdown": text})
    markup = list(server.mails[0].message.iter_parts())[1].get_content()
    assert "<script" not in markup
    assert 'href="javascript' not in markup
    assert "<img" not in markup


async def test_attachments_arrive_whole(harness: Harness, server: SmtpDouble) -> None:
    deck = harness.add_artifact("Vortrag über Licht.pdf", bytes(range(256)) * 300, "application/pdf")
    note = harness.add_artifact("note.md", "# Größe\n".encode(), "text/markdown; charset=utf-8")
    odd = harness.add_artifact('../e\r\nX-Evil: "1".bin', b".\r\n..\r\nend", "message/rfc822")
    given = [deck.artifact_id, note.artifact_id, odd.artifact_id, deck.artifact_id]
    await harness.call(send, {**MAIL, "text": None, "markdown": "See *there*.", "attachments": given})
    message = server.mails[0].message
    assert message.get_content_type() == "multipart/mixed"
    first, second, third = message.iter_attachments()
    assert (first.get_filename(), first.get_content_type()) == ("Vortrag über Licht.pdf", "application/pdf")
    assert first.get_payload(decode=True) == bytes(range(256)) * 300
    assert second.get_payload(decode=True) == "# Größe\n".encode()
    assert second.get_content_type() == "text/markdown"
    assert third.get_payload(decode=True) == b".\r\n..\r\nend"
    assert third.get_content_type() == "application/octet-stream"
    assert "X-Evil" not in message
    assert "/" not in (third.get_filename() or "")


async def test_copies_and_answers(harness: Harness, server: SmtpDouble) -> None:
    await harness.call(
        send,
        {
            **MAIL,
            "to": ["Ada, Countess <ada@example.org>", "ADA@example.org"],
            "cc": ["Zoë <zoe@Bücher.example>", "leo@faß.example"],
            "bcc": ["hidden@example.org"],
            "reply_to": "desk@example.org",
            "sender": "News <news@example.org>",
        },
    )
    (mail,) = server.mails
    assert mail.sender == "news@example.org"
    assert mail.recipients == (
        "ADA@example.org",
        "zoe@xn--bcher-kva.example",
        "leo@xn--fa-hia.example",
        "hidden@example.org",
    )
    message = mail.message
    assert message["To"].addresses[0].display_name == "Ada, Countess"
    assert message["Cc"].addresses[0].display_name == "Zoë"
    assert message["Reply-To"] == "desk@example.org"
    assert b"hidden" not in mail.content
    assert message["Message-ID"].endswith("@example.org>")


async def test_long_lines_and_lone_dots_survive(harness: Harness, server: SmtpDouble) -> None:
    text = ".\n..\n" + "x" * 5000 + "\nFrom here\nÜmläut 🎉\n"
    await harness.call(send, {**MAIL, "subject": "Größe 🎉 " + "lang " * 40, "text": text})
    message = server.mails[0].message
    assert message.get_content() == text
    assert message["Subject"] == ("Größe 🎉 " + "lang " * 40).strip()


# --------------------------------------------------------------------------------------------------- injection


@pytest.mark.parametrize("subject", ["a\r\nBcc: eve@example.org", "a\nb", "a\rb", "a\x00b", " ", "a\u2028b", "a\x85b"])
async def test_a_subject_is_one_line(harness: Harness, server: SmtpDouble, subject: str) -> None:
    found = await failure(harness, subject=subject)
    assert (found.code, found.field) == ("invalid_input", "subject")
    assert server.connections == 0


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ada",
        "ada@",
        "@example.org",
        "ada@exa mple.org",
        "a@b@c.org",
        "ada@example.org\r\nRCPT TO:<eve@example.org>",
        "Ada\r\nBcc: eve@example.org <ada@example.org>",
        "ada@example.org, eve@example.org",
        "ada@example.org> SIZE=1",
        "<ada@example.org><eve@example.org>",
        "ada..b@example.org",
        ".ada@example.org",
        "ada@-example.org",
        "ada@[127.0.0.1]",
        "ädä@example.org",
        "\x00@example.org",
        "x" * 101 + " <ada@example.org>",
    ],
)
@pytest.mark.parametrize("field", ["to", "reply_to"])
async def test_what_is_not_one_address_is_refused(
    harness: Harness, server: SmtpDouble, address: str, field: str
) -> None:
    found = await failure(harness, **{field: [address] if field == "to" else address})
    assert (found.code, found.field) == ("invalid_input", field)
    assert server.connections == 0


@pytest.mark.parametrize(
    "change",
    [
        {"to": []},
        {"text": None},
        {"text": " "},
        {"markdown": "also"},
        {"to": [f"a{n}@example.org" for n in range(30)], "bcc": [f"b{n}@example.org" for n in range(30)]},
    ],
)
async def test_input_that_makes_no_message(harness: Harness, server: SmtpDouble, change: dict[str, Any]) -> None:
    assert (await failure(harness, **change)).code == "invalid_input"
    assert server.connections == 0


async def test_too_much_to_attach(harness: Harness, server: SmtpDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_module("email/send.py"), "MAX_ATTACHMENT_BYTES", 10)
    ref = harness.add_artifact("a.bin", bytes(11))
    found = await failure(harness, attachments=[ref.artifact_id])
    assert (found.code, found.field) == ("invalid_input", "attachments")
    assert server.connections == 0


TEXTS = st.one_of(
    st.text(max_size=80), st.from_regex(r"[^@<>]{0,20}<?[^@<>]{1,20}@[^@<>]{1,20}>?(\r\n.*)?", fullmatch=True)
)


@given(TEXTS)
def test_whatever_is_given_an_address_is_one_address_and_no_header(text: str) -> None:
    try:
        address = addresses.parse_address(text)
    except ValueError:
        return
    assert re.fullmatch(r"[\x21-\x7e]+@[a-z0-9.-]+", address.spec)
    assert not set(address.spec) & set(' <>,;:"()[]\\\r\n')
    assert not addresses.has_control(address.name)


@given(TEXTS, st.text(max_size=300), st.text(max_size=200))
def test_whatever_is_written_no_header_is_added(name: str, subject: str, text: str) -> None:
    try:
        to = addresses.parse_address(f"{name} <ada@example.org>")
    except ValueError:
        to = addresses.parse_address("ada@example.org")
    subject = "x" if addresses.has_control(subject) or not subject.strip() else subject
    parts = messages.Parts("<1@example.org>", to, [to], [], None, subject, text, None, [])
    headers = messages.compose(parts).partition(b"\r\n\r\n")[0].decode("ascii")
    names = [line.partition(":")[0] for line in headers.split("\r\n") if line[:1] not in (" ", "\t")]
    mime = ["Content-Type", "Content-Transfer-Encoding", "MIME-Version"]
    assert sorted(names) == sorted(["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", *mime])


# --------------------------------------------------------------------------------------------------- recipients


async def test_one_refused_recipient_keeps_everything_back(harness: Harness, server: SmtpDouble) -> None:
    server.refused["eve@example.org"] = "550 5.1.1 No such user"
    found = await failure(harness, cc=["eve@example.org"])
    assert (found.code, found.field) == ("invalid_input", "to")
    assert "eve@example.org: SMTP 550" in found.message
    assert "Nothing was sent" in found.message
    assert "leave_out_refused" in (found.hint or "")
    assert isinstance(found.detail, dict)
    assert found.detail["refused"][0]["address"] == "eve@example.org"  # type: ignore[index,call-overload]
    assert server.mails == []


async def test_the_refused_can_be_left_out(harness: Harness, server: SmtpDouble) -> None:
    server.refused["eve@example.org"] = "550 5.1.1 No such user"
    output = await harness.call(send, {**MAIL, "cc": ["eve@example.org"], "leave_out_refused": True})
    assert output["accepted"] == ["ada@example.org"]
    assert (output["refused"][0]["address"], output["refused"][0]["code"]) == ("eve@example.org", 550)
    assert any("eve@example.org was left out" in warning for warning in harness.warnings)
    assert server.mails[0].recipients == ("ada@example.org",)


async def test_nobody_left(harness: Harness, server: SmtpDouble) -> None:
    server.refused["ada@example.org"] = "550 5.1.1 No such user"
    assert (await failure(harness, leave_out_refused=True)).code == "invalid_input"
    server.refused["ada@example.org"] = "450 4.2.1 Greylisted, come back later"
    found = await failure(harness)
    assert (found.code, found.retryable) == ("upstream_unavailable", True)
    assert server.mails == []


# ---------------------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("verb", "reply", "code"),
    [
        ("CONNECT", "421 4.3.2 Too busy", "upstream_unavailable"),
        ("CONNECT", "554 5.7.1 Go away", "upstream_unavailable"),
        ("CONNECT", DROP, "upstream_unavailable"),
        ("CONNECT", GARBAGE, "upstream_unavailable"),
        ("EHLO", DROP, "upstream_unavailable"),
        ("AUTH", "535 5.7.8 Wrong", "credential_invalid"),
        ("AUTH", "534 5.7.9 Use an app password", "credential_invalid"),
        ("AUTH", "454 4.7.0 Try later", "upstream_unavailable"),
        ("AUTH", DROP, "upstream_unavailable"),
        ("MAIL", "451 4.3.0 Later", "upstream_unavailable"),
        ("MAIL", "553 5.7.1 Not your address", "credential_invalid"),
        ("MAIL", "552 5.3.4 Too big", "resource_exhausted"),
        ("MAIL", DROP, "upstream_unavailable"),
        ("RCPT", "421 4.7.0 Closing", "upstream_unavailable"),
        ("RCPT", DROP, "upstream_unavailable"),
        ("DATA", "451 4.3.0 Later", "upstream_unavailable"),
        ("DATA", "554 5.5.1 No valid recipients", "invalid_input"),
        ("MESSAGE", "451 4.3.0 Later", "upstream_unavailable"),
        ("MESSAGE", "554 5.7.1 Looks like spam", "invalid_input"),
        ("MESSAGE", "552 5.3.4 Too big", "resource_exhausted"),
        ("MESSAGE", DROP, "outcome_unknown"),
        ("MESSAGE", GARBAGE, "outcome_unknown"),
        ("MESSAGE", "354 What?", "outcome_unknown"),
    ],
)
async def test_each_fault(harness: Harness, server: SmtpDouble, verb: str, reply: str, code: str) -> None:
    server.script[verb] = reply
    found = await failure(harness)
    assert found.code == code
    assert ("Nothing was sent" in found.message) == (code != "outcome_unknown")
    assert found.retryable == (code == "upstream_unavailable")
    assert server.mails == []


@pytest.mark.parametrize("verb", ["CONNECT", "AUTH", "RCPT", "DATA", "MESSAGE"])
async def test_silence(harness: Harness, server: SmtpDouble, verb: str) -> None:
    server.script[verb] = SILENCE
    server.passing_seconds = max(delivery.CONNECT_SECONDS, delivery.COMMAND_SECONDS, delivery.MESSAGE_SECONDS)
    code = (await failure(harness)).code
    # The library sends DATA and the message in one go, so from there on nobody knows.
    assert code == ("outcome_unknown" if verb in ("DATA", "MESSAGE") else "timeout")


async def test_a_farewell_that_fails_changes_nothing(harness: Harness, server: SmtpDouble) -> None:
    server.script["QUIT"] = DROP
    assert (await harness.call(send, MAIL))["accepted"] == ["ada@example.org"]


async def test_a_message_larger_than_the_server_takes_is_not_begun(harness: Harness, server: SmtpDouble) -> None:
    server.size_limit = 300
    found = await failure(harness)
    assert (found.code, found.field) == ("resource_exhausted", "attachments")
    assert not any(command.startswith("MAIL") for command in server.commands)


async def test_nobody_there(harness: Harness) -> None:
    harness.credentials["smtp"]["port"] = "1"
    found = await failure(harness)
    assert found.code == "upstream_unavailable"
    assert "refuses connections" in found.message


async def test_no_such_host(harness: Harness) -> None:
    harness.credentials["smtp"]["host"] = "no-such-host.invalid"
    assert (await failure(harness)).code == "upstream_unavailable"


# ------------------------------------------------------------------------------------------------------- repeats


async def test_a_repeat_can_be_recognised_by_its_message_id(harness: Harness, server: SmtpDouble) -> None:
    server.script["MESSAGE"], server.keep_when_scripted = DROP, True
    assert (await failure(harness)).code == "outcome_unknown"
    server.script.clear()
    await harness.call(send, MAIL)
    first, second = (mail.message["Message-ID"] for mail in server.mails)
    assert first == second


def test_it_is_never_repeated_by_itself() -> None:
    assert (send.effects, send.at_most_once, send.takes_idempotency_key) == ("external", True, False)


# --------------------------------------------------------------------------------------------------- credentials


async def test_no_credential(harness: Harness, server: SmtpDouble) -> None:
    harness.credentials.clear()
    assert (await failure(harness)).code == "credential_invalid"


async def test_a_wrong_password(harness: Harness, server: SmtpDouble) -> None:
    harness.credentials["smtp"]["password"] = "tr0ub4dor&3-tr0ub4dor"
    found = await failure(harness)
    assert found.code == "credential_invalid"
    assert "535" in found.message
    assert "tr0ub4dor" not in json.dumps(asdict(found))


async def test_no_account_where_none_is_wanted(harness: Harness, server: SmtpDouble) -> None:
    server.wants_account = False
    del harness.credentials["smtp"]["username"], harness.credentials["smtp"]["password"]
    await harness.call(send, MAIL)
    assert server.mails[0].signed_in_as is None
    assert harness.warnings == []
    server.wants_account = True
    assert (await failure(harness)).code == "credential_invalid"


async def test_an_unencrypted_password_is_a_warning(harness: Harness, server: SmtpDouble) -> None:
    await harness.call(send, MAIL)
    assert "unencrypted" in harness.warnings[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("host", ""),
        ("host", "mail example"),
        ("host", "mail\r\nx"),
        ("port", "0"),
        ("port", "smtp"),
        ("security", "ssl"),
        ("from", "nobody"),
        ("from", "a@b.org\r\nBcc: c@d.org"),
        ("password", ""),
    ],
)
async def test_an_incomplete_credential_names_its_field(
    harness: Harness, server: SmtpDouble, name: str, value: str
) -> None:
    harness.credentials["smtp"][name] = value
    found = await failure(harness)
    assert found.code == "credential_invalid"
    assert f"`{name}`" in found.message
    assert server.connections == 0


async def test_an_account_without_an_address_needs_a_sender(harness: Harness, server: SmtpDouble) -> None:
    del harness.credentials["smtp"]["from"]
    assert (await failure(harness)).code == "credential_invalid"
    assert (await harness.call(send, {**MAIL, "sender": "news@example.org"}))["sender"] == "news@example.org"


# ----------------------------------------------------------------------------------------------------------- TLS


@pytest.mark.parametrize("implicit", [False, True], ids=["starttls", "tls"])
async def test_encrypted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, implicit: bool) -> None:
    context, trusted = certificate(tmp_path)
    async with serving_mail(SmtpDouble(tls=context, implicit=implicit)) as server:
        harness = Harness(tmp_path, credentials={"smtp": account(server, security="tls" if implicit else "starttls")})
        assert "certificate was not accepted" in (await failure(harness)).message
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        await harness.call(send, MAIL)
        assert server.mails[0].encrypted
        assert server.mails[0].signed_in_as == USERNAME
        assert harness.warnings == []


async def test_a_server_that_cannot_encrypt_gets_no_password(harness: Harness, server: SmtpDouble) -> None:
    harness.credentials["smtp"]["security"] = "starttls"
    found = await failure(harness)
    assert found.code == "credential_invalid"
    assert "STARTTLS" in found.message
    assert not any(command.startswith("AUTH") for command in server.commands)


async def test_a_server_that_speaks_no_tls(harness: Harness, server: SmtpDouble) -> None:
    harness.credentials["smtp"]["security"] = "tls"
    assert (await failure(harness)).code == "upstream_unavailable"
    assert server.mails == []
