"""Model providers on loopback: OpenAI chat completions, Anthropic messages and Gemini, as they are on the wire.

Answers are computed from the request: a text is made of the sentences of the prompt, a structured one fills the
schema from them. What goes wrong is chosen by the name of the model (`FAULTS`); every other name answers well.
`server.answer` may be set to answer otherwise.

    async with model_server() as server:
        harness = Harness(tmp_path, models=server.models(writer=["good"]))
        harness = Harness(tmp_path, models=server.models(writer=["limited", "anthropic:good"]))

    async with model_server() as server, product(tmp_path, packs, **server.settings(writer=["good"])) as it:
        …
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runner.egress.client import Egress
from runner.gateway.gateway import Gateway
from runner.gateway.keys import StaticKeys
from runner.gateway.providers import ModelRef, Provider
from tests.support.loopback_http import LoopbackHttp, Reply, Request, loopback_http
from tests.support.waiting import pass_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

    from packline import Models
    from runner.gateway.uses import ModelUse

#: Names of models that fail, and how.
FAULTS = {
    "limited": "429 with Retry-After: 7",
    "limited-plain": "429 without Retry-After",
    "flaky": "429 with Retry-After: 0 twice, then well",
    "down": "500",
    "overloaded": "529, as Anthropic says it is overloaded",
    "slow": "never answers",
    "dropped": "ends the connection without an answer",
    "garbled": "200 with a body that is not JSON",
    "cut": "cut off for length (finish_reason length)",
    "filtered": "refused by the provider's content filter",
    "empty": "an answer without text",
    "misfit-once": "JSON that does not fit the schema, then well",
    "misfit": "JSON that never fits the schema",
    "broken-once": "JSON that is cut in the middle, then well",
    "unknown": "404, no such model",
    "refused": "401, the key is refused",
    "forbidden": "403",
    "bad-request": "400",
    "unpaid": "402",
    "over-quota": "429 with the code insufficient_quota",
    "uncounted": "well, without telling tokens",
}
#: What every other provider's key is on this server.
KEY = "loopback-model-key-0123456789"


@dataclass(frozen=True)
class Asked:
    """One request, whatever its protocol.

    Attributes:
        protocol: `openai`, `anthropic` or `google`.
        key: As it was sent.
        instructions: The system's turn.
        prompt: The user's first turn.
        repairs: What was sent back to the model after a first answer.
        pictures: How many were shown.
        schema: JSON Schema of a structured answer; None for text.
        body: All of it.
    """

    protocol: str
    model: str
    key: str
    instructions: str
    prompt: str
    repairs: tuple[str, ...]
    pictures: int
    schema: dict[str, Any] | None
    max_tokens: int | None
    temperature: float | None
    body: dict[str, Any]


@dataclass
class ModelServer:
    """The running server.

    Attributes:
        http: What it is made of.
        asked: Every request that was understood, in order.
        answer: Looked up for each request before the rules; gives the text or the JSON to answer, or None.
        released: Ends the wait of the model `slow`.
        late_seconds: How far the model `slow` puts the clock of its loop forward once it is asked: the time a call may
            take, for callers in the same loop.
    """

    http: LoopbackHttp
    egress: Egress
    asked: list[Asked] = field(default_factory=list)
    answer: Callable[[Asked], str | dict[str, Any] | None] | None = None
    released: asyncio.Event = field(default_factory=asyncio.Event)
    late_seconds: float = 0.0

    def providers(self) -> dict[str, dict[str, str]]:
        """The setting `model_providers` that leads here: openai, anthropic, google, ollama and one `own`."""
        base = self.http.url("")
        return {
            "openai": {"base_url": f"{base}/v1"},
            "anthropic": {"base_url": base},
            "google": {"base_url": base},
            "ollama": {"base_url": f"{base}/v1"},
            "own": {"kind": "openai", "base_url": f"{base}/v1"},
        }

    def settings(self, **roles: Sequence[str]) -> dict[str, Any]:
        """Settings of a server whose roles are served here; a bare name is a model of `openai`."""
        return {
            "model_providers": self.providers(),
            "model_roles": {role: tuple(map(_full, chain)) for role, chain in roles.items()},
        }

    def gateway(self, *, call_seconds: float = 20.0, **roles: Sequence[str]) -> Gateway:
        """A gateway whose roles are served here; a bare name is a model of `openai`."""
        from app.settings.models import providers_of

        providers: dict[str, Provider] = providers_of(self.providers())
        chains = {role: [ModelRef.parse(_full(text)) for text in chain] for role, chain in roles.items()}
        keys = StaticKeys({name: KEY for name in ("openai", "anthropic", "google")})
        return Gateway(providers, chains, keys, self.egress, call_seconds=call_seconds)

    def models(
        self,
        record: Callable[[ModelUse], None] = lambda _: None,
        warn: Callable[[str], None] = lambda _: None,
        *,
        call_seconds: float = 20.0,
        **roles: Sequence[str],
    ) -> Models:
        """What packs see as `ctx.models`, for `Harness(models=…)`."""
        return self.gateway(call_seconds=call_seconds, **roles).attempt(record, warn)

    def count(self, model: str) -> int:
        """How often a model was asked."""
        return sum(asked.model == model for asked in self.asked)


@contextlib.asynccontextmanager
async def model_server(routes: Mapping[str, Reply] | None = None) -> AsyncIterator[ModelServer]:
    """Serves while the block runs.

    Args:
        routes: More paths to serve, such as those of voices.
    """
    egress = Egress()
    async with loopback_http(dict(routes or {})) as http:
        server = ModelServer(http, egress)
        http.routes["/v1/chat/completions"] = lambda request, _: _serve(server, request, _from_openai)
        http.routes["/v1/messages"] = lambda request, _: _serve(server, request, _from_anthropic)
        for model in (*FAULTS, "good", "gemini-2.5-flash"):
            path = f"/v1beta/models/{model}:generateContent"
            http.routes[path] = lambda request, _: _serve(server, request, _from_google)
        try:
            yield server
        finally:
            server.released.set()
            await egress.aclose()


def _full(model: str) -> str:
    return model if ":" in model else f"openai:{model}"


# ------------------------------------------------------------------------------------------------ requests


def _from_openai(request: Request) -> Asked:
    body = json.loads(request.body)
    system, users = [], []
    pictures = 0
    for message in body["messages"]:
        text, shown = _parts(message.get("content"))
        pictures += shown
        if message["role"] in ("system", "developer"):
            system.append(text)
        elif message["role"] in ("user", "tool"):
            users.append(text)
    wanted = body.get("response_format") or {}
    schema = wanted.get("json_schema", {}).get("schema")
    if body.get("tools"):
        schema = body["tools"][0]["function"]["parameters"]
    return Asked(
        protocol="openai",
        model=body["model"],
        key=request.headers.get("authorization", "").removeprefix("Bearer "),
        instructions="\n".join(system),
        prompt=users[0] if users else "",
        repairs=tuple(users[1:]),
        pictures=pictures,
        schema=schema,
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        temperature=body.get("temperature"),
        body=body,
    )


def _from_anthropic(request: Request) -> Asked:
    body = json.loads(request.body)
    system = body.get("system") or ""
    users, pictures = [], 0
    for message in body["messages"]:
        if message["role"] == "user":
            text, shown = _parts(message["content"])
            users.append(text)
            pictures += shown
    tools = body.get("tools") or []
    return Asked(
        protocol="anthropic",
        model=body["model"],
        key=request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer "),
        instructions=_parts(system)[0],
        prompt=users[0] if users else "",
        repairs=tuple(users[1:]),
        pictures=pictures,
        schema=tools[0]["input_schema"] if tools else None,
        max_tokens=body.get("max_tokens"),
        temperature=body.get("temperature"),
        body=body,
    )


def _from_google(request: Request) -> Asked:
    body = json.loads(request.body)
    users, pictures = [], 0
    for content in body["contents"]:
        if content.get("role") == "user":
            users.append("\n".join(part.get("text", "") for part in content["parts"]))
            pictures += sum("inlineData" in part for part in content["parts"])
    tools = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations", [])]
    config = body.get("generationConfig") or {}
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    if tools:
        schema = tools[0].get("parameters_json_schema") or tools[0].get("parameters")
    return Asked(
        protocol="google",
        model=request.path.rpartition("/")[2].partition(":")[0],
        key=request.headers.get("x-goog-api-key", ""),
        instructions="\n".join(part["text"] for part in (body.get("systemInstruction") or {}).get("parts", [])),
        prompt=users[0] if users else "",
        repairs=tuple(users[1:]),
        pictures=pictures,
        schema=schema,
        max_tokens=config.get("maxOutputTokens"),
        temperature=config.get("temperature"),
        body=body,
    )


def _parts(content: object) -> tuple[str, int]:
    """The text of a message's content, and how many pictures it shows."""
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        return "", 0
    texts, pictures = [], 0
    for part in content:
        match part.get("type"):
            case "image_url" | "image":
                pictures += 1
            case "tool_result":
                texts.append(_parts(part.get("content"))[0])
            case _:
                texts.append(str(part.get("text", "")))
    return "\n".join(texts), pictures


