"""The artifact store that the settings choose: the data folder or a bucket."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from store.files.blobs import BlobStore

if TYPE_CHECKING:
    from app.settings.server import Settings
    from store.files.blob_port import Blobs


def artifact_store(settings: Settings) -> Blobs:
    """Create the store without contacting it.

    Raises:
        BlobsRefusedError: it is a bucket, and the extra `s3` is not installed.
    """
    if settings.artifact_store == "disk":
        return BlobStore(settings.data_dir, settings.artifact_quota_bytes)
    # A local import: the library is large, and most servers use the disk.
    from store.files.blobs_s3 import Bucket, S3Blobs

    secret = settings.artifact_store_secret
    bucket = replace(
        Bucket.parse(settings.artifact_store),
        endpoint=settings.artifact_store_endpoint,
        region=settings.artifact_store_region,
        key_id=settings.artifact_store_key_id,
        secret=None if secret is None else secret.get_secret_value(),
    )
    return S3Blobs(
        bucket,
        settings.data_dir / "artifact-cache",
        quota_bytes=settings.artifact_quota_bytes,
        cache_bytes=settings.artifact_cache_bytes,
    )


def storage_place(settings: Settings) -> str:
    """Return where contents are kept, for messages."""
    return str(settings.data_dir / "blobs") if settings.artifact_store == "disk" else settings.artifact_store
