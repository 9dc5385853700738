"""Addresses of what agents can read, the same in answers, links and resources."""

from __future__ import annotations


def artifact_uri(artifact_id: str) -> str:
    """An artifact's."""
    return f"packline://artifact/{artifact_id}"
