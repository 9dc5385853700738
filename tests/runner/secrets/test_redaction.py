from __future__ import annotations

import base64
import json
import random
import string
import textwrap
from unittest.mock import patch
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.excerpts import excerpt, in_force
from runner.secrets.forms import SecretTooShortError, forms_of
from runner.secrets.pieces import _extended
from runner.secrets.redaction import Redactor

AWKWARD = 'Zq9/+vault secret"42ü\\'
KEY = (
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
    "-----END PRIVATE KEY-----"
)
UNKNOWN_KEY = KEY.replace(" PRIVATE", " RSA PRIVATE").replace("MII", "AAA").replace("\nBKc", "\nCCC")
SECRETS = {
    "ghost": AWKWARD,
    "plain": "hunter2hunter2",
    "lines": "first line of it\nsecond line, longer\nthird",
    "overlap": "hunter2-and-more",
    "key": KEY,
}
TOKENS = {
    "github_token": "ghp_" + "a1B2" * 9,
    "gitlab_token": "glpat-" + "x" * 20,
    "api_key": "sk-ant-api03-" + "abcDEF_-9" * 5,
    "stripe_key": "sk_live_" + "a1" * 12,
    "slack_token": "xoxb-1234567890-abcdefghij",
    "aws_key_id": "AKIAIOSFODNN7EXAMPLE",
    "google_key": "AIza" + "Sy_-1" * 7,
    "google_token": "ya29." + "a0-_" * 10,
    "huggingface_token": "hf_" + "aB3" * 11,
    "npm_token": "npm_" + "aB3" * 12,
    "sendgrid_key": "SG." + "a" * 22 + "." + "b" * 43,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
}
redactor = Redactor(SECRETS)
unarmed = Redactor()


@pytest.mark.parametrize(("name", "token"), TOKENS.items())
def test_tokens_are_known_by_their_shape(name, token):
    for text in (f"key={token}&x", f'{{"a":"{token}"}}', f"({token})", token):
        assert unarmed.text(text) == text.replace(token, f"[redacted:{name}]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc-def.12345", "Authorization: Bearer [redacted:authorization]"),
        ("authorization: basic dXNlcjpwYXNzd29yZA==", "authorization: basic [redacted:authorization]"),
        ('{"Authorization": "Bearer ya30_0123456789a"}', '{"Authorization": "Bearer [redacted:authorization]"}'),
        ("git clone https://me:pa55@host/x.git", "git clone https://[redacted:url_password]@host/x.git"),
        ("https://[redacted:url_password]@host/", "https://[redacted:url_password]@host/"),
        ("postgres://:pw@db/x", "postgres://[redacted:url_password]@db/x"),
        ("POST https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXX", "POST https://hooks.slack.com/services/[redacted:slack_webhook]"),
        (f"a\n{KEY}\nb", "a\n[redacted:private_key]\nb"),
        (json.dumps({"k": KEY}), '{"k": "[redacted:private_key]"}'),
        (KEY[:70] + '" cut', '[redacted:private_key]" cut'),
    ],
)  # fmt: skip
def test_secrets_are_known_by_what_stands_around_them(text, expected):
    assert unarmed.text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a task-list-for-2026-and-all-that-comes-after, disk-0123456789-0123456789",
        "sk-learn-compatible-estimators-everywhere",
        "the bearer of certificate-of-authenticity",
        "Bearer responsibilities",
        "mail me@example.org about https://example.org/a:b/c?d=e@f",
        "AKIAIOSFODNN7EXAMPLES is one letter too long",
        "eyJ is how base64 of JSON starts, ghp_short, xoxb-, SG.no.thing",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "http://localhost:8080/@user",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert unarmed.text(text) is text
    value = {"text": [text]}
    assert unarmed.value(value) is value


def encodings(secret: str):
    data = secret.encode()
    yield from (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1])
    yield json.dumps(json.dumps(secret))[3:-3]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield from (data.hex(), data.hex().upper())


