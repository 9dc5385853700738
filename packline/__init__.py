"""The pack authors' API: small, stable, and all a pack may import from Packline."""

from runner.egress.client import raise_for_status
from runner.egress.web_address import (
    OtherSchemeError,
    SshAddress,
    WebAddress,
    WebAddressError,
    is_web_address,
    read_ssh_address,
    read_web_address,
)
from runner.excerpts import excerpt
from runner.failures import PackError
from runner.files.picture_size import PictureSize, picture_size
from runner.packs.context import AgentAnswer, ArtifactFile, ArtifactRef, PackContext, PackSession
from runner.packs.memory import CallerMemory
from runner.packs.metadata import Metadata
from runner.packs.models import ImageAnswer, Models, Picture, SpeechAnswer, StructuredAnswer, TextAnswer
from runner.packs.needs import (
    CredentialNeed,
    Missing,
    ModelNeed,
    Service,
    ServiceAddress,
    WorkerLabel,
    program,
    python_module,
    service_address,
    worker_label,
)
from runner.packs.pack import Pack, PostCondition, pack
from runner.packs.routing import CallerCatalog

__all__ = [
    "AgentAnswer",
    "ArtifactFile",
    "ArtifactRef",
    "CallerCatalog",
    "CallerMemory",
    "CredentialNeed",
    "ImageAnswer",
    "Metadata",
    "Missing",
    "ModelNeed",
    "Models",
    "OtherSchemeError",
    "Pack",
    "PackContext",
    "PackError",
    "PackSession",
    "Picture",
    "PictureSize",
    "PostCondition",
    "Service",
    "ServiceAddress",
    "SpeechAnswer",
    "SshAddress",
    "StructuredAnswer",
    "TextAnswer",
    "WebAddress",
    "WebAddressError",
    "WorkerLabel",
    "excerpt",
    "is_web_address",
    "pack",
    "picture_size",
    "program",
    "python_module",
    "raise_for_status",
    "read_ssh_address",
    "read_web_address",
    "service_address",
    "worker_label",
]
