"""A model server for agents' programs: it plays an agent that follows a script and calls tools.

Speaks what the programs speak, streamed: Anthropic messages (Claude Code), Gemini (Gemini CLI), OpenAI responses
(Codex) and chat completions (opencode). What to do next is decided by the results in the conversation alone, so that a
program may repeat a request.

    async with agent_model(script) as model:
        ANTHROPIC_BASE_URL=model.url …
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.loopback_http import Reply, Request, loopback_http
from tests.support.model_server import streamed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence


@dataclass(frozen=True)
class Call:
    """A tool the agent calls, by its name on the server."""

    tool: str
    arguments: dict[str, Any]


@dataclass
class AgentModel:
    """The running server.

    Attributes:
        url: Its address.
        script: What the agent does after these results, oldest first: a call, or its last words.
        offered: Names of the tools the program offered with the last request.
        results: What the tools answered so far, as the model saw it: JSON where it was JSON.
        said: The agent's last words, once it is done.
        instructions: System text of the last request.
        mark: How the name of a tool ends that is offered when it is the agent's turn.
    """

    url: str
    script: Callable[[Sequence[Any]], Awaitable[Call | str]]
    offered: list[str] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    said: str | None = None
    instructions: str = ""
    mark: str = "run_pipeline"

    async def act(self, offered: list[str], results: list[Any], instructions: str) -> tuple[str, dict[str, Any]] | str:
        """The next tool by the name the program knows it by, with arguments; or text."""
        if not any(name.endswith(self.mark) for name in offered):
            return "Packline"  # a title for the conversation, a summary: not the agent's turn
        self.offered, self.results, self.instructions = offered, results, instructions
        try:
            wanted = await self.script(results)
        except AssertionError as failed:
            wanted = f"FAILED: {failed}"  # a program would ask again and again
        if isinstance(wanted, str):
            self.said = wanted
            return wanted
        named = [name for name in offered if name.endswith(wanted.tool)]
        name = wanted.tool if wanted.tool in named else next(iter(named), None)
        assert name is not None, f"{wanted.tool} is not among {offered}"
        return name, wanted.arguments


@contextlib.asynccontextmanager
async def agent_model(
    script: Callable[[Sequence[Any]], Awaitable[Call | str]], *, mark: str = "run_pipeline"
) -> AsyncIterator[AgentModel]:
    """Serves while the block runs."""
    async with loopback_http({}) as http:
        model = AgentModel(http.url(""), script, mark=mark)

        async def anthropic(request: Request, _: Any) -> Reply:
            return await _as_anthropic(model, json.loads(request.body))

        async def gemini(request: Request, _: Any) -> Reply:
            return await _as_gemini(model, json.loads(request.body), stream="stream" in request.path)

        async def responses(request: Request, _: Any) -> Reply:
            return await _as_responses(model, json.loads(request.body))

        async def openai(request: Request, _: Any) -> Reply:
            return await _as_openai(model, json.loads(request.body))

        http.routes["/v1/messages"] = anthropic
        http.routes["/v1/messages/count_tokens"] = Reply(b'{"input_tokens": 100}', headers=_JSON)
        for name in ("gemini-test", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"):
            http.routes[f"/v1beta/models/{name}:streamGenerateContent"] = gemini
            http.routes[f"/v1beta/models/{name}:generateContent"] = gemini
            http.routes[f"/v1beta/models/{name}:countTokens"] = Reply(b'{"totalTokens": 100}', headers=_JSON)
        http.routes["/v1/responses"] = responses
        http.routes["/v1/chat/completions"] = openai
        yield model


_JSON = {"content-type": "application/json"}
_EVENTS = {"content-type": "text/event-stream"}


def _read(content: Any) -> Any:
    """A tool's answer as the model sees it: JSON where it is."""
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    if isinstance(content, dict):
        content = content.get("output", content.get("error", content))
    if isinstance(content, str):
        with contextlib.suppress(ValueError):
            return json.JSONDecoder().raw_decode(content[content.index("{") :])[0]
    return content


