"""Kinds of credentials: their fields, the checks of values, and how each is tested.

One table for the vault, the API, the command line and the documentation. Fields are texts; secret ones are masked
everywhere, so they must be long enough to be recognized.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from runner.egress.web_address import WebAddressError, read_ssh_address, read_web_address
from runner.excerpts import excerpt
from runner.issues import Issue, did_you_mean, error
from runner.json_values import forbidden_text
from runner.secrets.forms import MIN_SECRET_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.failures import JSONValue

#: Longest value of a field, and most fields of a credential with free fields.
VALUE_CHARACTERS = 32_768
FIELDS_MAX = 32
GENERIC = "generic"
TestKind = Literal["github", "ghost", "smtp", "openai", "anthropic", "google", "elevenlabs"]
_PASSPHRASE = (
    "it is protected by a passphrase, which nobody is there to enter; make a key for Packline alone, without one: "
    "`ssh-keygen -t ed25519 -N '' -f packline`"
)
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class CredentialField:
    """A field of a kind.

    Attributes:
        secret: Whether it is masked everywhere; such a field has at least 8 characters.
        check: Returns what is wrong with a value, or None.
        multiline: Whether the value may have several lines.
    """

    name: str
    description: str
    secret: bool = False
    required: bool = True
    check: Callable[[str], str | None] | None = None
    multiline: bool = False


@dataclass(frozen=True, slots=True)
class CredentialKind:
    """A kind of credential.

    Attributes:
        description: What it gives access to, one sentence.
        fields: The fields; none for a kind whose fields are free, which are then all secret.
        test: How it is tested; None for a kind that cannot be tested.
        parts: Returns further secret texts, such as the second half of a key.
    """

    name: str
    description: str
    fields: tuple[CredentialField, ...]
    test: TestKind | None = None
    parts: Callable[[Mapping[str, str]], tuple[str, ...]] | None = None

    @property
    def is_free(self) -> bool:
        """Whether fields may have any name."""
        return not self.fields

    def field(self, name: str) -> CredentialField | None:
        """Find a field by name; with free fields, any valid name is one."""
        if self.is_free:
            return CredentialField(name, "", secret=True, required=False) if _FIELD_NAME.match(name) else None
        return next((field for field in self.fields if field.name == name), None)

    def secrets(self, key: str, fields: Mapping[str, str]) -> dict[str, str]:
        """Return the texts of a credential to mask, by the name in the mask."""
        found = {
            f"{key}.{name}": value
            for name, value in fields.items()
            if (known := self.field(name)) is None or known.secret
        }
        for number, part in enumerate(self.parts(fields) if self.parts else (), start=1):
            found[f"{key}.part{number}"] = part
        return {name: value for name, value in found.items() if len(value) >= MIN_SECRET_LENGTH}


def _address(value: str) -> str | None:
    try:
        address = read_web_address(value)
    except WebAddressError as error:
        return f"it is not an address such as https://blog.example: {error.reason}"
    return None if address.account is None else "an address such as https://blog.example must not contain a password"


def _origin(value: str) -> str | None:
    if (wrong := _address(value)) is not None:
        return wrong
    address = read_web_address(value)
    if address.path.strip("/") or address.query is not None:
        return f"give the server alone, as {address.origin}: the token is for all repositories on it"
    return None


def _ssh_server(value: str) -> str | None:
    try:
        found = None if "/" in value or "@" in value else read_ssh_address(f"ssh://{value}/any")
    except WebAddressError as error:
        return f"it is not a server such as git.example or git.example:2222: {error.reason}"
    return None if found is not None else "give the server alone, such as git.example or git.example:2222"


def _private_key(value: str) -> str | None:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_private_key

    again = "copy the whole file, with its first and last line"
    if not value.startswith("-----BEGIN ") or "PRIVATE KEY-----" not in value:
        return f"it is not a private key such as `ssh-keygen` makes; {again}"
    if "ENCRYPTED" in value:
        return _PASSPHRASE
    load = load_ssh_private_key if "OPENSSH PRIVATE KEY" in value else load_pem_private_key
    try:
        load(f"{value.strip()}\n".encode(), None)
    except TypeError:
        return _PASSPHRASE
    except UnsupportedAlgorithm:
        return "keys of this kind cannot be used; make one with `ssh-keygen -t ed25519`"
    except ValueError as error:
        return _PASSPHRASE if "password" in str(error) else f"it is damaged; {again}"
    return None


def _known_hosts(value: str) -> str | None:
    lines = [line.split() for line in value.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if lines and all(len(parts) >= (4 if parts[0].startswith("@") else 3) for parts in lines):
        return None
    return "each line has a server, a kind of key and the key, as `ssh-keyscan git.example` prints them"


def _port(value: str) -> str | None:
    return (
        None
        if value.isascii() and value.isdigit() and 0 < int(value[:6]) < 65536
        else "it is not a port from 1 to 65535"
    )


def _security(value: str) -> str | None:
    return None if value in ("starttls", "tls", "none") else "use `starttls`, `tls` or `none`"


def _ghost_key(value: str) -> str | None:
    if re.fullmatch(r"[0-9a-f]{24}:[0-9a-f]{64}", value):
        return None
    return "an Admin API key is 24 hexadecimal digits, a colon and 64 more, as Ghost shows it under Integrations"


def _ghost_parts(fields: Mapping[str, str]) -> tuple[str, ...]:
    return (fields.get("admin_api_key", "").partition(":")[2],)


def _api_key(kind: TestKind, name: str) -> CredentialKind:
    field = CredentialField("api_key", f"API key of {name}.", secret=True)
    return CredentialKind(kind, f"Models of {name}.", (field,), kind)


KINDS: dict[str, CredentialKind] = {
    kind.name: kind
    for kind in (
        CredentialKind(
            "github",
            "GitHub's API; PACKLINE_SERVICE_GITHUB_URL sets another address than github.com.",
            (CredentialField("token", "Personal access token, fine-grained or classic.", secret=True),),
            "github",
        ),
        CredentialKind(
            "git",
            "Repositories of one Git server over https.",
            (
                CredentialField("url", "Address of the server, such as https://git.example.", check=_origin),
                CredentialField("token", "Access token or password.", secret=True),
                CredentialField("username", "Account, if the server checks it as well as the token.", required=False),
            ),
        ),
        CredentialKind(
            "ssh",
            "Repositories of one Git server over SSH.",
            (
                CredentialField("host", "The server, such as git.example or git.example:2222.", check=_ssh_server),
                CredentialField(
                    "private_key",
                    "Private key without a passphrase, such as a deploy key.",
                    secret=True,
                    check=_private_key,
                    multiline=True,
                ),
                CredentialField(
                    "known_hosts",
                    "The server's public keys, as `ssh-keyscan git.example` prints them; compare them with what the "
                    "server's operator publishes.",
                    check=_known_hosts,
                    multiline=True,
                ),
            ),
        ),
        CredentialKind(
            "ghost",
            "A Ghost blog's Admin API.",
            (
                CredentialField("url", "Address of the blog.", check=_address),
                CredentialField(
                    "admin_api_key", "Admin API key of a custom integration.", secret=True, check=_ghost_key
                ),
            ),
            "ghost",
            _ghost_parts,
        ),
        CredentialKind(
            "smtp",
            "A mail server that sends mail.",
            (
                CredentialField("host", "Name of the server."),
                CredentialField("port", "Port; 587, or 465 with `tls`.", required=False, check=_port),
                CredentialField("username", "Account, if the server needs one.", required=False),
                CredentialField("password", "Password of the account.", secret=True, required=False),
                CredentialField(
                    "security", "`starttls` (the default), `tls` or `none`.", required=False, check=_security
                ),
                CredentialField("from", "Address that mail is sent from, unless a step gives another.", required=False),
            ),
            "smtp",
        ),
        _api_key("openai", "OpenAI"),
        _api_key("anthropic", "Anthropic"),
        _api_key("google", "Google"),
        _api_key("elevenlabs", "ElevenLabs"),
        CredentialKind(
            "openai-compatible",
            "Models of any server with OpenAI's protocol.",
            (
                CredentialField("api_key", "API key of the server.", secret=True),
                CredentialField(
                    "base_url", "Address with the version, such as https://llm.example/v1.", check=_address
                ),
            ),
            "openai",
        ),
        CredentialKind(GENERIC, "Anything else: fields of any name, all secret; it cannot be tested.", ()),
    )
}


def kind_issues(kind: str) -> list[Issue]:
    """Check the name of a kind."""
    if kind in KINDS:
        return []
    message = f"There is no kind of credential `{excerpt(kind, 80)}`."
    return [error(("kind",), "unknown_kind", message, did_you_mean(kind, KINDS))]


def merged_fields(
    kind: CredentialKind, before: Mapping[str, str], given: Mapping[str, JSONValue]
) -> tuple[dict[str, str], list[Issue]]:
    """Return the fields after a change, and their problems; messages contain no value of a secret field.

    Args:
        kind: The kind after the change.
        before: The fields so far; empty for a new credential or another kind.
        given: The fields to set; null removes one.
    """
    fields, issues = dict(before), []
    for name, value in given.items():
        field = kind.field(name)
        if field is None:
            issues.append(_unknown_field(kind, name))
        elif value is None:
            fields.pop(name, None)
        elif isinstance(value, bool) or not isinstance(value, str | int):
            issues.append(error(("fields", name), "wrong_type", f"The field `{name}` must be a text."))
        else:
            text = str(value) if kind.is_free else str(value).strip()
            issues += _value_issues(kind, field, text)
            fields[name] = text
    wanted = [field.name for field in kind.fields if field.required and not fields.get(field.name)]
    issues += [
        error(("fields", name), "required", f"A credential of kind {kind.name} needs the field `{name}`.")
        for name in wanted
        if not any(issue.path == ("fields", name) for issue in issues)
    ]
    if not fields and not issues:
        issues.append(error(("fields",), "empty", "A credential needs a field.", "Give at least one."))
    if len(fields) > FIELDS_MAX:
        issues.append(error(("fields",), "too_many", f"There are {len(fields)} fields; the limit is {FIELDS_MAX}."))
    return fields, issues


def _value_issues(kind: CredentialKind, field: CredentialField, text: str) -> list[Issue]:
    path = ("fields", field.name)
    if unsafe := forbidden_text(text):
        return [issue.under("fields", field.name) for issue in unsafe]
    if not text:
        return [error(path, "empty", f"The field `{field.name}` is empty.", "Leave it out, or null to remove it.")]
    if len(text) > VALUE_CHARACTERS:
        return [error(path, "too_long", f"The field `{field.name}` has more than {VALUE_CHARACTERS} characters.")]
    if not kind.is_free and not field.multiline and any(character in text for character in "\r\n"):
        return [error(path, "line_break", f"The field `{field.name}` has a line break inside.", "Copy it again.")]
    if field.secret and len(text.strip()) < MIN_SECRET_LENGTH:
        return [
            error(
                path,
                "too_short",
                f"The secret `{field.name}` has fewer than {MIN_SECRET_LENGTH} characters, so it could not be masked "
                "in the output of steps.",
                "Use a longer one.",
            )
        ]
    wrong = field.check(text) if field.check else None
    if wrong is None:
        return []
    what = f"The field `{field.name}`" if field.secret else f"The field `{field.name}` is `{excerpt(text, 80)}`"
    return [error(path, "wrong_value", f"{what}: {wrong}.")]


def _unknown_field(kind: CredentialKind, name: str) -> Issue:
    path = ("fields", excerpt(name, 80))
    if kind.is_free:
        return error(
            path,
            "bad_name",
            f"`{excerpt(name, 80)}` is not a field name.",
            "Use lower-case letters, digits and `_`, up to 64.",
        )
    hint = did_you_mean(name, [field.name for field in kind.fields])
    return error(path, "unknown_field", f"A credential of kind {kind.name} has no field `{excerpt(name, 80)}`.", hint)
