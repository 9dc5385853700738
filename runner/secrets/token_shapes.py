"""Tokens recognized as secrets by their shape: keys, bearer tokens and passwords in addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: No token is longer; a stream never holds back more than this and the longest known form.
MAX_TOKEN_LENGTH = 16_384
#: Most characters before a match that its anchor and the pattern's look-behind may need.
LOOK_BEHIND = 32

_PEM_HEAD = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BODY = r"(?:(?!-----)[A-Za-z0-9+/=\s\\:,.\-]){0,16000}"
_ALONE = r"(?<![A-Za-z0-9])"
Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Token:
    """A kind of token, recognized at an anchor: a fixed text at its beginning, or right before it.

    Only the key block matches across white space, and no pattern matches more than `MAX_TOKEN_LENGTH` characters.
    """

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    is_after_anchor: bool = False

    def span_at(self, text: str, begin: int, end: int) -> Span | None:
        """Return the span to mask for an anchor found at `begin` to `end`."""
        match = self.pattern.match(text, end if self.is_after_anchor else begin)
        return None if match is None else (match.start(), match.end(), self.name)


_TOKENS = (
    Token(
        "private_key",
        ("-----BEGIN ",),
        re.compile(rf"{_PEM_HEAD}{_PEM_BODY}(?:-----END [A-Z0-9 ]{{1,60}}-----)?"),
    ),
    Token(
        "github_token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        re.compile(rf"{_ALONE}gh[pousr]_[A-Za-z0-9]{{30,255}}"),
    ),
    Token("github_token", ("github_pat_",), re.compile(rf"{_ALONE}github_pat_[A-Za-z0-9_]{{50,255}}")),
    Token("packline_token", ("pkl_",), re.compile(rf"{_ALONE}pkl_[A-Za-z0-9_-]{{43}}(?![A-Za-z0-9])")),
    Token("gitlab_token", ("glpat-",), re.compile(rf"{_ALONE}glpat-[A-Za-z0-9_-]{{20,255}}")),
    Token("api_key", ("sk-",), re.compile(rf"{_ALONE}sk-(?=[A-Za-z_-]{{0,200}}[0-9])[A-Za-z0-9_-]{{20,250}}")),
    Token(
        "stripe_key",
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_"),
        re.compile(rf"{_ALONE}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,250}}"),
    ),
    Token(
        "slack_token",
        ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        re.compile(rf"{_ALONE}[a-z]{{4}}-[A-Za-z0-9-]{{10,250}}"),
    ),
    Token("slack_webhook", ("hooks.slack.com/services/",), re.compile(r"[A-Za-z0-9_/+-]{20,250}"), True),
    Token("aws_key_id", ("AKIA", "ASIA"), re.compile(rf"{_ALONE}A[KS]IA[A-Z2-7]{{16}}(?![A-Za-z0-9])")),
    Token("google_key", ("AIza",), re.compile(rf"{_ALONE}AIza[0-9A-Za-z_-]{{35}}")),
    Token("google_token", ("ya29.", "GOCSPX-"), re.compile(rf"{_ALONE}(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{{20,2000}}")),
    Token("huggingface_token", ("hf_",), re.compile(rf"{_ALONE}hf_[A-Za-z0-9]{{30,250}}")),
    Token("npm_token", ("npm_",), re.compile(rf"{_ALONE}npm_[A-Za-z0-9]{{30,250}}")),
    Token("sendgrid_key", ("SG.",), re.compile(rf"{_ALONE}SG\.[A-Za-z0-9_-]{{16,64}}\.[A-Za-z0-9_-]{{16,64}}")),
    Token(
        "jwt",
        ("eyJ",),
        re.compile(rf"{_ALONE}eyJ[A-Za-z0-9_-]{{5,3000}}\.eyJ[A-Za-z0-9_-]{{5,8000}}\.[A-Za-z0-9_-]{{10,2000}}"),
    ),
    Token(
        "authorization",
        tuple(f"uthorization: {scheme} " for scheme in ("Bearer", "bearer", "Basic", "basic", "token", "Token")),
        re.compile(r"[^\s\"'\\<>]{8,4096}"),
        True,
    ),
    Token(
        "authorization",
        ("Bearer ", "bearer "),
        re.compile(r"(?=[A-Za-z_.~+/-]{0,200}[0-9])[A-Za-z0-9_.~+/=-]{16,4096}"),
        True,
    ),
    Token(
        "url_password",
        ("://",),
        re.compile(r"[^/\s:@\"'<>\\\[]{0,128}:[^/\s@\"'<>\\]{1,256}(?=@)"),
        True,
    ),
)
TOKENS_AT: dict[str, tuple[Token, ...]] = {
    anchor: tuple(token for token in _TOKENS if anchor in token.anchors)
    for anchor in sorted({anchor for token in _TOKENS for anchor in token.anchors})
}
#: `://` alone is too common in clean JSON to check every string for it; with `@` after it, they are checked.
URL_PASSWORD = re.compile(rb"://[^/\s@\"'<>]{1,500}@")
#: A key block whose end is missing: its head with a body, or the start of a head.
OPEN_KEY = re.compile(
    rf"{_PEM_HEAD}{_PEM_BODY}(?:-{{1,5}}|-----[A-Z0-9 ]{{0,70}}-{{0,4}})?\Z|-----BEGIN [A-Z0-9 ]{{0,90}}-{{0,4}}\Z"
)
