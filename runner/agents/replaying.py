"""Stores results of agent steps in the cache, and replays them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import orjson

from runner.agents.caching import Receipt
from runner.agents.input_output import AgentOutput
from runner.failures import PackError
from store.database.errors import StoreError
from store.memory.agent_results import CachedFile, find_result, put_result
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from runner.agents.agent_attempt import AgentAttempt


async def replayed_result(current: AgentAttempt, key: str) -> AgentOutput | None:
    """Return a cached result with its artifacts proposed again; None without one or if a content was erased."""
    ctx = current.ctx
    kept = await find_result(ctx.resources.store, ctx.caller_id, key)
    if kept is None:
        return None
    before = len(ctx.artifacts)
    try:
        artifacts = [await ctx.save_again(file, status=ArtifactStatus.PROPOSED) for file in kept.files]
    except (FileNotFoundError, PackError):
        del ctx.artifacts[before:], ctx.files[before:]  # the agent runs again and produces them
        return None
    ctx.receipt = orjson.dumps(asdict(Receipt(key, kept.made_at.isoformat(), kept.attempt_id))).decode()
    ctx.progress(None, "replayed from the cache")
    return AgentOutput(artifacts=artifacts, **orjson.loads(kept.output))


async def cache_result(current: AgentAttempt, key: str, output: AgentOutput) -> None:
    """Cache a result for as long as artifacts are kept, unless an artifact has a secret."""
    ctx = current.ctx
    if any(artifact.status == ArtifactStatus.QUARANTINED for artifact in ctx.artifacts):
        return
    value = ctx.resources.redactor.value(output.model_dump(mode="json", exclude={"artifacts"}))
    files = [CachedFile(ref.name, ref.media_type, ref.digest, ref.size_bytes) for ref in output.artifacts]
    try:
        await ctx.resources.store.write(
            put_result,
            caller_id=ctx.caller_id,
            key=key,
            attempt_id=ctx.attempt_id,
            output=orjson.dumps(value).decode(),
            files=files,
            keep_days=ctx.resources.limits.artifact_days,
        )
    except StoreError as error:  # the step has still succeeded
        ctx.warn(f"The result could not be cached: {error}")