# ------------------------------------------------------------------------------------------------ faults


async def _serve(server: ModelServer, request: Request, read: Callable[[Request], Asked]) -> Reply | None:
    asked = read(request)
    server.asked.append(asked)
    times = server.count(asked.model)
    match asked.model:
        case "limited":
            return _error(asked, 429, "rate_limit_exceeded", {"retry-after": "7"})
        case "limited-plain":
            return _error(asked, 429, "rate_limit_exceeded")
        case "flaky" if times <= 2:
            return _error(asked, 429, "rate_limit_exceeded", {"retry-after": "0"})
        case "over-quota":
            return _error(asked, 429, "insufficient_quota")
        case "down":
            return _error(asked, 500, "server_error")
        case "overloaded":
            return _error(asked, 529, "overloaded_error")
        case "unknown":
            return _error(asked, 404, "model_not_found")
        case "refused":
            return _error(asked, 401, "invalid_api_key")
        case "forbidden":
            return _error(asked, 403, "permission_error")
        case "bad-request":
            return _error(asked, 400, "invalid_request_error")
        case "unpaid":
            return _error(asked, 402, "billing_error")
        case "garbled":
            return Reply(b"<html>not an API</html>", headers={"content-type": "text/html"})
        case "dropped":
            return None
        case "slow":
            pass_time(server.late_seconds)
            await server.released.wait()
            return None
    answer = _ANSWERS[asked.protocol](asked, _answer(server, asked, times))
    return streamed(answer) if asked.protocol == "anthropic" and asked.body.get("stream") else _json(answer)


