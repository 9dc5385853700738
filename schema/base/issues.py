"""What is wrong with an input, and what is missing here, as the API shows them."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING

import strawberry
from strawberry.utils.str_converters import to_camel_case

from schema.base.enums import described_enum
from schema.base.scalars import Key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.issues import Hint as FoundHint
    from runner.issues import Issue as FoundIssue
    from runner.packs.availability import Requirement as MissingRequirement


class Severity(Enum):
    WARNING = "warning"
    ERROR = "error"


described_enum(Severity, "How bad an issue is.", {"WARNING": "Worth knowing.", "ERROR": "Refused."})


class RequirementKind(Enum):
    INPUT = "input"
    PACK = "pack"
    CREDENTIAL = "credential"
    SERVICE = "service"
    MODEL = "model"
    AGENT_PROFILE = "agent_profile"
    SESSION = "session"
    ISOLATION = "isolation"


described_enum(
    RequirementKind,
    "What an entry or step can need.",
    {
        "INPUT": "A run input.",
        "PACK": "A pack, in a version that satisfies the step.",
        "CREDENTIAL": "A credential, stored and granted.",
        "SERVICE": "An outside service or program.",
        "MODEL": "A model or model role.",
        "AGENT_PROFILE": "An agent profile.",
        "SESSION": "A pack that can leave or keep a session.",
        "ISOLATION": "A sandbox strong enough.",
    },
)


@strawberry.type(description="What to do about a problem, in parts; `hint` is the same as sentences.")
class Hint:
    text: str | None = strawberry.field(description="What to do, for people.")
    closest: str | None = strawberry.field(description="The known name nearest to the one that was given.")
    operation: str | None = strawberry.field(
        description="The operation that helps, in snake_case; the field of the same name in camelCase runs it."
    )

    @classmethod
    def of(cls, hint: "FoundHint | None") -> "Hint | None":
        """The parts of a hint; None for none."""
        if hint is None:
            return None
        return cls(text=hint.text or None, closest=hint.closest, operation=hint.operation)


def hint_text(hint: "FoundHint | None") -> str | None:
    """Render a hint as sentences that name fields of the API; None if there is no hint."""
    if hint is None:
        return None
    return hint.naming(None if hint.operation is None else f"`{to_camel_case(hint.operation)}`")


def _path(issue: "FoundIssue") -> list[str]:
    """The path of an issue, with its argument under the name it has in the API."""
    if not issue.in_argument:
        return list(issue.path)
    argument, *inside = issue.path
    return [to_camel_case(argument), *inside]


@strawberry.type(description="One thing wrong with an input.")
class Issue:
    path: list[str] = strawberry.field(
        description="Path into the input, outermost first; begins with the argument, if `argument` is not null."
    )
    argument: str | None = strawberry.field(
        description="The argument it is about, in snake_case, as the operation's tool has it; null for other input."
    )
    rule: str = strawberry.field(description="For programs; stable.")
    severity: Severity = strawberry.field(description="Whether it stops the command.")
    message: str = strawberry.field(description="For people.")
    hint: str | None = strawberry.field(description="What was probably meant, or what to do.")
    hint_parts: Hint | None = strawberry.field(description="The hint in parts.")

    @classmethod
    def of(cls, issue: "FoundIssue") -> "Issue":
        return cls(
            path=_path(issue),
            argument=issue.path[0] if issue.in_argument else None,
            rule=issue.rule,
            severity=Severity(issue.severity),
            message=issue.message,
            hint=hint_text(issue.hint),
            hint_parts=Hint.of(issue.hint),
        )

    @classmethod
    def all(cls, issues: "Iterable[FoundIssue]") -> "list[Issue]":
        return [cls.of(issue) for issue in issues]


@strawberry.type(description="Something an entry or step needs.")
class Requirement:
    kind: RequirementKind = strawberry.field(description="What sort of thing.")
    name: str = strawberry.field(description="Its name.")
    steps: list[Key] = strawberry.field(description="Steps that need it; empty outside pipelines.")
    message: str = strawberry.field(description="Why it cannot be had, for people.")
    hint: str | None = strawberry.field(description="What to do about it.")
    hint_parts: Hint | None = strawberry.field(description="The hint in parts.")

    @classmethod
    def of(cls, missing: "MissingRequirement") -> "Requirement":
        return cls(
            kind=RequirementKind(missing.kind),
            name=missing.name,
            steps=[Key(step) for step in missing.steps],
            message=missing.message,
            hint=hint_text(missing.hint),
            hint_parts=Hint.of(missing.hint),
        )


@strawberry.type(description="Whether something can run here now.")
class Availability:
    usable: bool = strawberry.field(description="It can.")
    missing: list[Requirement] = strawberry.field(description="What it needs and does not find; empty when usable.")
    checked_at: datetime = strawberry.field(description="When this was last looked at.")

    @classmethod
    def of(cls, missing: "Iterable[MissingRequirement]", now: datetime) -> "Availability":
        """What a preflight told at `now`."""
        found = [Requirement.of(lack) for lack in missing]
        return cls(usable=not found, missing=found, checked_at=now)
