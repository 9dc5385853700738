"""Removes active content from PDF: scripts, forms that submit, programs to launch.

Browsers run a document's scripts in their viewer, whatever the page's policy, so that a document can pretend to be the
page: "Your session has ended. Password?". The copy that is shown keeps text, appearance and links; a download is the
original.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from runner.bounded_cache import BoundedCache
from runner.failures import FailureCode, PackError
from runner.processes.processes import ProcessLimits, run_in_process

if TYPE_CHECKING:
    from store.files.artifacts import ArtifactRecord
    from store.files.blob_port import Blobs

CLEAN_SECONDS = 60.0
MEMORY_BYTES = 2 << 30
_KEPT = 1_000

#: Types of action (ISO 32000-2, table 201) that do more than turn to a page; `/URI` needs a click.
_ACTIONS = frozenset(
    {
        "/GoTo3DView",
        "/GoToE",
        "/GoToR",
        "/Hide",
        "/ImportData",
        "/JavaScript",
        "/Launch",
        "/Movie",
        "/Rendition",
        "/ResetForm",
        "/RichMediaExecute",
        "/SetOCGState",
        "/Sound",
        "/SubmitForm",
        "/Thread",
        "/Trans",
    }
)
#: Entries with scripts, or with actions that need no click.
_ENTRIES = ("/AA", "/JS", "/JavaScript", "/XFA")
_LINKS = ("http:", "https:", "mailto:")


def without_actions(path: str) -> bytes | None:
    """Return a document without its actions; None when it has none.

    Args:
        path: The file.

    Raises:
        PackError: `not_found` when a library is not installed; `invalid_output` when the file cannot be read, for
            example because it needs a password.
    """
    os.nice(5)  # below the workers of running steps
    try:
        import pikepdf
    except ImportError as error:
        raise PackError(FailureCode.NOT_FOUND, f"It needs a library that is not installed: {error.name}.") from error
    try:
        with pikepdf.open(path) as document:
            found = sum(_clean(item) for item in document.objects) + _clean(document.trailer)
            if not found:
                return None
            cleaned = io.BytesIO()
            document.save(cleaned)
    except pikepdf.PasswordError as error:
        raise PackError(FailureCode.INVALID_OUTPUT, "It asks for a password.") from error
    except pikepdf.PdfError as error:
        raise PackError(FailureCode.INVALID_OUTPUT, "It is damaged, or not a PDF.") from error
    return cleaned.getvalue()


def _clean(top: Any) -> int:  # noqa: ANN401 - any object of a document
    """Remove actions from an object and the objects inside it; return how many."""
    import pikepdf

    found = 0
    pending = [top]
    while pending:
        item = pending.pop()
        if isinstance(item, pikepdf.Array):
            pending += [part for part in item if _is_inside(part)]
        elif isinstance(item, pikepdf.Dictionary | pikepdf.Stream):
            found += _clean_dictionary(item)
            pending += [part for _, part in item.items() if _is_inside(part)]
    return found


def _clean_dictionary(item: Any) -> int:  # noqa: ANN401 - a dictionary or the one of a stream
    wrong = [key for key in _ENTRIES if key in item]
    kind = item.get("/S")
    if kind is not None and str(kind) in _ACTIONS:
        wrong.append("/S")
    opens = item.get("/OpenAction")
    if opens is not None and _is_action(opens) and str(opens.get("/S")) != "/GoTo":
        wrong.append("/OpenAction")
    address = item.get("/URI")
    if address is not None and not _is_link(address):
        wrong.append("/URI")
    for key in dict.fromkeys(wrong):
        del item[key]
    return len(wrong)


def _is_action(value: Any) -> bool:  # noqa: ANN401 - as `_clean`
    import pikepdf

    return isinstance(value, pikepdf.Dictionary)


def _is_link(address: Any) -> bool:  # noqa: ANN401 - as `_clean`
    import pikepdf

    # `/URI` is also the key of a dictionary with the base address.
    return isinstance(address, pikepdf.Dictionary) or str(address).strip().lower().startswith(_LINKS)


def _is_inside(part: Any) -> bool:  # noqa: ANN401 - as `_clean`
    """Return whether a part is a direct object; an indirect one is visited on its own."""
    import pikepdf

    return isinstance(part, pikepdf.Array | pikepdf.Dictionary) and not part.is_indirect


class SafePdfs:
    """Makes the safe copy of a document that is shown, and caches its digest.

    Args:
        blobs: The contents. A copy is stored there until it is pruned, since nothing refers to it.
    """

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._shown = BoundedCache(self._cleaned, _KEPT)

    async def digest_of(self, artifact: ArtifactRecord) -> str:
        """Return the digest of the content to show: the document's own when it has no actions.

        Raises:
            PackError: it cannot be shown; cached, so the same again for the same content.
            BlobError: its content is not available, or the copy cannot be stored.
            OSError: the disk is full.
        """
        return await self._shown.of(artifact, is_good=self._is_here)

    async def _cleaned(self, artifact: ArtifactRecord) -> str:
        path = await self._blobs.local(artifact.digest)
        limits = ProcessLimits(memory_bytes=MEMORY_BYTES, file_bytes=0)
        cleaned = await run_in_process(without_actions, str(path), timeout_seconds=CLEAN_SECONDS, limits=limits)
        return artifact.digest if cleaned is None else (await self._blobs.put(cleaned))[0]

    async def _is_here(self, digest: str) -> bool:
        try:
            content = await self._blobs.content(digest)
        except FileNotFoundError:
            return False
        await content.close()
        return True