@pytest.mark.parametrize("name", SECRETS)
def test_known_values_are_masked_in_every_form(name):
    secret = SECRETS[name]
    for form in encodings(secret):
        masked = redactor.text(f"before {form} after")
        assert masked.startswith("before [redacted:")
        assert masked.endswith("] after")
        assert form not in masked
    for before in ("", "a", "ab"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(f"{before}{secret}zz".encode()).decode()
            masked = redactor.text(text)
            assert f"[redacted:{name}]" in masked
            # At most the characters whose bits are shared with a neighbour are left.
            left = masked.replace(f"[redacted:{name}]", "")
            assert len(left) <= 4 + 4 + 4


def test_overlapping_secrets_leave_nothing_of_each_other():
    both = Redactor({"one": "abcdefgh12", "two": "gh12345678"})
    assert both.text("-abcdefgh12345678-") == "-[redacted:one]-"
    assert both.text("abcdefgh12 gh12345678") == "[redacted:one] [redacted:two]"


def test_the_name_of_a_value_says_more_than_its_shape():
    token = TOKENS["github_token"]
    assert Redactor({"github.token": token}).text(f"Use {token}.") == "Use [redacted:github.token]."


def test_long_lines_of_a_multi_line_secret_are_masked_alone():
    assert redactor.text("> second line, longer <") == "> [redacted:lines] <"
    assert redactor.text("third") == "third"
    assert redactor.text("first line of it\r\nsecond line, longer\r\nthird") == "[redacted:lines]"


def test_short_secrets_are_refused():
    with pytest.raises(SecretTooShortError, match="`pin` has 7 characters"):
        Redactor({"pin": "1234567"})


def test_keys_and_values_are_masked_and_keys_stay_apart():
    value = {
        "hunter2hunter2": 1,
        "https://a:b2@c/": [{"deep": f"say {AWKWARD}!"}, 3, None, True, 1.5],
        "x hunter2hunter2": {"hunter2-and-more": 1, "[redacted:overlap]": 2},
        "quiet": ["same"],
    }
    masked = redactor.value(value)
    assert masked == {
        "[redacted:plain]": 1,
        "https://[redacted:url_password]@c/": [{"deep": "say [redacted:ghost]!"}, 3, None, True, 1.5],
        "x [redacted:plain]": {"[redacted:overlap]#2": 1, "[redacted:overlap]": 2},
        "quiet": ["same"],
    }
    assert masked["quiet"] is value["quiet"]
    assert value["hunter2hunter2"] == 1


def test_what_cannot_be_serialised_is_still_masked():
    deep: dict = {"s": "hunter2hunter2"}
    for _ in range(300):
        deep = {"d": deep}
    assert "hunter2hunter2" not in str(redactor.value(deep))
    assert redactor.value({"n": 2**70, "s": "hunter2hunter2"}) == {"n": 2**70, "s": "[redacted:plain]"}
    assert redactor.value(["\ud800 hunter2hunter2"]) == ["? [redacted:plain]"]


pieces = st.one_of(
    st.sampled_from([*TOKENS.values(), UNKNOWN_KEY, UNKNOWN_KEY[:90], *SECRETS.values()]),
    st.sampled_from([form for secret in SECRETS.values() for form in sorted(forms_of(secret))]),
    st.sampled_from(
        ["https://me:pa55w0rd@host/", "Authorization: Bearer abcdefgh1", "-----BEGIN ", "-----", " ", "\n"]
    ),
    st.text(alphabet='abgh_-sk1 \n"\\:/@eyJ.üBEGIN', max_size=12),
    st.integers(0, 60).map(lambda n: "x" * n),
)
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts, st.data())
def test_a_stream_does_not_depend_on_its_parts(text, data):
    whole = redactor.text(text)
    stream = redactor.stream()
    out, rest = "", text
    while rest:
        size = data.draw(st.one_of(st.integers(1, 4), st.integers(1, 200)))
        out += stream.feed(rest[:size])
        rest = rest[size:]
    assert out + stream.close() == whole


@given(texts)
def test_nothing_known_survives(text):
    masked = redactor.text(text)
    assert not [form for secret in SECRETS.values() for form in forms_of(secret) if form in masked]


@given(st.lists(pieces, max_size=12).map(" ".join))
def test_masking_twice_is_masking_once(text):
    masked = redactor.text(text)
    assert redactor.text(masked) == masked


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(json_values)
def test_the_quick_check_misses_nothing(value):
    assert redactor.value(value) == redactor._walk(value, redactor.text)


def test_a_stream_waits_no_longer_than_it_must():
    stream = redactor.stream()
    assert stream.feed("a line\n") == "a line\n"
    assert stream.feed("half a wo") == "half a "
    assert stream.feed("rd, first line") == "word, "
    assert stream.feed(" of nothing ") == "first line of nothing "
    assert stream.feed("-----BEGIN RSA ") == ""
    assert stream.feed("PRIVATE KEY-----\nabc\n") == ""
    assert stream.feed("def\n-----END RSA PRIVATE KEY-----\n") == "[redacted:private_key]\n"
    assert stream.close() == ""
    assert len(stream.feed("y" * 100_000)) > 80_000
    assert stream.close() == "y" * (100_000 - 83_616)


