"""Reads the stream formats of known agent programs: turns, tool calls with their results, tokens and cost.

Vendors change their formats, so a reader returns false for an unknown event and trusts no type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.agents.parsed_output import ParsedOutput
    from runner.agents.transcript import Transcript
    from runner.failures import JSONValue

#: Largest credible numbers of tokens and dollars; a program may print numbers that no database can store.
MAX_TOKENS, MAX_COST_USD = 10**12, 1e6
#: Most parts of one message: each becomes an entry, and a line of 1 MB could block the event loop with 100,000.
MAX_BLOCKS = 200


def _claude(event: dict[str, Any], transcript: Transcript, parsed: ParsedOutput) -> bool:
    """`claude -p --output-format stream-json`: Messages API content blocks, then one `result`."""
    match event.get("type"):
        case "system":
            parsed.usage.model = _text(event.get("model")) or parsed.usage.model
            return True
        case "stream_event":
            return True  # parts of a message that also comes as a whole
        case "assistant" | "user":
            message = event.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if not isinstance(blocks, list) or len(blocks) > MAX_BLOCKS:
                return False
            for block in blocks:
                if isinstance(block, dict):
                    _claude_block(block, transcript, parsed)
            return True
        case "result":
            parsed.has_result = True
            if answer := _text(event.get("result")):
                parsed.conclude(answer)
            kind = _text(event.get("subtype")) or ""
            parsed.failure = None
            if event.get("is_error") is True or kind.startswith("error"):
                parsed.failure = answer or _content_text(event.get("errors") or None) or kind or "The turn failed."
            usage = event.get("usage")
            counted = usage if isinstance(usage, dict) else {}
            _count(parsed, counted.get("input_tokens"), counted.get("output_tokens"), event.get("total_cost_usd"))
            transcript.add("usage", None, _usage(parsed, turns=event.get("num_turns")))
            denials = event.get("permission_denials")
            for denial in denials[:MAX_BLOCKS] if isinstance(denials, list) else ():
                transcript.add("denial", None, denial)
            return True
    return False


def _claude_block(block: dict[str, Any], transcript: Transcript, parsed: ParsedOutput) -> None:
    match block.get("type"):
        case "text":
            text = _text(block.get("text")) or ""
            parsed.expect_result(text)
            parsed.say(text)
        case "thinking":
            transcript.add("message", _text(block.get("thinking")), {"thinking": True})
        case "tool_use":
            data = {"id": block.get("id"), "tool": block.get("name"), "arguments": block.get("input")}
            transcript.add("tool_call", _text(block.get("name")), data)
        case "tool_result":
            data = {"id": block.get("tool_use_id"), "is_error": bool(block.get("is_error"))}
            transcript.add("tool_result", _content_text(block.get("content")), data)


def _codex(event: dict[str, Any], transcript: Transcript, parsed: ParsedOutput) -> bool:
    """`codex exec --json`: items that start and complete, and the tokens of each turn."""
    match event.get("type"):
        case "thread.started" | "turn.started" | "item.started" | "item.updated":
            return True
        case "item.completed":
            item = event.get("item")
            return isinstance(item, dict) and _codex_item(item, transcript, parsed)
        case "turn.completed":
            usage = event.get("usage")
            counted = usage if isinstance(usage, dict) else {}
            _count(parsed, counted.get("input_tokens"), counted.get("output_tokens"), None)
            transcript.add("usage", None, _usage(parsed))
            parsed.failure = None  # earlier errors, such as a lost connection, were temporary
            return True
        case "turn.failed" | "error":
            parsed.failure = _problem(event.get("error"), event.get("message"))
            transcript.add("error_output", parsed.failure)
            return True
    return False


def _codex_item(item: dict[str, Any], transcript: Transcript, parsed: ParsedOutput) -> bool:
    match item.get("type") or item.get("item_type"):
        case "agent_message" | "assistant_message":
            text = _text(item.get("text")) or ""
            parsed.say(text)
            parsed.conclude(text)
        case "reasoning":
            transcript.add("message", _text(item.get("text")), {"thinking": True})
        case "command_execution":
            transcript.add("tool_call", _text(item.get("command")), {"id": item.get("id"), "tool": "shell"})
            data = {"id": item.get("id"), "exit_code": item.get("exit_code"), "status": item.get("status")}
            transcript.add("tool_result", _text(item.get("aggregated_output")), data)
        case "mcp_tool_call":
            data = {"id": item.get("id"), "tool": item.get("tool"), "arguments": item.get("arguments")}
            transcript.add("tool_call", _text(item.get("tool")), data)
            transcript.add("tool_result", _content_text(item.get("result")), {"id": item.get("id")})
        case "file_change":
            transcript.add("tool_call", "file_change", {"id": item.get("id"), "changes": item.get("changes")})
        case "error":
            transcript.add("error_output", _text(item.get("message")))
        case _:
            return False
    return True


def _gemini(event: dict[str, Any], transcript: Transcript, parsed: ParsedOutput) -> bool:
    """`gemini --output-format stream-json`: messages in parts, tool uses and results, statistics at the end."""
    is_part = event.get("type") == "message" and event.get("role") == "assistant" and event.get("delta") is True
    if not is_part:
        parsed.finish()
    match event.get("type"):
        case "init":
            parsed.usage.model = _text(event.get("model")) or parsed.usage.model
        case "message":
            text = _text(event.get("content")) or ""
            if event.get("role") == "assistant":
                parsed.expect_result(text)
            if is_part:
                parsed.say_part(text)
            elif event.get("role") == "assistant":
                parsed.say(text)
        case "tool_use":
            data = {"id": event.get("tool_id"), "tool": event.get("tool_name"), "arguments": event.get("parameters")}
            transcript.add("tool_call", _text(event.get("tool_name")), data)
        case "tool_result":
            data = {"id": event.get("tool_id"), "is_error": event.get("status") == "error"}
            transcript.add("tool_result", _content_text(event.get("output")), data)
        case "error":
            transcript.add("error_output", _text(event.get("message")))
            if event.get("severity") != "warning":
                parsed.failure = _problem(event.get("error"), event.get("message"))
        case "result":
            parsed.has_result = True
            parsed.failure = _problem(event.get("error"), None) if event.get("status") == "error" else None
            stats = event.get("stats")
            counted = stats if isinstance(stats, dict) else {}
            _count(parsed, counted.get("input_tokens"), counted.get("output_tokens"), None)
            transcript.add("usage", None, _usage(parsed))
        case _:
            return False
    return True


def _opencode(event: dict[str, Any], transcript: Transcript, parsed: ParsedOutput) -> bool:
    """`opencode run --format json`: parts of messages, tool parts with their state, a finish per step."""
    part = event.get("part")
    if not isinstance(part, dict):
        if event.get("type") == "error":
            parsed.failure = _problem(event.get("error"), event.get("message"))
            transcript.add("error_output", _content_text(event.get("error")))
            return True
        return False
    match event.get("type"):
        case "text":
            text = _text(part.get("text")) or ""
            parsed.say(text)
            parsed.conclude(text)
        case "tool_use":
            state = part.get("state")
            reported = state if isinstance(state, dict) else {}
            data = {"id": part.get("callID"), "tool": part.get("tool"), "arguments": reported.get("input")}
            transcript.add("tool_call", _text(part.get("tool")), data)
            is_error = reported.get("status") == "error"
            result = _content_text(reported.get("error") if is_error else reported.get("output"))
            transcript.add("tool_result", result, {"id": part.get("callID"), "is_error": is_error})
        case "step_start":
            return True
        case "step_finish":
            tokens = part.get("tokens")
            counted = tokens if isinstance(tokens, dict) else {}
            _count(parsed, counted.get("input"), counted.get("output"), part.get("cost"))
            parsed.failure = None  # the program retried
            transcript.add("usage", None, _usage(parsed))
        case _:
            return False
    return True


FORMATS: dict[str, Callable[[dict[str, Any], Transcript, ParsedOutput], bool]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}


def _count(parsed: ParsedOutput, input_tokens: object, output_tokens: object, cost: object) -> None:
    """Add the usage of one turn, or of all turns."""
    usage = parsed.usage
    if (counted := _within(input_tokens, MAX_TOKENS)) is not None:
        usage.input_tokens = min((usage.input_tokens or 0) + int(counted), MAX_TOKENS)
    if (counted := _within(output_tokens, MAX_TOKENS)) is not None:
        usage.output_tokens = min((usage.output_tokens or 0) + int(counted), MAX_TOKENS)
    if (counted := _within(cost, MAX_COST_USD)) is not None:
        usage.cost_usd = min((usage.cost_usd or 0.0) + counted, MAX_COST_USD)


def _within(value: object, most: float) -> float | None:
    """Return a number between 0 and a limit; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= most else None  # type: ignore[operator,return-value]


def _usage(parsed: ParsedOutput, *, turns: object = None) -> dict[str, JSONValue]:
    found: dict[str, JSONValue] = {
        "input_tokens": parsed.usage.input_tokens,
        "output_tokens": parsed.usage.output_tokens,
        "cost_usd": parsed.usage.cost_usd,
        "model": parsed.usage.model,
        "turns": turns if isinstance(turns, int) else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _problem(error: object, message: object) -> str:
    """Return the message of a failure event, from the fields that programs use, or the whole event."""
    if isinstance(error, dict):
        data = error.get("data")
        within = data.get("message") if isinstance(data, dict) else None
        found = _text(error.get("message")) or _text(within) or _content_text(error)
    else:
        found = _text(error) or _text(message)
    return found or "The turn failed."


def _content_text(value: object) -> str | None:
    """Return a tool result as text: its text, its text blocks, or its JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [block.get("text") for block in value if isinstance(block, dict)]
        if texts and all(isinstance(text, str) for text in texts):
            return "\n".join(str(text) for text in texts)
    return orjson.dumps(value, default=str).decode()
