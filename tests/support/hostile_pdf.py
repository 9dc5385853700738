"""A PDF that tries everything a viewer might run, as somebody would write it who wants the reader's password."""

from __future__ import annotations

import io

import pikepdf
from pikepdf import Array, Dictionary, Name, String

#: What every script in it calls; `app.response` asks for text.
SCRIPT = "app.alert('Your session has ended'); app.response('Password?')"


def hostile_pdf() -> bytes:
    """Two pages with scripts in every place there is for them, and one honest link."""
    document = pikepdf.new()
    script = Dictionary(S=Name.JavaScript, JS=String(SCRIPT))
    for _ in range(2):
        document.add_blank_page(page_size=(300, 200))
    document.Root.OpenAction = Dictionary(S=Name.JavaScript, JS=document.make_stream(SCRIPT.encode()))
    document.Root.AA = Dictionary(WC=script)
    document.Root.Names = Dictionary(JavaScript=Dictionary(Names=Array([String("go"), script])))
    first, second = document.pages
    first.obj.AA = Dictionary(O=script)
    first.obj.Annots = Array(
        [
            _link(Dictionary(S=Name.URI, URI=String("https://example.com/honest"))),
            _link(Dictionary(S=Name.URI, URI=String(f"javascript:{SCRIPT}"))),
            _link(Dictionary(S=Name.Launch, F=String("calc.exe"))),
            _link(Dictionary(S=Name.GoTo, D=Array([second.obj, Name.Fit]), Next=script)),
            document.make_indirect(_link(Dictionary(S=Name.SubmitForm, F=String("http://127.0.0.1:9/")))),
        ]
    )
    document.Root.AcroForm = Dictionary(Fields=Array([]), XFA=String("<xdp/>"))
    written = io.BytesIO()
    document.save(written, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return written.getvalue()


def _link(action: Dictionary) -> Dictionary:
    return Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=Array([10, 10, 90, 40]), A=action)
