"""The engine's resources and limits, from the settings."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from app.artifact_store import artifact_store
from app.mcp.uris import MCP_PATH
from app.settings.agents import agents_of, given_secrets
from app.settings.models import given_keys, providers_of, roles_of
from runner.gateway.budgets import BudgetLimits
from runner.gateway.gateway import Gateway
from runner.gateway.keys import KEY_FIELD, KeyChain, StaticKeys
from runner.running.resources import Resources, RunLimits
from runner.secrets.forms import MIN_SECRET_LENGTH
from store.maintenance.retention import RetentionPolicy

if TYPE_CHECKING:
    from app.settings.server import Settings
    from catalog.memory.audit_memory import Memory
    from resolvers.catalog.pack_routing import PackRouter
    from runner.egress.client import Egress
    from runner.metrics import Metrics
    from runner.packs.registry import Registry
    from runner.secrets.redaction import Redactor
    from runner.secrets.vault import Vault
    from store.database.engine import Store


def resources_of(
    settings: Settings,
    *,
    store: Store,
    registry: Registry,
    redactor: Redactor,
    egress: Egress,
    vault: Vault,
    memory: Memory,
    metrics: Metrics,
    router: PackRouter,
    answers: bool,
) -> Resources:
    """The resources of the engine; the redactor learns the secrets in the settings.

    `answers` says whether this process serves the surfaces, MCP among them.
    """
    agents = agents_of(
        settings.agents,
        folder=settings.data_dir / "agents",
        output_bytes=settings.agent_output_bytes,
        workspace_bytes=settings.agent_workspace_bytes,
        mcp_url=_mcp_url(settings, answers=answers),
    )
    redactor.learn(given_secrets(agents))
    return Resources(
        store=store,
        blobs=artifact_store(settings),
        registry=registry,
        redactor=redactor,
        egress=egress,
        sessions_folder=settings.data_dir / "sessions",
        limits=_limits(settings),
        retention=RetentionPolicy(
            run_days=settings.run_days,
            run_count=settings.run_count,
            audit_days=settings.audit_days,
            memory_days=settings.memory_days,
        ),
        service_urls=dict(settings.service_urls),
        metrics=metrics,
        gateway=_gateway(settings, egress, vault, redactor, metrics),
        vault=vault,
        memory=memory,
        agents=agents,
        router=router,
        release=version("packline"),
        labels=frozenset(settings.offers),
        executes=settings.worker,
    )


def _gateway(settings: Settings, egress: Egress, vault: Vault, redactor: Redactor, metrics: Metrics) -> Gateway:
    providers = providers_of(settings.model_providers, settings.model_prices)
    given = given_keys(providers)
    # No provider issues shorter keys, and masking them would damage ordinary words.
    redactor.learn({f"{name}.{KEY_FIELD}": key for name, key in given.items() if len(key) >= MIN_SECRET_LENGTH})
    return Gateway(
        providers,
        roles_of(settings.model_roles),
        KeyChain((vault, StaticKeys(given))),
        egress,
        call_seconds=settings.model_call_seconds,
        metrics=metrics,
    )


def _mcp_url(settings: Settings, *, answers: bool) -> str | None:
    """The address of Packline's tools for agents on this machine: the public one, else loopback if served there."""
    if settings.public_url:
        return f"{settings.outward}{MCP_PATH}"
    if not answers:
        return None
    return f"http://127.0.0.1:{settings.port}{settings.base}{MCP_PATH}"


def _limits(settings: Settings) -> RunLimits:
    return RunLimits(
        deadline_seconds=settings.run_deadline_seconds,
        step_timeout_seconds=settings.step_timeout_seconds,
        steps=settings.steps_max,
        concurrent_runs=settings.caller_concurrent_runs,
        queued_runs=settings.queue_limit,
        triggers=settings.caller_triggers,
        budgets=BudgetLimits(
            run_usd=settings.budget_run_usd,
            run_tokens=settings.budget_run_tokens,
            caller_month_usd=settings.budget_caller_month_usd,
            caller_month_tokens=settings.budget_caller_month_tokens,
            month_usd=settings.budget_month_usd,
            month_tokens=settings.budget_month_tokens,
        ),
        step_input_bytes=settings.step_input_bytes,
        step_output_bytes=settings.step_output_bytes,
        transcript_bytes=settings.transcript_bytes,
        wait_seconds=settings.wait_seconds_max,
        session_idle_seconds=settings.session_idle_seconds,
        session_wait_seconds=settings.session_wait_seconds,
        session_sweep_seconds=settings.session_sweep_seconds,
        artifact_days=settings.artifact_days,
        upload_bytes=settings.upload_bytes,
        lease_seconds=settings.lease_seconds,
        rescue_seconds=settings.rescue_seconds,
        lanes=settings.lanes,
    )
