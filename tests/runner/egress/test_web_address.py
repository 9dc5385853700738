from __future__ import annotations

import re
from dataclasses import replace

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runner.egress.policy import origin_of
from runner.egress.web_address import (
    OtherSchemeError,
    WebAddressError,
    has_url_credentials,
    is_web_address,
    read_ssh_address,
    read_web_address,
    read_web_host,
    without_account,
)
from runner.schemas.formats import is_of_format

#: What addresses are made of, and what breaks readers of them.
PIECES = st.sampled_from(
    [
        *(
            "http://",
            "HTTPS://",
            "//",
            "/",
            "..",
            "/./",
            "%2e%2E",
            "%",
            "%41",
            "%zz",
            "?",
            "#",
            ":",
            "@",
            "[",
            "]",
            "\\",
        ),
        *(
            "a",
            "example.org",
            "m\u00fcnchen",
            "\uff4co\uff43al",
            "xn--",
            "xn--mnchen-3ya",
            "127.0.0.1",
            "0x7f.1",
            "::1",
        ),
        *(":80", ":0", ":65536", ".", "\u3002", "-", "_", " ", "\t", "\n", "\x00", "\u200b", "|", '"', "<", ">", "'"),
        *("\u2603", "\ufb01", "\u00df", "\u05d0", "\u0661", "\ud800", "\U0001f600", "\u2100", "fe80::1%eth0", "&=+;"),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=9).map("".join), st.lists(PIECES).map("http://".join))


@pytest.mark.parametrize(
    ("pasted", "read"),
    [
        ("http://a", "http://a/"),
        ("https://host.example/v1?x=1", "https://host.example/v1?x=1"),
        ("http://127.0.0.1:8420", "http://127.0.0.1:8420/"),
        ("https://[::1]:443/", "https://[::1]/"),
        ("http://[2001:DB8:0::0001]:80/a", "http://[2001:db8::1]/a"),
        ("HTTPS://A.EXAMPLE./x", "https://a.example/x"),
        ("http://a:/", "http://a/"),
        ("http://host/M\u00fcnchen", "http://host/M%C3%BCnchen"),
        ("http://host/M%C3%BCnchen", "http://host/M%C3%BCnchen"),
        ("http://host/a%2Fb%c3%bc%zz%", "http://host/a%2Fb%c3%bc%zz%"),
        ('http://host/a b|c"d?q=x y&z=\u00e4|"#part', "http://host/a%20b%7Cc%22d?q=x%20y&z=%C3%A4%7C%22"),
        ("http://host/?a[b]=c'(d)", "http://host/?a[b]=c'(d)"),
        ("http://m\u00fcnchen.example/", "http://xn--mnchen-3ya.example/"),
        ("http://M\u00dcNCHEN\u3002example/", "http://xn--mnchen-3ya.example/"),
        ("http://m%C3%BCnchen.example/", "http://xn--mnchen-3ya.example/"),
        ("http://xn--mnchen-3ya.example/", "http://xn--mnchen-3ya.example/"),
        ("http://fa\u00df.example", "http://xn--fa-hia.example/"),
        ("http://a_b.m\u00fcnchen.example", "http://a_b.xn--mnchen-3ya.example/"),
        ("http://\uff11\uff12\uff17.0.0.1/", "http://127.0.0.1/"),
        ("http://a/b/../c/./d/%2E%2e/e/..", "http://a/c/"),
        ("http://a/../../b", "http://a/b"),
        (" \u200b<https://a.example/b>\ufeff\n", "https://a.example/b"),
        ("http://ada:s%20 cret@host/", "http://ada:s%20%20cret@host/"),
        ("http://host/\\..\\x", "http://host/%5C..%5Cx"),
    ],
)
def test_what_is_pasted_is_read_as_browsers_read_it(pasted: str, read: str) -> None:
    assert read_web_address(pasted).url == read
    assert is_of_format(pasted, "uri")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        (" \t", "it is empty"),
        ("host.example", "it does not begin with https:// or http://"),
        ("mailto:a@b.c", "it does not begin with https:// or http://"),
        ("http:/host/path", "it does not begin with https:// or http://"),
        ("ftp://host", "only http and https are supported, not `ftp`"),
        ("file:///etc/passwd", "only http and https are supported, not `file`"),
        ("https://", "it has no host"),
        ("http:///path", "it has no host"),
        ("http://:80/", "it has no host"),
        ("http://a:0", "port 0 is not within 1 to 65535"),
        ("http://a:000/x", "port 000 is not within 1 to 65535"),
        ("http://a:65536", "port 65536 is not within 1 to 65535"),
        ("http://a:99999999999999", "port 99999999999999 is not within 1 to 65535"),
        ("http://a:b/", "what follows `//` is not a host with or without a port"),
        ("http://[::1", "what follows `//` is not a host with or without a port"),
        ("http://[::1]x/", "what follows `//` is not a host with or without a port"),
        ("http://[::g]/", "`[::g]` is not an IPv6 address"),
        ("http://[fe80::1%eth0]/", "`[fe80::1%eth0]` is not an IPv6 address"),
        ("http://127.1/", "`127.1` is neither a host name nor an IP address"),
        ("http://2130706433/", "`2130706433` is neither a host name nor an IP address"),
        ("http://0x7f.0.0.1/", "`0x7f.0.0.1` is neither a host name nor an IP address"),
        ("http://010.0.0.1/", "`010.0.0.1` is neither a host name nor an IP address"),
        ("http://a b/", "`a b` is not a host name"),
        ("http://a\\b/", "`a\\b` is not a host name"),
        ("http://a%2Fb/", "`a%2Fb` is not a host name"),
        ("http://\u2603.example/", "`\u2603.example` is not a host name"),
        ("http://a..b/", "`a..b` is not a host name"),
        ("http://a/\nhttp://b/", "it contains a line break or another control character"),
        ("http://a/\ud800", "it contains a line break or another control character"),
        (f"http://a/{'b' * 70_000}", "it is longer than 65,536 characters"),
    ],
)
def test_what_leads_nowhere_says_why(text: str, reason: str) -> None:
    with pytest.raises(WebAddressError) as caught:
        read_web_address(text)

    assert caught.value.reason == reason
    assert caught.value.hint
    assert not is_web_address(text)
    str(caught.value).encode()


