"""Prometheus metrics of this process since its start; `app.http.metrics` serves them.

Labels are names that users choose, such as keys of pipelines. Each label keeps its first `NAMES_MAX` names and counts
the others as `other`, so that no caller can make a scrape grow without bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, GCCollector, Histogram, PlatformCollector, ProcessCollector

from store.states import RunState

if TYPE_CHECKING:
    from runner.gateway.uses import ModelUse
    from store.triggers.firings import FiringOutcome

#: Names that a label distinguishes.
NAMES_MAX = 200
OTHER = "other"

_RUN_BUCKETS = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600)
_STEP_BUCKETS = (0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900)
_COMMIT_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5)


class Metrics:
    """Counts of one process.

    Attributes:
        registry: All of them, with those of the process and the Python runtime.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)
        self._names: dict[str, set[str]] = {}
        self._runs = Counter(
            "packline_runs_ended",
            "Runs that ended in this process, by pipeline (or pack, for a single call) and final state; those that are "
            "cancelled while no worker holds them, too.",
            ["target", "state"],
            registry=registry,
        )
        self._run_seconds = Histogram(
            "packline_run_duration_seconds",
            "Time from a run's start or last resume to its end, without the time nobody held it.",
            ["target"],
            buckets=_RUN_BUCKETS,
            registry=registry,
        )
        self._steps = Counter(
            "packline_step_attempts",
            "Attempts at steps, by pack and outcome: succeeded, failed, retried or cancelled.",
            ["pack", "outcome"],
            registry=registry,
        )
        self._step_seconds = Histogram(
            "packline_step_duration_seconds",
            "Duration of an attempt at a step.",
            ["pack"],
            buckets=_STEP_BUCKETS,
            registry=registry,
        )
        self._takeovers = Counter(
            "packline_takeovers", "Runs that this process took over from a lost worker.", registry=registry
        )
        self._model_calls = Counter(
            "packline_model_calls",
            "Answered calls of models, and failures by code; an answer that cannot be used is both.",
            ["model", "outcome"],
            registry=registry,
        )
        self._model_seconds = Histogram(
            "packline_model_call_duration_seconds",
            "Duration of answered calls of models.",
            ["model"],
            buckets=_STEP_BUCKETS,
            registry=registry,
        )
        self._tokens = Counter(
            "packline_model_tokens",
            "Tokens, by model and direction, as far as the provider reports them.",
            ["model", "direction"],
            registry=registry,
        )
        self._cost = Counter(
            "packline_model_cost_dollars",
            "Cost of calls in US dollars, as far as the price is known.",
            ["model"],
            registry=registry,
        )
        self._firings = Counter(
            "packline_trigger_firings",
            "Firings of triggers that this process dealt with, by kind and outcome.",
            ["kind", "outcome"],
            registry=registry,
        )
        self._commits = Histogram(
            "packline_commit_duration_seconds",
            "Duration of a COMMIT; on SQLite several units of work may share one.",
            buckets=_COMMIT_BUCKETS,
            registry=registry,
        )
        self.committed = self._commits.observe

    def run_ended(self, target: str, state: RunState, seconds: float) -> None:
        name = self._named("target", target)
        self._runs.labels(name, state.value).inc()
        self._run_seconds.labels(name).observe(seconds)

    def run_cancelled(self, target: str) -> None:
        """Count a run that was cancelled while no worker held it."""
        self._runs.labels(self._named("target", target), RunState.CANCELLED.value).inc()

    def attempt_ended(self, pack: str, outcome: str, seconds: float) -> None:
        name = self._named("pack", pack)
        self._steps.labels(name, outcome).inc()
        self._step_seconds.labels(name).observe(seconds)

    def took_over(self) -> None:
        self._takeovers.inc()

    def model_answered(self, use: ModelUse) -> None:
        model = self._named("model", use.model)
        self._model_calls.labels(model, "answered").inc()
        self._model_seconds.labels(model).observe(use.elapsed_seconds)
        for direction, tokens in (("input", use.input_tokens), ("output", use.output_tokens)):
            if tokens is not None:
                self._tokens.labels(model, direction).inc(tokens)
        if use.cost_micros is not None:
            self._cost.labels(model).inc(use.cost_micros / 1e6)

    def model_failed(self, model: str, code: str) -> None:
        self._model_calls.labels(self._named("model", model), code).inc()

    def trigger_fired(self, kind: str, outcome: FiringOutcome, count: int = 1) -> None:
        self._firings.labels(kind, outcome.value).inc(count)

    def _named(self, label: str, name: str) -> str:
        names = self._names.setdefault(label, set())
        if name in names:
            return name
        if len(names) >= NAMES_MAX:
            return OTHER
        names.add(name)
        return name
