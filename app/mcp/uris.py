"""Addresses for agents: the endpoint, runs, artifacts and pipelines; the same in answers, links and resources."""

from __future__ import annotations

import re
from typing import Final

#: Path of the MCP endpoint.
MCP_PATH: Final = "/mcp"
#: Templates of addresses, each with the tool parameter that the id is for.
RUN_URI: Final = "packline://run/{run_id}"
ARTIFACT_URI: Final = "packline://artifact/{artifact_id}"
PIPELINE_URI: Final = "packline://pipeline/{pipeline}"
_PREFIXES: Final = tuple(uri.partition("{")[0] for uri in (RUN_URI, ARTIFACT_URI, PIPELINE_URI))
_WITH_ID: Final = re.compile(rf"(?:{'|'.join(map(re.escape, _PREFIXES))})([^/]+)")


def artifact_uri(artifact_id: str) -> str:
    return ARTIFACT_URI.format(artifact_id=artifact_id)


def id_in(uri: str) -> str | None:
    """The id in an address; None for any other text."""
    found = _WITH_ID.fullmatch(uri)
    return None if found is None else found[1]