def test_other_schemes_are_told_apart() -> None:
    with pytest.raises(OtherSchemeError):
        read_web_address("ftp://host")


@pytest.mark.parametrize("text", ["http://ada@host:0", "http://ada:secret@ho st", "http://:secret@"])
def test_a_password_stays_out_of_the_message(text: str) -> None:
    with pytest.raises(WebAddressError) as caught:
        read_web_address(text)

    assert "ada" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["http://ada@host", "http://ada:secret@host", "http://:secret@host", "http://@host"])
def test_accounts_are_noticed(text: str) -> None:
    assert read_web_address(text).account is not None


def test_links_keep_their_part_of_the_page_and_requests_do_not() -> None:
    address = read_web_address("http://host/a?b#c \u00e4")

    assert (address.url, address.href) == ("http://host/a?b", "http://host/a?b#c%20%C3%A4")
    assert read_web_address(address.href) == address


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        (
            "http://xn--mnchen-3ya.example/M%C3%BCnchen%20am?q=%E7%81%AF",
            "http://m\u00fcnchen.example/M\u00fcnchen%20am?q=\u706f",
        ),
        ("http://xn--a/%FF%E2%80%AE%C2%A0x%2F", "http://xn--a/%FF%E2%80%AE%C2%A0x%2F"),
        ("http://ada:s%C3%BC@host/", "http://host/"),
        ("http://xn--n3h.example/", "http://xn--n3h.example/"),
    ],
)
def test_people_read_letters(text: str, readable: str) -> None:
    assert read_web_address(text).readable == readable


@pytest.mark.parametrize(
    ("location", "read"),
    [
        ("/M\u00fcnchen am Abend", "http://host/M%C3%BCnchen%20am%20Abend"),
        ("../c?d", "http://host/c?d"),
        ("//m\u00fcnchen.example", "http://xn--mnchen-3ya.example/"),
        ("https://host:443/x", "https://host/x"),
        ("?", "http://host/a/b"),
        ("\\\\other.example\\x", "http://host/a/%5C%5Cother.example%5Cx"),
    ],
)
def test_redirects_lead_on_from_where_they_were_sent(location: str, read: str) -> None:
    assert read_web_address(location, base="http://host/a/b").url == read


