"""`graphql_query`: runs any GraphQL query, under the same scopes and limits as over HTTP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from app.mcp.answers import Answer, answer_of
from app.mcp.session import Unanswered
from app.mcp.tools.refusals import failed
from app.mcp.tools.tool import Call, ToolText
from resolvers.agents.agent_tools import QUERY_TOOL
from store.states import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT: Final = ToolText(
    name=QUERY_TOOL,
    title="Read with GraphQL",
    description="Reads data that the other tools do not return; changes nothing. "
    'Query `{ __type(name: "Query") { fields { name args { name } } } }` to list the fields.',
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "A GraphQL query."},
            "variables": {"type": "object", "description": "Variables by name."},
        },
        "additionalProperties": False,
        "required": ["query"],
    },
    output_schema={
        "type": "object",
        "properties": {"data": {"type": "object"}, "errors": {"type": "array", "items": {"type": "object"}}},
        "required": ["data"],
    },
    read_only=True,
)
_REST: Final = (
    "Select fewer fields, page with `first` and `after`, or read values in parts: lower their `limitBytes`, and "
    "continue with `nextOffset` as `offset`."
)


@dataclass(frozen=True, slots=True)
class QueryTool:
    text: ToolText = field(default=_TEXT)
    scope: Scope | None = field(default=Scope.READ)
    toolset: str = field(default="default")

    async def answer(self, call: Call) -> Answer:
        given = call.checked(self.text)
        try:
            data, errors = await call.session.read(given["query"], given.get("variables", {}))
        except Unanswered as error:
            raise failed(error, given) from error
        answer: dict[str, object] = {"data": data}
        if errors:
            answer["errors"] = [_terse(error) for error in errors]
        return answer_of(answer, [], _REST)


def _terse(error: Mapping[str, Any]) -> dict[str, object]:
    more = error["extensions"]
    members = {
        "message": error["message"],
        "path": error["path"],
        "code": more.get("code"),
        "closest": more.get("suggestion"),
    }
    return {name: value for name, value in members.items() if value is not None}
