"""Dependencies and limits of the runner, created once by `app.run_resources`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from runner.agents.pack import AgentPack
from runner.agents.profiles import Agents, Selection, no_agents
from runner.gateway.budgets import BudgetLimits
from runner.metrics import Metrics
from runner.packs.availability import PROBES, Requirement, RequirementCheck, missing_services, missing_settings
from runner.packs.fleet import ANY_AGENT_NEED, Fleet, agent_need, model_need, pack_needs, step_needs
from runner.secrets.vault import Vault
from store.maintenance.retention import RetentionPolicy
from store.runs.needs import as_need

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.egress.client import Egress
    from runner.gateway.gateway import Gateway
    from runner.packs.memory import MemoryPort
    from runner.packs.pack import Pack
    from runner.packs.registry import Registry
    from runner.packs.routing import RouterPort
    from runner.secrets.redaction import Redactor
    from runner.secrets.vault import CredentialRequester
    from store.database.engine import Store
    from store.files.blob_port import Blobs


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may use; each is a setting.

    Attributes:
        triggers: Most triggers of one caller.
        budgets: What models may cost.
        lease_seconds: How long a worker is trusted without a heartbeat; it renews at a third of it.
        session_idle_seconds: How long a session of an unfinished run lives without a running or scheduled step.
        session_wait_seconds: How long a step waits for the machine of its session, when no living worker is there.
        session_sweep_seconds: Interval of the sweeps of ended sessions and of workspaces of finished attempts.
        rescue_seconds: How often runs that nobody works on are looked for; a lost run is picked up at most a lease
            and this later.
        abandon_seconds: How long a cancelled handler may take to return before it is abandoned.
    """

    deadline_seconds: float = 1800.0
    step_timeout_seconds: float = 600.0
    steps: int = 64
    concurrent_runs: int = 8
    queued_runs: int = 1000
    triggers: int = 10_000
    budgets: BudgetLimits = field(default_factory=BudgetLimits)
    step_input_bytes: int = 1 << 20
    step_output_bytes: int = 1 << 20
    transcript_bytes: int = 8 << 20
    wait_seconds: int = 50
    session_idle_seconds: float = 900.0
    session_wait_seconds: float = 60.0
    session_sweep_seconds: float = 30.0
    artifact_days: float = 7.0
    upload_bytes: int = 100 << 20
    lease_seconds: float = 30.0
    rescue_seconds: float = 5.0
    abandon_seconds: float = 5.0
    lanes: int = 64


@dataclass(frozen=True, slots=True)
class Resources:
    """Everything a worker needs.

    Attributes:
        release: Version of Packline.
        gateway: Calls models.
        sessions_folder: Where sessions have their workspaces.
        service_urls: Addresses of services the operator configured, by name.
        vault: The credentials packs may be given.
        memory: Audit memory: what callers usually choose.
        agents: What agent steps may use.
        router: Matches requests to packs and pipelines.
        labels: Labels that the operator gave this worker.
        fleet: What the living workers offer.
        metrics: Counts what this process does.
        executes: Whether this process executes runs; without, it only stores them, for the workers of other processes.
    """

    store: Store
    blobs: Blobs
    registry: Registry
    redactor: Redactor
    egress: Egress
    gateway: Gateway
    sessions_folder: Path
    memory: MemoryPort
    router: RouterPort
    release: str
    limits: RunLimits = field(default_factory=RunLimits)
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)
    service_urls: Mapping[str, str] = field(default_factory=dict)
    vault: Vault = field(default_factory=Vault)
    agents: Agents = field(default_factory=lambda: no_agents(Path("agents")))
    labels: frozenset[str] = frozenset()
    fleet: Fleet = field(default_factory=Fleet)
    metrics: Metrics = field(default_factory=Metrics)
    executes: bool = True

    def requirement_check(self, requester: CredentialRequester, agent: str | None = None) -> RequirementCheck:
        """Return what finds the credentials, models, agents, addresses and labels that packs need and lack.

        Args:
            requester: For whom the pack would run.
            agent: The profile the caller chose for agent steps; None leaves it to them.
        """

        def of(pack: Pack) -> list[Requirement]:
            if isinstance(pack, AgentPack):
                return self.agents.lacks(pack.agent, agent, self.vault, requester)
            agents = self.agents.lacks_any() if pack.uses_agent else []
            return [*self._settings(pack), *self.vault.lacks(pack, requester), *self._models(pack), *agents]

        def needs(pack: Pack) -> frozenset[str] | None:
            if not isinstance(pack, AgentPack):
                return step_needs(pack, self.registry)
            selected = self.agents.select(pack.agent, agent)  # the profile is chosen here, not by the worker
            return frozenset({agent_need(selected.profile)}) if isinstance(selected, Selection) else None

        return RequirementCheck(of, self.fleet, needs, self.executes)

    def offered_by(self, pack: Pack) -> frozenset[str]:
        """Return what a pack needs of a worker and this one has, agents excepted."""
        lacked = {as_need(service.name) for service, _ in missing_services(pack, PROBES)}
        lacked.update(as_need(lack.name) for lack in self._settings(pack))
        lacked.update(model_need(lack.name) for lack in self._models(pack))
        return pack_needs(pack) - lacked - {ANY_AGENT_NEED}

    def _settings(self, pack: Pack) -> list[Requirement]:
        return missing_settings(pack, self.service_urls, self.labels)

    def _models(self, pack: Pack) -> list[Requirement]:
        roles = [need.role for need in pack.models if need.required]
        missing = [(role, self.gateway.missing(role)) for role in roles]
        return [Requirement.of("model", role, lack) for role, lack in missing if lack]
