"""What lets an agent call Packline's own MCP tools: a token for the tools its step declares, while it works."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from runner.agents.isolation import Isolation
from runner.failures import FailureCode, PackError
from store.access.tokens import TokenKind, create_token, revoke_token
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from runner.agents.transcript import Transcript
    from runner.running.attempt_context import AttemptContext

#: Variables the agent finds address and token in.
URL_VARIABLE, TOKEN_VARIABLE = "PACKLINE_MCP_URL", "PACKLINE_MCP_TOKEN"
#: All such a token allows, even if the run's caller may do more.
SCOPES = frozenset({Scope.READ, Scope.RUN})
#: Time beyond the attempt's own that a token lives when the server died before it could revoke it.
SLACK_SECONDS = 30.0


@asynccontextmanager
async def tool_access(
    ctx: AttemptContext, tools: Sequence[str], level: Isolation, transcript: Transcript
) -> AsyncIterator[dict[str, str]]:
    """The environment variables for an agent's calls back, as the run's caller; nothing when it declares no tools.

    The token ends with the attempt, however that ends. A call of another tool is a denial in the transcript.

    Raises:
        PackError: `policy_denied` when the agent has no network, or this server serves no tools.
    """
    if not tools:
        yield {}
        return
    url = ctx.resources.agents.mcp_url
    if level is Isolation.SANDBOX_OFFLINE or url is None:
        why = "it works without a network" if url is not None else "this process serves none"
        raise PackError(
            FailureCode.POLICY_DENIED,
            f"The step declares `tools` of Packline, but its agent cannot reach them: {why}.",
            hint="Leave `tools` out, use a profile with a network, or set PACKLINE_PUBLIC_URL.",
        )
    made = await ctx.resources.store.write(
        create_token,
        ctx.caller_id,
        name=f"Agent of {ctx.step_key}",
        scopes=SCOPES,
        expires_at=datetime.now(UTC) + timedelta(seconds=ctx.timeout_seconds + SLACK_SECONDS),
        kind=TokenKind.AGENT,
        tools=tools,
    )
    refusals = ctx.resources.agents.refusals
    refusals[made.token.id] = lambda tool: transcript.add("denial", tool, {"tool": tool, "by": "tools"})
    try:
        yield {URL_VARIABLE: url, TOKEN_VARIABLE: made.plaintext}
    finally:
        del refusals[made.token.id]
        await ctx.resources.store.write(revoke_token, made.token.id)