def test_long_runs_without_a_break_do_not_depend_on_parts_either():
    jwt = "eyJ" + "a" * 2500 + ".eyJ" + "b" * 7500 + "." + "c" * 500
    text = "z" * 20_000 + "/" + jwt + "/" + "z" * 30_000 + SECRETS["plain"] + "z" * 17_000
    stream = redactor.stream()
    parts = [stream.feed(text[at : at + 997]) for at in range(0, len(text), 997)] + [stream.close()]
    assert "".join(parts) == redactor.text(text)
    assert redactor.text(text).count("[redacted:") == 2


LONG = "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=124))
knows_long = Redactor({"long": LONG})


def left_of_long(shown: str) -> list[str]:
    return [piece for start in range(len(LONG) - 7) if (piece := LONG[start : start + 8]) in shown]


@pytest.mark.parametrize(("rest", "step"), [(400, 1), (70_000, 53), (200_000, 53)])
def test_an_excerpt_shows_no_piece_of_a_secret_wherever_it_stands(rest, step):
    for beside in range(150, 310, step):
        ways = [("x" * beside + LONG + "y" * rest, False), ("y" * rest + LONG + "x" * beside, True)]
        for text, from_end in ways:
            shown = knows_long.excerpt(text, 300, from_end=from_end)
            assert len(shown) == 300
            assert left_of_long(shown) == []
            with in_force(knows_long):
                assert excerpt(text, 300, from_end=from_end) == shown


@given(texts, st.integers(8, 200), st.integers(1, 90))
def test_an_excerpt_of_a_long_text_is_the_beginning_of_the_masked_text(text, limit, part):
    masked = redactor.text(text)
    expected = masked if len(masked) <= limit else masked[: limit - 1] + "…"
    with patch("runner.secrets.redaction._PART_CHARACTERS", part):
        assert redactor.excerpt(text, limit) == expected
    assert redactor.excerpt(text, limit) == expected


def test_an_excerpt_is_as_long_as_is_asked_for():
    assert knows_long.excerpt("a" * 10, 10) == "a" * 10
    assert knows_long.excerpt("a" * 11, 10) == "a" * 9 + "…"
    assert knows_long.excerpt("a" * 11, 10, ending="") == "a" * 10
    assert knows_long.excerpt("b" + "a" * 10, 10, from_end=True) == "…" + "a" * 9
    assert knows_long.excerpt(LONG, 10, ending="") == "[redacted:"


def test_an_excerpt_is_masked_by_every_server_of_the_process():
    text = f"{LONG} and hunter2hunter2"
    with in_force(knows_long):
        assert excerpt(text, 100) == "[redacted:long] and hunter2hunter2"
        with in_force(Redactor({"plain": "hunter2hunter2"})):
            assert excerpt(text, 100) == "[redacted:long] and [redacted:plain]"
        assert excerpt(text, 20) == "[redacted:long] and…"
    assert excerpt(text, 200) == text


@pytest.mark.parametrize("length", [16, 17, 60, 123])
def test_what_others_cut_of_a_secret_is_masked_in_what_they_say(length):
    for piece in (LONG[:length], LONG[-length:]):
        for text in (piece, f"It said {piece}.", f"[input_value='{piece}...']"):
            assert knows_long.quoted({"a": [text]}) == {"a": [text.replace(piece, "[redacted:long]")]}
            assert knows_long.excerpt(text, 200) == text.replace(piece, "[redacted:long]")
    assert knows_long.quoted(f"{LONG[:length]}...{LONG[-length:]}") == "[redacted:long]...[redacted:long]"


def test_short_pieces_and_outputs_are_left_alone():
    assert knows_long.quoted(LONG[:15]) == LONG[:15]
    assert knows_long.quoted(LONG[20:35]) == LONG[20:35]
    assert knows_long.value(LONG[:60]) == LONG[:60]
    assert Redactor({"short": "production-key-1"}).quoted("production-key-2 in production") == (
        "production-key-2 in production"
    )


