"""Pictures, sounds, videos and documents made on the spot, sound and broken."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from array import array
from typing import TYPE_CHECKING

import av
from PIL import Image

if TYPE_CHECKING:
    from pathlib import Path


def png(width: int, height: int, colour: tuple[int, int, int] = (200, 30, 60)) -> bytes:
    """A picture of one colour."""
    return picture(width, height, "PNG", colour)


def picture(
    width: int, height: int, kind: str, colour: tuple[int, int, int] = (200, 30, 60), orientation: int | None = None
) -> bytes:
    """A picture of one colour in a format Pillow writes."""
    made = io.BytesIO()
    image = Image.new("RGB", (width, height), colour)
    exif = Image.Exif()
    if orientation is not None:
        exif[0x0112] = orientation
    image.save(made, kind, exif=exif)
    return made.getvalue()


def png_bomb(width: int, height: int) -> bytes:
    """A small file that unpacks to `width * height` black pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer = zlib.compressobj(9)
    row = b"\0" * (width // 8 + 2)
    rows = b"".join(packer.compress(row) for _ in range(min(height, 4_000))) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def video(path: Path, seconds: float = 2.0, width: int = 320, height: int = 180, codec: str = "mpeg4") -> bytes:
    """A silent MP4: black for a tenth of its time, then orange. Browsers play `libx264`."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=10)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number in range(round(seconds * 10)):
            colour = (0, 0, 0) if number < seconds else (240, 120, 20)
            frame = av.VideoFrame.from_image(Image.new("RGB", (width, height), colour))
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path.read_bytes()


def wav(seconds: float, rate: int = 16_000) -> bytes:
    """A tone that grows from silence to half of what is possible."""
    count = round(seconds * rate)
    samples = array("h", (round(16_384 * n / count * math.sin(n / 5)) for n in range(count)))
    data = samples.tobytes()
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVE" + form + b"data" + struct.pack("<I", len(data)) + data


def pdf(pages: int = 1, content: bytes = b"1 0 0 rg 0 0 200 100 re f", box: str = "0 0 200 100") -> bytes:
    """A PDF whose pages all show `content`."""
    kids = " ".join(f"{number + 4} 0 R" for number in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {pages} /Kids [{kids}] >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        *[f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Contents 3 0 R >>".encode()] * pages,
    ]
    made = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    return made + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (count, table, count, len(made))
    )


def zip_bomb() -> bytes:
    """A Word document whose text unpacks to 200 MB."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open("word/document.xml", "w", force_zip64=True) as part:
            for _ in range(200):
                part.write(b"<w:p><w:r><w:t>" + b"a" * 1_000_000 + b"</w:t></w:r></w:p>")
    return made.getvalue()
