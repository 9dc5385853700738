"""Issues of an input, hints, requirements and availability."""

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


described_enum(
    Severity, "Severity of an issue.", {"WARNING": "Does not block the command.", "ERROR": "Blocks the command."}
)


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
    "Kinds of things that an entry or step can require.",
    {
        "INPUT": "A run input.",
        "PACK": "A pack, in a version that the step accepts.",
        "CREDENTIAL": "A credential that is stored and granted.",
        "SERVICE": "An external service or program.",
        "MODEL": "A model or model role.",
        "AGENT_PROFILE": "An agent profile.",
        "SESSION": "A pack that leaves or keeps a session.",
        "ISOLATION": "A sandbox with the required isolation.",
    },
)


@strawberry.type(description="The parts of a hint; `hint` has the same content as text.")
class Hint:
    text: str | None = strawberry.field(description="What to do, for display.")
    closest: str | None = strawberry.field(description="The existing name closest to the one given.")
    operation: str | None = strawberry.field(
        description="The operation to call next, in snake_case. The GraphQL field has the same name in camelCase."
    )

    @classmethod
    def of(cls, hint: "FoundHint | None") -> "Hint | None":
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


@strawberry.type(description="A problem with one part of an input.")
class Issue:
    path: list[str] = strawberry.field(
        description="Path into the input, outermost first. Begins with the argument if `argument` is not null."
    )
    argument: str | None = strawberry.field(
        description="The argument at fault, in snake_case as in the MCP tool. Null if the issue is not about "
        "an argument."
    )
    rule: str = strawberry.field(description="Stable identifier of the rule, for programs.")
    severity: Severity = strawberry.field(description="Whether the issue blocks the command.")
    message: str = strawberry.field(description="What is wrong, for display.")
    hint: str | None = strawberry.field(description="How to fix it, or what was probably meant.")
    hint_parts: Hint | None = strawberry.field(description="The hint in parts.")
    line: int | None = strawberry.field(
        description="Line of a YAML text that cannot be read, counted from 1. Null if it can be: see `path`."
    )

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
            line=issue.line,
        )

    @classmethod
    def all(cls, issues: "Iterable[FoundIssue]") -> "list[Issue]":
        return [cls.of(issue) for issue in issues]


@strawberry.type(description="Something that an entry or step requires.")
class Requirement:
    kind: RequirementKind = strawberry.field(description="The kind of requirement.")
    name: str = strawberry.field(description="The name of what is required.")
    steps: list[Key] = strawberry.field(description="Keys of the steps that need it. Empty outside pipelines.")
    message: str = strawberry.field(description="Why it is not available, for display.")
    hint: str | None = strawberry.field(description="How to make it available.")
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


@strawberry.type(description="Whether a pack, pipeline, model or profile can be used on this server now.")
class Availability:
    usable: bool = strawberry.field(description="Whether it can run now.")
    missing: list[Requirement] = strawberry.field(description="Missing requirements. Empty if `usable` is true.")
    checked_at: datetime = strawberry.field(description="When availability was last checked.")

    @classmethod
    def of(cls, missing: "Iterable[MissingRequirement]", now: datetime) -> "Availability":
        found = [Requirement.of(lack) for lack in missing]
        return cls(usable=not found, missing=found, checked_at=now)
