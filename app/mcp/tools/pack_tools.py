"""Packs as separate tools, for connections that name them: `/mcp?packs=doc.parse,web.scrape`.

Such a tool takes the pack's input and answers with the run that records the call, whose `output` follows the pack's
output schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from app.mcp.answers import Advice, Answer, CallError, answer_of
from app.mcp.tools.operation_tools import OperationTool, with_next
from app.mcp.tools.refusals import PACK_INPUT
from app.mcp.tools.tool import Call, ToolText
from app.mcp.tools.waiting import FIRST_SECONDS
from resolvers.tools import WAIT
from runner.excerpts import excerpt
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.packs.pack import Pack

#: Longest tool name; some clients refuse longer ones together with the server's name.
NAME_CHARACTERS: Final = 48
_INPUT_SCHEMA: Final = Advice("See the tool's input schema.")
_REST: Final = "get_run shows the output; get_artifact reads artifacts in parts."


@dataclass(frozen=True, slots=True)
class PackTool:
    """One version of a pack as a tool.

    Attributes:
        pack: The pack's name.
        runner: The tool that calls packs.
        waiter: The tool that waits for runs.
    """

    text: ToolText
    pack: str
    runner: OperationTool
    waiter: OperationTool
    scope: Scope | None = Scope.RUN

    async def answer(self, call: Call) -> Answer:
        """Call the pack, and wait some seconds for the result."""
        given = {name: value for name, value in (call.arguments or {}).items() if value is not None}
        found: list[dict[str, Any]] = []
        usual = WAIT.default if isinstance(WAIT.default, int) else FIRST_SECONDS
        seconds = usual if call.wait_seconds is None else call.wait_seconds
        patient = (call.progress is not None or call.session.ending is not None) and seconds > FIRST_SECONDS
        patient = patient and self.waiter.text.name in call.shown  # `wait_run` needs another scope
        first = FIRST_SECONDS if patient else seconds
        try:
            run = await self.runner.run(call.session, {"pack": self.pack, "input": given, "wait_seconds": first}, found)
        except CallError as error:
            raise _of_arguments(error) from error
        if patient:
            run |= await self.waiter.wait_on(call.session, run, seconds - first, call.progress, found)
        return answer_of(with_next(run, call.shown), found, _REST)


def pack_tool(pack: Pack, tools: Mapping[str, OperationTool]) -> PackTool:
    """A pack as a tool.

    Args:
        pack: The pack.
        tools: All tools; the pack's tool uses `run_pack` and `wait_run`.
    """
    runner = tools["run_pack"]
    name = pack.name.replace(".", "_").replace("-", "_")[-NAME_CHARACTERS:]
    output = dict(pack.output_schema)
    definitions = output.pop("$defs", None)
    output.pop("$schema", None)
    output_schema = dict(runner.text.output_schema)
    output_schema["properties"] = {**output_schema["properties"], "output": output}
    if definitions is not None:
        output_schema["$defs"] = definitions
    text = ToolText(
        name=name if name not in tools else f"pack_{name}",
        title=pack.name,
        description=excerpt((pack.metadata.typical_use or pack.description or pack.name).strip(), 400),
        input_schema={"type": "object", **pack.input_schema},
        output_schema=output_schema,
        read_only=False,
        idempotent=pack.repeatable,
        open_world=pack.effects != "none",
    )
    return PackTool(text, pack.name, runner, tools["wait_run"])


def _of_arguments(error: CallError) -> CallError:
    """The refusal with this tool's paths, whose arguments are the pack's input."""
    for field_error in error.body.get("field_errors", ()):
        field_error["path"] = field_error["path"].removeprefix("input.")
    error.advice = tuple(_INPUT_SCHEMA if one == PACK_INPUT else one for one in error.advice)
    return error
