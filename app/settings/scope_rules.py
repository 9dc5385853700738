"""Rules that give the users of an OpenID provider their scopes, by the claims about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from runner.excerpts import excerpt
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.failures import JSONValue

_EVERYBODY = "*"
#: Claims that are a list of words in one text (RFC 8693 section 4.2, and as Entra ID spells it).
_LISTS_OF_WORDS = frozenset({"scope", "scp"})
_FORM = "write `claim=value:scope,scope`, or `*:scope` for everybody"


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """Gives scopes to people about whom a claim says something.

    Attributes:
        claim: The claim's name, or its path with dots, such as `realm_access.roles`; None for everybody.
        value: What it must be, or contain if it is a list.
        scopes: What the rule gives.
    """

    claim: str | None
    value: str
    scopes: frozenset[Scope]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a rule such as `groups=ops:read,run`.

        Raises:
            ValueError: it is malformed; the message says how to write it.
        """
        shown = f"`{excerpt(text, 100)}`"
        # Values may contain colons, scopes do not; claims may be addresses, but contain no `=`.
        condition, colon, names = text.rpartition(":")
        claim, equals, value = (part.strip() for part in condition.partition("="))
        is_for_all = claim == _EVERYBODY and not equals
        if not colon or not (is_for_all or (claim and value)):
            raise ValueError(f"{shown} is not a rule: {_FORM}")
        scopes = set()
        for name in filter(None, (part.strip() for part in names.split(","))):
            try:
                scopes.add(Scope(name))
            except ValueError:
                known = ", ".join(scope.value for scope in Scope)
                raise ValueError(f"{shown} names the scope `{excerpt(name, 50)}`; there are {known}") from None
        if not scopes:
            raise ValueError(f"{shown} names no scope: {_FORM}")
        return cls(None if is_for_all else claim, value, frozenset(scopes))

    def matches(self, claims: Mapping[str, JSONValue]) -> bool:
        """Return whether it applies to somebody with these claims."""
        if self.claim is None:
            return True
        found = _find(claims, self.claim)
        if isinstance(found, list):
            return self.value in found
        if isinstance(found, bool):
            return self.value == str(found).lower()
        if isinstance(found, str):
            return self.value in (found.split() if self.claim in _LISTS_OF_WORDS else [found])
        return isinstance(found, int) and self.value == str(found)


def _find(claims: Mapping[str, JSONValue], path: str) -> JSONValue:
    """Return a claim by its name, which may contain dots, or else by its path; None if it is missing."""
    if path in claims:
        return claims[path]
    found: JSONValue = dict(claims)
    for name in path.split("."):
        if not isinstance(found, dict) or name not in found:
            return None
        found = found[name]
    return found
