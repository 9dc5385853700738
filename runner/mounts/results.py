"""Converts answers of MCP servers to step outputs and failures."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from runner.excerpts import excerpt
from runner.failures import FailureCode, JSONValue, PackError
from runner.files.names import NAME_CHARACTERS

if TYPE_CHECKING:
    from runner.packs.context import ArtifactRef, PackContext

#: Longest excerpt of a server's message, in characters.
REFUSAL_CHARACTERS = 2000
#: Largest picture, sound or resource that becomes an artifact, in decoded bytes.
BLOCK_BYTES = 50 << 20


class _ErrorCode(IntEnum):
    """JSON-RPC error codes (MCP specification, 2025-11-25), including those of the client SDK's own failures."""

    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    CONNECTION_CLOSED = -32000
    INVALID_REQUEST = -32600  # an HTTP server that no longer knows our session, among others
    REQUEST_TIMEOUT = -32001


async def output_of(ctx: PackContext, server: str, tool: str, result: Any, *, typed: bool) -> dict[str, JSONValue]:  # noqa: ANN401 - mcp is imported late
    """Convert the result of a call; pictures, sounds and embedded files become artifacts.

    Args:
        ctx: Saves the artifacts.
        server: The server, for messages.
        tool: The tool, for messages.
        result: `mcp.types.CallToolResult`.
        typed: Whether the tool declares an output schema; then the output is its structured result alone.

    Raises:
        PackError: `handler_failed` with the tool's message when it refused, `invalid_output` for a malformed result.
    """
    texts: list[str] = []
    links: list[JSONValue] = []
    files: list[ArtifactRef] = []
    for number, block in enumerate(result.content, start=1):
        match block.type:
            case "text":
                texts.append(block.text)
            case "image" | "audio":
                files.append(await _save(ctx, f"{tool}-{number}", block.data, block.mime_type))
            case "resource" if getattr(block.resource, "blob", None) is not None:
                name = str(block.resource.uri).rsplit("/", 1)[-1] or f"{tool}-{number}"
                files.append(await _save(ctx, name, block.resource.blob, block.resource.mime_type))
            case "resource":
                texts.append(block.resource.text)
            case "resource_link":
                links.append({"uri": str(block.uri), "name": block.name})
    if result.is_error:
        raise PackError(
            FailureCode.HANDLER_FAILED,
            f"The tool {tool} of MCP server {server} refused: {_shortened(' '.join(texts) or 'it gave no reason')}",
            hint="Correct the input if the message says so; the message is the tool's own.",
        )
    if typed:
        if not isinstance(result.structured_content, dict):
            raise PackError(
                FailureCode.INVALID_OUTPUT,
                f"The tool {tool} of MCP server {server} declares an output schema and returned no structured result.",
                hint="Report it to the operator of that server.",
            )
        return dict(result.structured_content)
    return {
        "text": "\n\n".join(texts),
        "structured": result.structured_content,
        "artifacts": [file.model_dump(mode="json") for file in files],
        "links": links,
    }


async def _save(ctx: PackContext, stem: str, data: str, media_type: str | None) -> ArtifactRef:
    kind = media_type or "application/octet-stream"
    if len(data) > BLOCK_BYTES * 4 // 3 + 4:
        raise PackError(FailureCode.RESOURCE_EXHAUSTED, f"{stem} has more than {BLOCK_BYTES >> 20} MiB.")
    try:
        content = base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise PackError(FailureCode.INVALID_OUTPUT, f"{stem} is not valid base64: {error}.") from error
    name = stem if "." in stem else stem + (mimetypes.guess_extension(kind) or ".bin")
    return await ctx.save_artifact(
        excerpt(name, NAME_CHARACTERS, ending="", from_end=True).replace("\\", "_"), content, kind
    )


def failure_of(server: str, tool: str, error: BaseException) -> PackError:
    """Convert the error of a call to a failure, by its code, never by its text."""
    from mcp import MCPError
    from pydantic import ValidationError

    where = f"MCP server {server}"
    if isinstance(error, PackError):
        return error
    if isinstance(error, MCPError):
        message = _shortened(error.error.message)
        match error.error.code:
            case _ErrorCode.METHOD_NOT_FOUND:
                return PackError(FailureCode.NOT_FOUND, f"{where} does not know {tool}: {message}")
            case _ErrorCode.INVALID_PARAMS:
                return PackError(FailureCode.INVALID_INPUT, f"{where} does not accept the input of {tool}: {message}")
            case _ErrorCode.REQUEST_TIMEOUT | 408:
                return PackError(
                    FailureCode.TIMEOUT, f"{where} did not answer {tool} in time.", hint="Try again, or ask for less."
                )
            case _ErrorCode.CONNECTION_CLOSED:
                return PackError(
                    FailureCode.UPSTREAM_UNAVAILABLE, f"The connection to {where} broke during {tool}: {message}"
                )
        return PackError(FailureCode.UPSTREAM_UNAVAILABLE, f"{where} failed at {tool} ({error.error.code}): {message}")
    if isinstance(error, ValidationError | RuntimeError):
        return PackError(
            FailureCode.INVALID_OUTPUT,
            f"{where} answered {tool} with something the protocol does not allow: {_first_line(error)}",
            hint="Report it to the operator of that server.",
        )
    if isinstance(error, TimeoutError):
        return PackError(FailureCode.TIMEOUT, f"{where} did not answer {tool} in time.")
    return PackError(
        FailureCode.UPSTREAM_UNAVAILABLE, f"{where} cannot be reached for {tool}: {_shortened(repr(error))}"
    )


def is_connection_lost(error: BaseException) -> bool:
    """Return whether the connection itself is gone, so that it must be re-established."""
    import anyio
    from mcp import MCPError

    if isinstance(error, MCPError):
        return error.error.code in (_ErrorCode.CONNECTION_CLOSED, _ErrorCode.INVALID_REQUEST)
    return isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError | ConnectionError | OSError)


def _first_line(error: BaseException) -> str:
    """Return a library's message without the schema on its further lines."""
    return _shortened(str(error)).partition("\n")[0]


def _shortened(text: str) -> str:
    return excerpt(text, REFUSAL_CHARACTERS)
