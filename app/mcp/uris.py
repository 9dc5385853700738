"""Addresses of what agents can read, the same in answers, links and resources."""

from __future__ import annotations


def run_uri(run_id: str) -> str:
    """A run's."""
    return f"packline://run/{run_id}"


def artifact_uri(artifact_id: str) -> str:
    """An artifact's."""
    return f"packline://artifact/{artifact_id}"


def pipeline_uri(pipeline: str) -> str:
    """A pipeline's, by id or key."""
    return f"packline://pipeline/{pipeline}"