@given(TEXTS)
@example("http://a/%2e%2E/..")
@example("http://[::ffff:1.2.3.4]")
def test_reading_has_one_result_which_requests_share(text: str) -> None:
    try:
        address = read_web_address(text)
    except WebAddressError as error:
        str(error).encode()
        return
    assert address.url.isascii()
    assert read_web_address(address.href) == address
    assert read_web_address(address.url) == replace(address, fragment=None)
    address.readable.encode()
    assert origin_of(text) == (address.scheme, address.host, address.port)
    assert read_web_host(address.host) == address.host
    requested = httpx2.URL(address.url)
    assert (requested.scheme, requested.raw_host.decode()) == (address.scheme, address.host)
    assert (requested.port or {"http": 80, "https": 443}[address.scheme]) == address.port
    query = "" if address.query is None else f"?{address.query}"
    assert requested.raw_path.decode() == f"{address.path}{query}"


@given(TEXTS)
def test_redirects_raise_nothing_else(location: str) -> None:
    try:
        assert read_web_address(location, base="https://host.example/a").url.isascii()
    except WebAddressError as error:
        str(error).encode()


@given(TEXTS)
def test_ssh_addresses_raise_nothing_else_and_keep_their_meaning(text: str) -> None:
    for given_text in (text, f"ssh://{text}", f"git@{text}"):
        try:
            address = read_ssh_address(given_text)
        except WebAddressError as error:
            str(error).encode()
            continue
        if address is not None:
            assert read_ssh_address(address.url) == address
            assert not address.user.startswith("-")
            assert not address.host.startswith("-")
            assert not address.path.startswith("-")


@given(TEXTS)
def test_hosts_raise_nothing_else(text: str) -> None:
    try:
        assert read_web_host(read_web_host(text)) == read_web_host(text)
    except WebAddressError as error:
        str(error).encode()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://me:secret@git.example/a.git", True),
        (" <HTTPS://token@git.example/a> ", True),
        ("ssh://git:secret@git.example/a.git", True),
        ("ssh://git@git.example/a.git", False),
        ("git@git.example:a.git", False),
        ("https://git.example/@me:x@y", False),
        ("https://git.example/?to=me:x@y", False),
        ("Clone https://me:secret@git.example/a.git", False),
        ("https://me:secret@git.example/a b.git", True),
        ("<https://me:secret@git.example/ >", True),
        ("https://me:secret@git .example/", True),
        ("git+https://token@git.example/a.git", True),
        ("git+ssh://git:secret@git.example/a.git", True),
        ("git+ssh://git@git.example/a.git", False),
        ("postgresql://me:secret@db/runs", True),
        ("postgresql://me@db/runs", False),
        ("redis://:secret@cache:6379/0", True),
        ("wss://me:secret@host/live", True),
        ("https://tea.example: send a summary to ann@tea.example", False),
        ("https://tea.example:8443 ask ann@tea.example", False),
        ("https://tea.example\nann@tea.example", False),
        ("https://bob:PW @host/x", True),
        ("https:// bob:PW@host/x", True),
        ("https://bob:P W@host/x", True),
        ("https://bob:P\tW@host/x", True),
        ("ht\ntps://bob:PW@host/x", True),
        ("https:\\\\bob:PW@host/x", True),
        ("//bob:PW@host/x", True),
        ("https%3A%2F%2Fbob%3APW%40host%2Fx", True),
        ("https%253A%252F%252Fbob%253APW%2540host", True),
        ("ssh://git%3Asecret@host/x", True),
        ("bob:PW@host/x", True),
        ("bob:PW@host:8080", True),
        ("bob:PW@10.0.0.1/x", True),
        ("from:ann@tea.example", False),
        ("mailto:ann@tea.example/x", False),
        ("xmpp:ann@tea.example/phone", False),
        ("npm:react@18.2.0/x", False),
        ("nginx:1.25@sha256:00d21a3fc1e2", False),
    ],
)
def test_a_url_with_credentials_is_recognised(text: str, found: bool) -> None:
    assert has_url_credentials(text) is found
    if found:
        assert not re.search("secret|PW|P.?W|token", without_account(text))


@pytest.mark.parametrize("text", ["ann@tea.example", "ann@@tea.example", "git@git.example:a.git", "50 % of ann"])
def test_what_is_no_account_is_quoted(text: str) -> None:
    assert without_account(text) == text
