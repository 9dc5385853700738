"""The pipelines of the soak, and what their runs must come to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The packs they are made of.
PACKS = Path(__file__).with_name("folder")


@dataclass(frozen=True)
class SoakPipeline:
    """A pipeline, and how its runs may end.

    Attributes:
        key: Its key.
        steps: Its steps, as in a definition; each takes the text of the one before.
        ending: What its last step's text is, after that of the run's input; None when that is not to be known.
        failures: Codes that a run may fail with.
        may_succeed: Whether a run can succeed at all.
        may_resume: Whether callers resume it.
        weight: How often it is started, against the others.
    """

    key: str
    steps: tuple[dict[str, Any], ...]
    ending: str | None
    failures: frozenset[str] = frozenset()
    may_succeed: bool = True
    may_resume: bool = True
    weight: int = 1

    def document(self) -> dict[str, Any]:
        """Its definition."""
        return {"key": self.key, "name": self.key, "steps": list(self.steps)}


def _step(key: str, pack: str, before: str = "", **more: Any) -> dict[str, Any]:
    text = f"${{{{ steps.{before}.output.text }}}}" if before else "${{ inputs.text }}"
    given = {"text": text, **more.pop("input", {})}
    return {"id": key, "pack": f"soak.{pack}", "input": given, **more}


_PIPELINES = (
    SoakPipeline(
        "soak-quick",
        (_step("a", "quick"), _step("b", "quick", "a"), _step("c", "quick", "b"), _step("d", "quick", "c")),
        "qqqq",
        weight=4,
    ),
    SoakPipeline(
        "soak-slow",
        (
            _step("a", "slow", input={"seconds": "${{ inputs.seconds }}"}),
            _step("b", "quick", "a"),
            _step("c", "slow", "b"),
        ),
        "sqs",
        weight=4,
    ),
    SoakPipeline(
        "soak-flaky",
        (
            _step("a", "flaky", retry={"max_attempts": 10, "initial_seconds": 0.2, "max_seconds": 1}),
            _step("b", "quick", "a"),
        ),
        "fq",
        weight=2,
    ),
    SoakPipeline(
        "soak-stumble", (_step("a", "quick"), _step("b", "stumble", "a")), "qt", failures=frozenset({"invalid_input"})
    ),
    SoakPipeline(
        "soak-broken",
        (_step("a", "quick"), _step("b", "broken", "a")),
        None,
        failures=frozenset({"invalid_input"}),
        may_succeed=False,
    ),
    SoakPipeline(
        "soak-files",
        (
            _step("a", "save"),
            _step("b", "slow", input={"seconds": 0.5}),
            {"id": "c", "pack": "soak.read", "input": {"artifact_id": "${{ steps.a.output.artifact_id }}"}},
        ),
        "r",
        weight=3,
    ),
    SoakPipeline(
        "soak-session",
        (_step("a", "open"), _step("b", "slow", "a"), _step("c", "use", "b")),
        "u",
        weight=3,
    ),
    SoakPipeline(
        "soak-once",
        (_step("a", "quick"), _step("b", "once", "a", input={"file": "${{ inputs.file }}"}), _step("c", "quick", "b")),
        "qoq",
        failures=frozenset({"outcome_unknown"}),
        may_resume=False,
        weight=3,
    ),
    SoakPipeline("soak-leak", (_step("a", "leak"),), None, failures=frozenset({"handler_failed"}), weight=2),
)
#: All of them, by key.
PIPELINES = {each.key: each for each in _PIPELINES}
