"""`triggers:` in the documents of pipelines: what triggers of one user a pipeline has, by name.

A list is complete: triggers it does not name are deleted. Without the key, triggers stay as they are. Documents hold no
secrets: that of a webhook is made when the webhook is, and shown once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from runner.agents.keys import closed
from runner.definitions.editor_schema import definition_schema
from runner.issues import Issue, error, shown
from runner.schemas.validation import CompiledSchema, compile_schema
from runner.triggers.run_ends import PIPELINES_MAX, RunEndedSettings, RunsOf
from runner.triggers.schedules import CATCH_UP_MAX, INTERVAL_MAX_SECONDS, CatchUp, Overlap, Schedule, check_schedule
from runner.triggers.webhooks import EVENTS_MAX, Preset, WebhookSettings, check_webhook
from runner.yaml_documents import dump_yaml
from store.states import FINAL_RUN_STATES, RunState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from enum import StrEnum

    from runner.failures import JSONValue

TriggerSettings: TypeAlias = Schedule | WebhookSettings | RunEndedSettings

#: Keys of a schedule by their names in the API.
_FIELDS = {"timeZone": "time_zone", "intervalSeconds": "interval_seconds", "catchUpLimit": "catch_up_limit"}
#: The key of a document.
TRIGGERS = "triggers"
#: What a trigger fires by.
KINDS = ("schedule", "webhook", "run_ended")
#: Most triggers of a document.
TRIGGERS_MAX = 1_000
NAME_CHARACTERS = 200


def _one_of(choices: type[StrEnum], description: str) -> dict[str, JSONValue]:
    return {"enum": [choice.value for choice in choices], "description": description}


_SCHEDULE_KEYS: dict[str, JSONValue] = {
    "cron": {
        "type": "string",
        "description": "Cron expression: five fields, six with seconds first, or a name such as `@daily`.",
    },
    "interval_seconds": {
        "type": "integer",
        "minimum": 1,
        "maximum": INTERVAL_MAX_SECONDS,
        "description": "Seconds between firings; instead of `cron`.",
    },
    "time_zone": {"type": "string", "description": "IANA name of the time zone of the expression; UTC if absent."},
    "overlap": _one_of(Overlap, "What happens when the last run has not ended; `skip` if absent."),
    "catch_up": _one_of(CatchUp, "What happens with instants of a downtime; `latest` if absent."),
    "catch_up_limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": CATCH_UP_MAX,
        "description": "Most missed instants that `all` starts runs for.",
    },
}
_WEBHOOK_KEYS: dict[str, JSONValue] = {
    "preset": _one_of(Preset, "How deliveries prove where they come from."),
    "events": {
        "type": "array",
        "maxItems": EVENTS_MAX,
        "items": {"type": "string"},
        "description": "Names of the events it fires for; all if absent.",
    },
}
_RUN_ENDED_KEYS: dict[str, JSONValue] = {
    "states": {
        "type": "array",
        "minItems": 1,
        "items": {"enum": [*sorted(state.value for state in FINAL_RUN_STATES)]},
        "description": "How they end.",
    },
    "pipelines": {
        "type": "array",
        "maxItems": PIPELINES_MAX,
        "items": {"type": "string"},
        "description": "Keys of their pipelines; all but the trigger's own if absent.",
    },
    "runs_of": _one_of(RunsOf, "Whose they are; `owner` if absent."),
}
_TRIGGER_KEYS: dict[str, JSONValue] = {
    "name": {
        "type": "string",
        "minLength": 1,
        "maxLength": NAME_CHARACTERS,
        "description": "Name for people; `apply` finds the trigger by it.",
    },
    "schedule": closed(_SCHEDULE_KEYS, description="Fires at set times."),
    "webhook": closed(_WEBHOOK_KEYS, "preset", description="Fires when another service calls its URL."),
    "run_ended": closed(_RUN_ENDED_KEYS, "states", description="Fires when runs end."),
    "inputs": {"type": "object", "description": "Inputs of its runs; texts may contain `${{ trigger.… }}`."},
    "version": {"type": "integer", "minimum": 1, "description": "Pins a version; the current one if absent."},
    "enabled": {
        "type": "boolean",
        "description": "Whether it fires; if absent, it stays as it is, and a new one does.",
    },
}
_SCHEMA: dict[str, JSONValue] = {
    "type": "array",
    "maxItems": TRIGGERS_MAX,
    "items": closed(_TRIGGER_KEYS, "name"),
    "description": "Your triggers of the pipeline. `packline apply` deletes those that the list does not name.",
}


@dataclass(frozen=True, slots=True)
class TriggerEntry:
    """A trigger of a document.

    Attributes:
        settings: What it fires by.
        version: The version it pins; None if it names none.
        enabled: Whether it fires; None to leave that as it is.
    """

    name: str
    settings: TriggerSettings
    inputs: dict[str, JSONValue]
    version: int | None = None
    enabled: bool | None = None

    def document(self) -> dict[str, JSONValue]:
        """Return the entry as `read_triggers` reads it, without what is absent or has its default."""
        found: dict[str, JSONValue] = {"name": self.name, **self.fires_by()}
        if self.inputs:
            found["inputs"] = self.inputs
        if self.version is not None:
            found["version"] = self.version
        if self.enabled is False:
            found["enabled"] = False
        return found

    def fires_by(self) -> dict[str, JSONValue]:
        """Return the part of the document that says what it fires by."""
        written = self.settings.to_json()
        if isinstance(self.settings, WebhookSettings):
            return {"webhook": written if self.settings.events else {"preset": written["preset"]}}
        if isinstance(self.settings, RunEndedSettings):
            usual = RunEndedSettings(()).to_json()
            return {"run_ended": {key: written[key] for key in written if written[key] != usual[key]}}
        usual = Schedule(None, None, "UTC").to_json()
        return {"schedule": {key: written[key] for key in written if key != "anchor" and written[key] != usual[key]}}


def read_triggers(value: JSONValue, now: datetime) -> tuple[list[TriggerEntry], list[Issue]]:
    """Read the list of a document; the paths of the issues begin with the key.

    Whether the pipeline accepts the inputs is not checked.
    """
    issues = _schema().issues({TRIGGERS: value})
    entries: list[TriggerEntry] = []
    if issues or not isinstance(value, list):
        return entries, issues
    names: set[str] = set()
    for index, given in enumerate(value):
        assert isinstance(given, dict), "the schema says so"
        entry, wrong = _read(given, now)
        if entry is not None and entry.name in names:
            message = f"Two triggers have the name {shown(entry.name)}."
            wrong.append(
                error(("name",), "duplicate_name", message, "Rename one, in the file or by `packline trigger update`.")
            )
        issues += [issue.under(TRIGGERS, str(index)) for issue in wrong]
        if entry is not None:
            names.add(entry.name)
            entries.append(entry)
    return entries, issues


def _read(given: dict[str, Any], now: datetime) -> tuple[TriggerEntry | None, list[Issue]]:
    name = given["name"].strip()
    if not name:
        return None, [error(("name",), "out_of_range", "The name is blank.")]
    settings: TriggerSettings
    wrong: list[Issue] = []
    match {key: given[key] for key in KINDS if key in given}:
        case {"schedule": schedule, **rest} if not rest:
            settings = Schedule(
                schedule.get("cron"),
                schedule.get("interval_seconds"),
                schedule.get("time_zone", "UTC"),
                overlap=Overlap(schedule.get("overlap", Overlap.SKIP)),
                catch_up=CatchUp(schedule.get("catch_up", CatchUp.LATEST)),
                catch_up_limit=schedule.get("catch_up_limit", CATCH_UP_MAX),
            )
            wrong = [
                replace(issue, path=tuple(_FIELDS.get(part, part) for part in issue.path))
                for issue in check_schedule(settings, now)
            ]
        case {"run_ended": ended, **rest} if not rest:
            states = dict.fromkeys(map(RunState, ended["states"]))
            pipelines = tuple(dict.fromkeys(ended.get("pipelines", ())))
            settings = RunEndedSettings(tuple(states), pipelines, RunsOf(ended.get("runs_of", RunsOf.OWNER)))
        case {"webhook": webhook, **rest} if not rest:
            settings = WebhookSettings(Preset(webhook["preset"]), tuple(webhook.get("events", ())))
            wrong = [issue.under("webhook") for issue in check_webhook(settings)]
        case _:
            message = "A trigger has either `schedule`, `webhook` or `run_ended`."
            return None, [error((), "one_of", message, "Set one of them.")]
    entry = TriggerEntry(name, settings, given.get("inputs", {}), given.get("version"), given.get("enabled"))
    return entry, wrong


def write_triggers(entries: Sequence[TriggerEntry]) -> str:
    """Write entries as the last part of a document; an empty text if there are none."""
    return dump_yaml({TRIGGERS: [entry.document() for entry in entries]}) if entries else ""


def document_schema(max_steps: int) -> dict[str, JSONValue]:
    """Return the JSON Schema of what `packline apply` reads, for editors: a definition with its triggers."""
    schema = definition_schema(max_steps)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    schema["properties"] = {**properties, TRIGGERS: _SCHEMA}
    # A document with nothing but a key and triggers is about a pipeline that exists.
    schema["anyOf"] = [{"required": schema.pop("required")}, {"required": ["key", TRIGGERS], "maxProperties": 2}]
    return schema


@cache
def _schema() -> CompiledSchema:
    return compile_schema({"properties": {TRIGGERS: _SCHEMA}})