def _answer(server: ModelServer, asked: Asked, times: int) -> str:
    """The text a model gives, JSON where a schema was asked for."""
    match asked.model:
        case "empty":
            return ""
        case "misfit":
            return json.dumps({"unrelated": True})
        case "misfit-once" if times == 1:
            return json.dumps({"unrelated": True})
        case "broken-once" if times == 1:
            return '{"broken": ['
    made = None if server.answer is None else server.answer(asked)
    if made is None:
        made = summary(asked.prompt) if asked.schema is None else filled(asked.schema, asked.prompt)
    return made if isinstance(made, str) else json.dumps(made)


def _error(asked: Asked, status: int, code: str, headers: Mapping[str, str] | None = None) -> Reply:
    match asked.protocol:
        case "anthropic":
            body: dict[str, Any] = {"type": "error", "error": {"type": code, "message": code.replace("_", " ")}}
        case "google":
            body = {"error": {"code": status, "message": code.replace("_", " "), "status": code.upper()}}
        case _:
            body = {"error": {"message": code.replace("_", " "), "type": code, "param": None, "code": code}}
    return _json(body, status, headers)


def _json(body: dict[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(json.dumps(body).encode(), status, {"content-type": "application/json", **(headers or {})})


# ------------------------------------------------------------------------------------------------ answers


def _as_openai(asked: Asked, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    finish = {"cut": "length", "filtered": "content_filter"}.get(asked.model, "stop")
    if asked.body.get("tools"):
        call = {"name": asked.body["tools"][0]["function"]["name"], "arguments": text}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        }
        finish = "tool_calls" if finish == "stop" else finish
    answer: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if asked.model != "uncounted":
        read, written = tokens(asked, text)
        answer["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return answer


def _as_anthropic(asked: Asked, text: str) -> dict[str, Any]:
    stop = {"cut": "max_tokens", "filtered": "refusal"}.get(asked.model, "end_turn")
    content: dict[str, Any] = {"type": "text", "text": text}
    if asked.schema is not None:
        with contextlib.suppress(ValueError):
            content = {
                "type": "tool_use",
                "id": "toolu_1",
                "name": asked.body["tools"][0]["name"],
                "input": json.loads(text),
            }
            stop = "tool_use" if stop == "end_turn" else stop
    read, written = tokens(asked, text)
    if asked.model == "uncounted":
        read = written = 0
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [content] if text else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def streamed(message: dict[str, Any]) -> Reply:
    """A message as Anthropic streams it: server-sent events, texts and arguments in two parts."""
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        is_tool = block["type"] == "tool_use"
        written = json.dumps(block["input"]) if is_tool else block["text"]
        empty = {**block, "input": {}} if is_tool else {**block, "text": ""}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        for part in (written[: len(written) // 2], written[len(written) // 2 :]):
            delta = (
                {"type": "input_json_delta", "partial_json": part} if is_tool else {"type": "text_delta", "text": part}
            )
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    events += [{"type": "message_delta", "delta": ended, "usage": usage}, {"type": "message_stop"}]
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Reply(text.encode(), headers={"content-type": "text/event-stream"})


def _as_google(asked: Asked, text: str) -> dict[str, Any]:
    part: dict[str, Any] = {"text": text}
    tools = [one for tool in asked.body.get("tools") or [] for one in tool.get("functionDeclarations", [])]
    if tools:
        with contextlib.suppress(ValueError):
            part = {"functionCall": {"name": tools[0]["name"], "args": json.loads(text)}}
    finish = {"cut": "MAX_TOKENS", "filtered": "SAFETY"}.get(asked.model, "STOP")
    answer: dict[str, Any] = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": finish, "index": 0}],
        "modelVersion": asked.model,
        "responseId": "response-1",
    }
    if asked.model != "uncounted":
        read, written = tokens(asked, text)
        answer["usageMetadata"] = {
            "promptTokenCount": read,
            "candidatesTokenCount": written,
            "totalTokenCount": read + written,
        }
    return answer


_ANSWERS: dict[str, Callable[[Asked, str], dict[str, Any]]] = {
    "openai": _as_openai,
    "anthropic": _as_anthropic,
    "google": _as_google,
}


def tokens(asked: Asked, text: str) -> tuple[int, int]:
    """Tokens read and written, as this server counts them: one for four characters."""
    return (len(asked.instructions) + len(asked.prompt) + sum(map(len, asked.repairs))) // 4 + 1, len(text) // 4 + 1


def summary(prompt: str, sentences: int = 3) -> str:
    """The sentences of a text that hold most of its frequent words, in their order."""
    found = list(sentences_of(prompt))
    words = [re.findall(r"\w{4,}", sentence.lower()) for sentence in found]
    counts: dict[str, int] = {}
    for word in (word for line in words for word in line):
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(range(len(found)), key=lambda n: -sum(counts[word] for word in words[n]) / (len(words[n]) + 3))
    return " ".join(found[n] for n in sorted(ranked[:sentences])) or "Nothing was said."


def sentences_of(text: str) -> Iterable[str]:
    """Sentences of a text; lines that are tags or headings are left out."""
    for line in text.splitlines():
        if not line.strip() or re.fullmatch(r"\s*</?[\w -]+.*?>\s*|\s*#+ .*", line):
            continue
        yield from (part.strip() for part in re.split(r"(?<=[.!?。])\s+", line) if len(part.strip()) > 2)


def filled(schema: Mapping[str, Any], prompt: str) -> Any:
    """A value that fits a JSON Schema, filled in from the sentences, numbers and links of a text."""
    return _Filler(schema, prompt).value(schema, "")


class _Filler:
    def __init__(self, schema: Mapping[str, Any], prompt: str) -> None:
        self._root = schema
        self._sentences = list(sentences_of(prompt)) or ["Nothing was said."]
        self._links = re.findall(r"https?://[^\s<>\"')\]]+", prompt) or ["https://example.org/"]
        self._next = 0

    def value(self, schema: Mapping[str, Any], name: str) -> Any:
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        for key in ("anyOf", "oneOf"):
            if key in schema:
                options = [option for option in schema[key] if option.get("type") != "null"]
                return self.value(options[0], name)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match kind if isinstance(kind, str) else next(one for one in kind if one != "null"):
            case "object":
                return {key: self.value(inner, key) for key, inner in (schema.get("properties") or {}).items()}
            case "array":
                count = max(schema.get("minItems", 0), min(3, len(self._sentences), schema.get("maxItems", 3)))
                return [self.value(schema.get("items") or {}, name) for _ in range(count)]
            case "integer":
                return int(self._number(schema))
            case "number":
                return float(self._number(schema))
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return self._text(schema, name)

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in schema:
            found: Any = self._root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        if len(schema.get("allOf", ())) == 1:
            return self._resolved(schema["allOf"][0])
        return schema

    def _number(self, schema: Mapping[str, Any]) -> float:
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0) + ("exclusiveMinimum" in schema))
        high = schema.get("maximum", schema.get("exclusiveMaximum", 1e9) - ("exclusiveMaximum" in schema))
        return float(max(low, min(high, 1)))

    def _text(self, schema: Mapping[str, Any], name: str) -> str:
        if schema.get("format") in ("uri", "url") or re.search(r"(^|_)(url|link|uri)s?$", name):
            return self._links[self._next % len(self._links)]
        text = self._sentences[self._next % len(self._sentences)]
        self._next += 1
        if re.search(r"title|heading|query|name|subject|key", name):
            text = " ".join(re.findall(r"[\w%.,'-]+", text)[:8]).rstrip(".,")
        longest = schema.get("maxLength")
        return text if longest is None else text[:longest]
