"""A service on 127.0.0.1 that speaks S3 and believes nobody: signatures, payload digests and ranges are checked.

What it does of the protocol: objects (PUT, GET with Range, HEAD, DELETE), multipart uploads, ListObjectsV2 with pages,
and signature version 4 over headers (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote
from xml.sax.saxutils import escape

from tests.support.loopback_http import LoopbackHttp, Reply, Request, loopback_http

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator

BUCKET, KEY_ID, SECRET, REGION = "packs", "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "eu-test-1"


@dataclass
class Stored:
    """An object."""

    content: bytes
    put_at: float


@dataclass
class Fault:
    """What happens instead of an answer.

    Attributes:
        method: Requests it befalls.
        status: The answer; 0 closes the connection without one.
        times: How often.
    """

    method: str
    status: int = 503
    code: str = "SlowDown"
    times: int = 1


@dataclass
class S3Server:
    """The running service.

    Attributes:
        objects: By key, without the bucket.
        uploads: Parts of multipart uploads under way, by upload id.
        faults: Befall requests in order.
        page: How many objects a list answers at once.
    """

    http: LoopbackHttp
    objects: dict[str, Stored] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    page: int = 2
    largest_request: int = 0

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.http.port}"

    def settings(self) -> dict[str, str]:
        """The settings, without their prefix, of a process that keeps its artifacts here."""
        return {
            "artifact_store": f"s3://{BUCKET}/art",
            "artifact_store_endpoint": self.endpoint,
            "artifact_store_region": REGION,
            "artifact_store_key_id": KEY_ID,
            "artifact_store_secret": SECRET,
        }

    def methods(self) -> list[str]:
        """Methods of all requests so far, in order."""
        return [request.method for request in self.http.requests]

    async def answer(self, request: Request, _writer: asyncio.StreamWriter) -> Reply | None:
        """What a request comes to; None closes the connection."""
        self.largest_request = max(self.largest_request, len(request.body))
        for fault in self.faults:
            if fault.method == request.method and fault.times:
                fault.times -= 1
                return _error(fault.status, fault.code) if fault.status else None
        path, _, query = request.path.partition("?")
        refused = _refusal(request, path, query)
        if refused is not None:
            return refused
        bucket, _, key = unquote(path).lstrip("/").partition("/")
        if bucket != BUCKET:
            return _error(404, "NoSuchBucket")
        asked = dict(parse_qsl(query, keep_blank_values=True))
        if not key:
            return self._list(asked)
        if "uploads" in asked or "uploadId" in asked:
            return self._multipart(request, key, asked)
        return self._object(request, key)

    def _object(self, request: Request, key: str) -> Reply:
        if request.method == "PUT":
            self.objects[key] = Stored(request.body, time.time())
            return Reply(b"", headers={"etag": _etag(request.body)})
        if request.method == "DELETE":
            self.objects.pop(key, None)
            return Reply(b"", 204)
        found = self.objects.get(key)
        if found is None:
            return _error(404, "NoSuchKey")
        headers = {"etag": _etag(found.content), "last-modified": formatdate(found.put_at, usegmt=True)}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
        if request.method == "GET" and wanted:
            start, end = int(wanted[1]), min(int(wanted[2] or 10**18) + 1, len(found.content))
            if start >= len(found.content):
                return _error(416, "InvalidRange")
            headers["content-range"] = f"bytes {start}-{end - 1}/{len(found.content)}"
            return Reply(found.content[start:end], 206, headers)
        return Reply(found.content, headers=headers)

    def _multipart(self, request: Request, key: str, asked: dict[str, str]) -> Reply:
        if request.method == "POST" and "uploads" in asked:
            upload = f"upload{len(self.http.requests)}"
            self.uploads[upload] = {}
            return _xml(
                f"<InitiateMultipartUploadResult><Bucket>{BUCKET}</Bucket><Key>{escape(key)}</Key>"
                f"<UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
            )
        parts = self.uploads.get(asked["uploadId"])
        if parts is None:
            return _error(404, "NoSuchUpload")
        if request.method == "PUT":
            parts[int(asked["partNumber"])] = request.body
            return Reply(b"", headers={"etag": _etag(request.body)})
        if request.method == "DELETE":
            del self.uploads[asked["uploadId"]]
            return Reply(b"", 204)
        numbers = [int(number) for number in re.findall(r"<PartNumber>(\d+)</PartNumber>", request.body.decode())]
        if numbers != sorted(parts):
            return _error(400, "InvalidPart")
        if any(len(parts[number]) < 5 << 20 for number in numbers[:-1]):
            return _error(400, "EntityTooSmall")
        content = b"".join(parts[number] for number in numbers)
        self.objects[key] = Stored(content, time.time())
        del self.uploads[asked["uploadId"]]
        return _xml(
            f"<CompleteMultipartUploadResult><ETag>{escape(_etag(content))}</ETag></CompleteMultipartUploadResult>"
        )

    def _list(self, asked: dict[str, str]) -> Reply:
        keys = sorted(key for key in self.objects if key.startswith(asked.get("prefix", "")))
        keys = [key for key in keys if key > asked.get("continuation-token", "")]
        shown, more = keys[: self.page], len(keys) > self.page
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_iso(self.objects[key].put_at)}</LastModified>"
            f"<ETag>{escape(_etag(self.objects[key].content))}</ETag>"
            f"<Size>{len(self.objects[key].content)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for key in shown
        )
        token = f"<NextContinuationToken>{escape(shown[-1])}</NextContinuationToken>" if more else ""
        return _xml(
            f"<ListBucketResult><Name>{BUCKET}</Name><KeyCount>{len(shown)}</KeyCount><MaxKeys>{self.page}</MaxKeys>"
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}{entries}</ListBucketResult>"
        )


@contextlib.asynccontextmanager
async def s3_server() -> AsyncIterator[S3Server]:
    """Serves while the block runs."""
    async with loopback_http({}) as http:
        server = S3Server(http)
        http.routes = _Everything(server)  # type: ignore[assignment]
        yield server


class _Everything:
    def __init__(self, server: S3Server) -> None:
        self._server = server

    def get(self, _path: str, _default: Reply) -> object:
        return self._server.answer


def _refusal(request: Request, path: str, query: str) -> Reply | None:
    """Why a request is not signed as it must be."""
    form = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?SignedHeaders=([^,]+), ?"
        r"Signature=(\w{64})",
        request.headers.get("authorization", ""),
    )
    if form is None:
        return _error(403, "AccessDenied")
    key_id, day, region, signed, signature = form.groups()
    if key_id != KEY_ID:
        return _error(403, "InvalidAccessKeyId")
    if region != REGION:
        return _error(400, "AuthorizationHeaderMalformed")
    digest = request.headers.get("x-amz-content-sha256", "")
    if digest != "UNSIGNED-PAYLOAD" and digest != hashlib.sha256(request.body).hexdigest():
        return _error(400, "XAmzContentSHA256Mismatch")
    if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(signed.split(";")):
        return _error(403, "AccessDenied")
    pairs = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in parse_qsl(query, keep_blank_values=True))
    canonical = "\n".join(
        (
            request.method,
            path,
            "&".join(f"{k}={v}" for k, v in pairs),
            *(f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in signed.split(";")),
            "",
            signed,
            digest,
        )
    )
    scope = f"{day}/{region}/s3/aws4_request"
    stamp = request.headers.get("x-amz-date", "")
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = b"AWS4" + SECRET.encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    if not hmac.compare_digest(hmac.new(key, text.encode(), "sha256").hexdigest(), signature):
        return _error(403, "SignatureDoesNotMatch")
    return None


def _error(status: int, code: str) -> Reply:
    body = f"<Error><Code>{code}</Code><Message>{code}, as told by the test's service.</Message></Error>".encode()
    return Reply(b'<?xml version="1.0" encoding="UTF-8"?>' + body, status, {"content-type": "application/xml"})


def _xml(body: str) -> Reply:
    text = f'<?xml version="1.0" encoding="UTF-8"?>{body}'.encode()
    return Reply(text, headers={"content-type": "application/xml"})


def _etag(content: bytes) -> str:
    return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'


def _iso(instant: float) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