@pytest.mark.parametrize("start", range(0, 100, 3))
def test_pieces_from_the_middle_are_masked(start):
    for length in (16, 20, 23):
        piece = LONG[start : start + length]
        for shown in (piece, piece.upper(), f"x{piece}x", f"{piece}{LONG[1:40]}"):
            assert left_of_long(knows_long.quoted(shown)) == []
    windows = f"near {LONG[start : start + 20]} … {LONG[start + 2 : start + 24]} …"
    assert knows_long.quoted(windows) == "near [redacted:long] … [redacted:long] …"


def test_wrapped_and_encoded_pieces_are_masked():
    wrapped = "\n".join(textwrap.wrap(LONG, 20))
    assert knows_long.quoted(wrapped).splitlines()[:-1] == ["[redacted:long]"] * (len(wrapped.splitlines()) - 1)
    lines = base64.encodebytes(LONG.encode() * 3).decode()
    assert [line for line in knows_long.quoted(lines).splitlines() if "[redacted:long]" not in line] == []
    assert knows_long.quoted(LONG.encode().hex()[7:60]) == "[redacted:long]"
    awkward = Redactor({"a": AWKWARD * 2})
    assert awkward.quoted(quote(AWKWARD * 2, safe="").replace("%2F", "%2f")) == "[redacted:a]"
    assert AWKWARD[3:12] not in awkward.quoted(json.dumps(AWKWARD * 2)[3:-3])


@given(st.text("abcdeü%/", min_size=16, max_size=80), st.text("abcdeü%/", max_size=40), st.data())
def test_no_piece_survives_wherever_it_stands(secret, around, data):
    start = data.draw(st.integers(0, len(secret) - 16))
    piece = secret[start : data.draw(st.integers(start + 16, len(secret)))]
    shown = Redactor({"it": secret}).quoted(f"{around} {piece} {around}")
    varied = [secret[at : at + 8] for at in range(0, len(secret) - 7, 8) if len(set(secret[at : at + 8])) > 3]
    assert [block for block in varied if block in piece and piece in shown] == []


@pytest.mark.parametrize(
    ("secret", "ordinary"),
    [
        ("a" * 40, "a" * 39),
        ("kj3h4k5j" + "=" * 32, "=" * 30),
        (KEY.replace("PRIVATE KEY", "CERTIFICATE"), "A file begins with -----BEGIN CERTIFICATE-----, doesn't it?"),
        ("https://hooks.service.example/T0123/s3cr3tpart", "GET https://hooks.service.example/T9: 404"),
        ("postgresql://me:s3cr3tpart@database.service.example:5432/production", "no host `database.service.example`"),
        ("correct-horse-battery-staple", "the horse-battery of a correct-house"),
    ],
)
def test_what_is_public_of_a_secret_stays_readable(secret, ordinary):
    knows = Redactor({"it": secret})
    assert knows.quoted(ordinary) == ordinary
    assert "s3cr3tpart" not in knows.quoted(f"{secret[:-1]} and {secret[2:]}")


def test_repetitive_secrets_cost_no_more_than_others():
    knows = Redactor({str(number): "abcd" * 200 + str(number) for number in range(20)})
    with patch("runner.secrets.pieces._extended", wraps=_extended) as stretched:
        assert knows.quoted("xabcd" * 20_000 + "abcd" * 20_000).startswith("xabcd")
    assert stretched.call_count < 5_000


@pytest.mark.parametrize(
    "secret", [AWKWARD, 'it\'s a "secret"\n\tfor \\é', "plain 'quotes'", 'double "quotes"', "ü\u200b\x07bell-12"]
)
def test_secrets_are_known_as_python_shows_them(secret):
    knows = Redactor({"it": secret})
    for shown in (
        repr(secret),
        ascii(secret),
        repr([{"key": f"Bearer {secret}"}]),
        repr(f"'{secret}"),
        repr(f"\"{secret}'"),
        repr(secret.encode()),
        str(KeyError(secret)),
        " ".join(secret.split()),
    ):
        masked = knows.text(shown)
        assert "[redacted:it]" in masked
        assert len(masked.replace("[redacted:it]", "")) <= 20


def test_what_is_no_json_is_masked_as_well():
    value = {"a": ("hunter2hunter2", {"b": ValueError("hunter2hunter2")}), "c": (1, 2)}
    assert redactor.quoted(value) == {"a": ["[redacted:plain]", {"b": "[redacted:plain]"}], "c": (1, 2)}
    assert redactor.value({"a": ("hunter2hunter2",)}) == {"a": ["[redacted:plain]"]}
