"""Lets an agent call Packline's own MCP tools: creates a token for the declared tools and revokes it at the end."""

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

#: Environment variables with the URL and the token.
URL_VARIABLE, TOKEN_VARIABLE = "PACKLINE_MCP_URL", "PACKLINE_MCP_TOKEN"
#: Scopes of the token, even if the run's caller has more.
SCOPES = frozenset({Scope.READ, Scope.RUN})
#: The token expires this long after the attempt's time-out, if a dead server could not revoke it.
SLACK_SECONDS = 30.0


@asynccontextmanager
async def tool_access(
    ctx: AttemptContext, tools: Sequence[str], level: Isolation, transcript: Transcript
) -> AsyncIterator[dict[str, str]]:
    """Return the environment variables for tool calls on behalf of the run's caller; none without declared tools.

    The token always ends with the attempt. A call of another tool is a denial in the transcript.

    Raises:
        PackError: `policy_denied` if the agent has no network, or this process serves no tools.
    """
    if not tools:
        yield {}
        return
    url = ctx.resources.agents.mcp_url
    if level is Isolation.SANDBOX_OFFLINE or url is None:
        if url is None:
            why = "the worker serves none itself and does not know the server's address"
            hint = "Set PACKLINE_PUBLIC_URL for the worker to an address at which it reaches the server."
        else:
            why, hint = "it has no network", "Leave `tools` out, or use a profile with a network."
        raise PackError(
            FailureCode.POLICY_DENIED,
            f"The step declares `tools` of Packline, but its agent cannot reach them: {why}.",
            hint=hint,
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
