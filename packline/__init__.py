"""The pack authors' API: small, stable, and all a pack may import from Packline."""

from runner.egress import raise_for_status
from runner.pack import (
    ArtifactFile,
    ArtifactRef,
    Metadata,
    Missing,
    Pack,
    PackContext,
    PackError,
    PackSession,
    PostCondition,
    Service,
    pack,
    program,
    python_module,
)

__all__ = [
    "ArtifactFile",
    "ArtifactRef",
    "Metadata",
    "Missing",
    "Pack",
    "PackContext",
    "PackError",
    "PackSession",
    "PostCondition",
    "Service",
    "pack",
    "program",
    "python_module",
    "raise_for_status",
]
