"""Four looks, one table of colours each; typst, PowerPoint and HTML all draw from here.

Text colours keep a contrast of at least 4.5 to 1 on the surface they stand on (WCAG 2.2, 1.4.3), which a test checks.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

ThemeName = Literal["light", "dark", "corporate", "warm"]


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as `#rrggbb`.

    Attributes:
        decor: Which ornament title and section slides carry.
        tint: Strength of the ornament in per cent.
        bg: Content slides.
        fg: Text.
        fg2: Nested text.
        dim: Footers, sources.
        rule: Hairlines.
        card: Cards.
        zebra: Every other table row.
        accent: Bullets, bars, progress.
        accent2: The ornament's second colour.
        accent_text: The accent where it has to be read.
        link: Links.
        chip: Behind inline code.
        chip_fg: Inline code.
        table_head: Header row.
        table_head_fg: Text in the header row.
        code_bg: Behind listings.
        code_fg: Listings.
        code_dim: Comments and the language label.
        code_rule: Around listings.
        code_keyword: Keywords.
        code_string: Strings.
        code_number: Numbers and constants.
        code_name: Functions and types.
        title_bg: Title slide and the agenda's side.
        title_fg: Its title.
        title_dim: Its subtitle.
        title_accent: Its bar and last line.
        section_bg: Section slides; takes the title colours.
        closing_bg: Last slide.
    """

    decor: Literal["circles", "ring", "bands", "arcs"]
    tint: int
    bg: str
    fg: str
    fg2: str
    dim: str
    rule: str
    card: str
    zebra: str
    accent: str
    accent2: str
    accent_text: str
    link: str
    chip: str
    chip_fg: str
    table_head: str
    table_head_fg: str
    code_bg: str
    code_fg: str
    code_dim: str
    code_rule: str
    code_keyword: str
    code_string: str
    code_number: str
    code_name: str
    title_bg: str
    title_fg: str
    title_dim: str
    title_accent: str
    section_bg: str
    closing_bg: str

    def colours(self) -> dict[str, str]:
        """Every colour by name."""
        return {name: value for name, value in asdict(self).items() if isinstance(value, str) and name != "decor"}


THEMES: dict[ThemeName, Theme] = {
    "light": Theme(
        decor="circles",
        tint=13,
        bg="#ffffff",
        fg="#0f172a",
        fg2="#334155",
        dim="#5b6b82",
        rule="#e2e8f0",
        card="#f8fafc",
        zebra="#f8fafc",
        accent="#4f46e5",
        accent2="#06b6d4",
        accent_text="#4338ca",
        link="#4338ca",
        chip="#eef2ff",
        chip_fg="#3730a3",
        table_head="#eef2ff",
        table_head_fg="#3730a3",
        code_bg="#f8fafc",
        code_fg="#0f172a",
        code_dim="#5b6b82",
        code_rule="#e2e8f0",
        code_keyword="#7c3aed",
        code_string="#047857",
        code_number="#b45309",
        code_name="#1d4ed8",
        title_bg="#f5f6ff",
        title_fg="#0f172a",
        title_dim="#475569",
        title_accent="#4f46e5",
        section_bg="#f5f6ff",
        closing_bg="#f5f6ff",
    ),
    "dark": Theme(
        decor="ring",
        tint=16,
        bg="#0b1220",
        fg="#e8eef8",
        fg2="#b6c2d6",
        dim="#8b9bb4",
        rule="#22304a",
        card="#131d31",
        zebra="#101a2d",
        accent="#38bdf8",
        accent2="#818cf8",
        accent_text="#67d0ff",
        link="#7dd3fc",
        chip="#1b2942",
        chip_fg="#bfe6ff",
        table_head="#172742",
        table_head_fg="#a5defc",
        code_bg="#0f192c",
        code_fg="#e2e8f0",
        code_dim="#8b9bb4",
        code_rule="#22304a",
        code_keyword="#c4a7ff",
        code_string="#86efac",
        code_number="#fbbf77",
        code_name="#7dd3fc",
        title_bg="#0b1220",
        title_fg="#f8fbff",
        title_dim="#a9b7cc",
        title_accent="#38bdf8",
        section_bg="#0e1a30",
        closing_bg="#0e1a30",
    ),
    "corporate": Theme(
        decor="bands",
        tint=34,
        bg="#ffffff",
        fg="#14213d",
        fg2="#3a4763",
        dim="#66718a",
        rule="#dde3ec",
        card="#f5f7fa",
        zebra="#f5f7fa",
        accent="#1f5fa8",
        accent2="#6ea3dc",
        accent_text="#1b5594",
        link="#1b5594",
        chip="#e9f0f8",
        chip_fg="#17406f",
        table_head="#14305c",
        table_head_fg="#ffffff",
        code_bg="#f5f7fa",
        code_fg="#14213d",
        code_dim="#66718a",
        code_rule="#dde3ec",
        code_keyword="#8a3ab9",
        code_string="#2a6f4e",
        code_number="#9a5b00",
        code_name="#1b5594",
        title_bg="#10264a",
        title_fg="#ffffff",
        title_dim="#c3d0e4",
        title_accent="#efb549",
        section_bg="#10264a",
        closing_bg="#f5f7fa",
    ),
    "warm": Theme(
        decor="arcs",
        tint=15,
        bg="#fdf9f3",
        fg="#2b1d14",
        fg2="#553f31",
        dim="#7d6756",
        rule="#eadfd0",
        card="#f8f0e4",
        zebra="#f9f2e8",
        accent="#c2500f",
        accent2="#e3a21a",
        accent_text="#a8430b",
        link="#a8430b",
        chip="#f6e6d3",
        chip_fg="#7a3208",
        table_head="#f3e2cd",
        table_head_fg="#6d2d08",
        code_bg="#f8f0e4",
        code_fg="#2b1d14",
        code_dim="#7d6756",
        code_rule="#eadfd0",
        code_keyword="#9a3412",
        code_string="#4d6b1f",
        code_number="#8a5a00",
        code_name="#7c3f86",
        title_bg="#f8ecdb",
        title_fg="#2b1d14",
        title_dim="#6b5343",
        title_accent="#a8430b",
        section_bg="#f8ecdb",
        closing_bg="#f8f0e4",
    ),
}

#: TextMate scopes and the theme colour each is shown in.
_CODE_SCOPES = (
    ("comment, punctuation.definition.comment", "code_dim"),
    ("keyword, storage, keyword.operator.word", "code_keyword"),
    ("string, punctuation.definition.string", "code_string"),
    ("constant, constant.numeric, constant.language, support.constant", "code_number"),
    ("entity.name, support.function, support.type, entity.other.attribute-name, meta.mapping.key string", "code_name"),
)


def code_theme(theme: Theme) -> str:
    """A TextMate theme (property list) for syntax highlighting in the theme's colours."""

    def entry(scope: str, colour: str) -> str:
        return (
            f"<dict><key>scope</key><string>{scope}</string><key>settings</key>"
            f"<dict><key>foreground</key><string>{colour}</string></dict></dict>"
        )

    base = (
        f"<dict><key>settings</key><dict><key>background</key><string>{theme.code_bg}</string>"
        f"<key>foreground</key><string>{theme.code_fg}</string></dict></dict>"
    )
    scopes = "".join(entry(scope, getattr(theme, colour)) for scope, colour in _CODE_SCOPES)
    return (
        '<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>name</key><string>packline</string>'
        f"<key>settings</key><array>{base}{scopes}</array></dict></plist>"
    )
