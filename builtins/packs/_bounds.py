"""What a foreign document may hold at most, counted before a parser builds a tree of it.

Parsers take far more time and memory than counting does: 1,000,000 nested `<div>` kept one busy for a minute and more,
100 kB of unclosed `<b>` with an attribute each filled 9.8 GB. What slips through meets the limits of the process, see
`_process`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from packline import PackError

if TYPE_CHECKING:
    from typing import IO

#: Elements of one HTML page. Measured: converting takes 40 µs and 1.5 KB for each.
MAX_HTML_ELEMENTS = 250_000
#: Elements open at once. Pages that forget end tags reach hundreds; what is nested for real is bound by the converter.
MAX_HTML_OPEN = 2_000
#: Elements of one XML part of an Office file. Measured: 45 µs and 0.8 KB for each.
MAX_XML_ELEMENTS = 250_000
#: Elements of such a part within each other; a table in a table takes three, a paragraph in it four.
MAX_XML_DEPTH = 200

#: A comment, a script, style or picture with its content, or a tag.
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|svg)\b.*?(?:</\1\b|\Z)|<(/?)([a-z][^\s/>]*)", re.IGNORECASE | re.DOTALL
)
#: Elements without content, and those whose end tag many leave out since the next of its kind ends them.
_NEVER_OPEN = frozenset(
    {
        "a",
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "p",
        "li",
        "dt",
        "dd",
        "tr",
        "td",
        "th",
        "thead",
        "tbody",
        "tfoot",
        "caption",
        "colgroup",
        "option",
        "optgroup",
        "rp",
        "rt",
        "html",
        "head",
        "body",
    }
)


def check_html(html: str, called: str) -> None:
    """Refuses a page that is too large or too deep for a parser, in one pass over its text.

    Args:
        html: The page.
        called: What messages call it.

    Raises:
        PackError: `invalid_input`, with the number and the limit.
    """
    elements = depth = 0
    open_elements: Counter[str] = Counter()
    for match in _MARKUP.finditer(html):
        name = match[3]
        if name is None:
            continue
        name = name.lower()
        if match[2]:
            if open_elements[name]:
                open_elements[name] -= 1
                depth -= 1
            continue
        elements += 1
        if name not in _NEVER_OPEN:
            open_elements[name] += 1
            depth += 1
        if depth > MAX_HTML_OPEN or elements > MAX_HTML_ELEMENTS:
            break
    if depth > MAX_HTML_OPEN:
        raise PackError(
            "invalid_input",
            f"{called} has more than {MAX_HTML_OPEN:,} elements open within each other, such as `<{name}>`.",
            hint="Close its elements, or save what you need of it as PDF.",
        )
    if elements > MAX_HTML_ELEMENTS:
        raise PackError(
            "invalid_input",
            f"{called} has more than {MAX_HTML_ELEMENTS:,} elements, the limit for a page of HTML.",
            hint="Split it into smaller pages.",
        )


def check_xml(part: IO[bytes], called: str) -> None:
    """Refuses an XML part that is too large or too deep for a parser; what is not XML is left to the parser.

    Raises:
        PackError: `invalid_input`, with the limit.
    """
    from xml.parsers import expat

    elements = depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        del name, attributes
        nonlocal elements, depth
        elements += 1
        depth += 1
        if depth > MAX_XML_DEPTH:
            raise PackError(
                "invalid_input",
                f"{called} nests its content more than {MAX_XML_DEPTH:,} elements deep.",
                hint="Take tables out of tables, and groups out of groups.",
            )
        if elements > MAX_XML_ELEMENTS:
            raise PackError(
                "invalid_input",
                f"{called} has more than {MAX_XML_ELEMENTS:,} elements in one part, the limit.",
                hint="Split the document.",
            )

    def end(name: str) -> None:
        del name
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.ParseFile(part)
    except expat.ExpatError:
        return