async def _as_anthropic(model: AgentModel, body: dict[str, Any]) -> Reply:
    blocks = [
        block
        for message in body["messages"]
        if message["role"] == "user" and isinstance(message["content"], list)
        for block in message["content"]
    ]
    results = [_read(block.get("content")) for block in blocks if block["type"] == "tool_result"]
    system = body.get("system") or ""
    told = system if isinstance(system, str) else "\n".join(part["text"] for part in system)
    told += "\n".join(block.get("text", "") for block in blocks if block["type"] == "text")
    act = await model.act([tool["name"] for tool in body.get("tools") or []], results, told)
    if isinstance(act, str):
        content, stop = {"type": "text", "text": act}, "end_turn"
    else:
        content = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": act[0], "input": act[1]}  # type: ignore[dict-item]
        stop = "tool_use"
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [content],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }
    return streamed(message) if body.get("stream") else Reply(json.dumps(message).encode(), headers=_JSON)


async def _as_gemini(model: AgentModel, body: dict[str, Any], *, stream: bool) -> Reply:
    parts = [part for content in body["contents"] for part in content.get("parts", [])]
    results = [_read(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
    offered = [one["name"] for tool in body.get("tools") or [] for one in tool.get("functionDeclarations", [])]
    told = "\n".join(part.get("text", "") for part in (body.get("systemInstruction") or {}).get("parts", []))
    act = await model.act(offered, results, told)
    part = {"text": act} if isinstance(act, str) else {"functionCall": {"name": act[0], "args": act[1]}}
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
        "modelVersion": "gemini-test",
    }
    text = json.dumps(answer)
    if stream:
        return Reply(f"data: {text}\n\n".encode(), headers=_EVENTS)
    return Reply(text.encode(), headers=_JSON)


async def _as_responses(model: AgentModel, body: dict[str, Any]) -> Reply:
    """Codex puts a server's tools into a namespace, and names both in a call."""
    results = [_read(item["output"]) for item in body["input"] if item["type"] == "function_call_output"]
    namespaces = {tool["name"]: "" for tool in body["tools"] if tool["type"] == "function"}
    for tool in body["tools"]:
        if tool["type"] == "namespace":
            namespaces |= {inner["name"]: tool["name"] for inner in tool["tools"]}
    told = [item for item in body["input"] if item["type"] == "message" and item["role"] in ("developer", "user")]
    texts = "\n".join(part.get("text", "") for item in told for part in item["content"])
    act = await model.act([*namespaces], results, texts)
    item: dict[str, Any]
    if isinstance(act, str):
        content = [{"type": "output_text", "text": act, "annotations": []}]
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    else:
        call_id = f"call_{len(results)}"
        item = {"type": "function_call", "id": f"fc_{len(results)}", "call_id": call_id, "status": "completed"}
        item |= {"name": act[0], "namespace": namespaces[act[0]], "arguments": json.dumps(act[1])}
    usage = {
        "input_tokens": 10,
        "output_tokens": 10,
        "total_tokens": 20,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    answer = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**answer, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": answer},
    ]
    lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Reply(lines.encode(), headers=_EVENTS)


async def _as_openai(model: AgentModel, body: dict[str, Any]) -> Reply:
    results = [_read(message["content"]) for message in body["messages"] if message["role"] == "tool"]
    offered = [tool["function"]["name"] for tool in body.get("tools") or []]
    told = "\n".join(str(message["content"]) for message in body["messages"] if message["role"] == "system")
    act = await model.act(offered, results, told)
    if isinstance(act, str):
        delta: dict[str, Any] = {"role": "assistant", "content": act}
        finish = "stop"
    else:
        function = {"name": act[0], "arguments": json.dumps(act[1])}
        call = {"index": 0, "id": f"call_{len(results)}", "type": "function", "function": function}
        delta, finish = {"role": "assistant", "tool_calls": [call]}, "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": body["model"]}
    if not body.get("stream"):
        message = {key: value for key, value in delta.items()}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return Reply(
            json.dumps({**base, "object": "chat.completion", "choices": [choice], "usage": usage}).encode(),
            headers=_JSON,
        )
    chunks = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage},
    ]
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return Reply(lines.encode(), headers=_EVENTS)
