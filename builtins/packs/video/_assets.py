"""Files a composition shows, opened before it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packline import PackError

from ._stage import Asset, referenced_artifacts

if TYPE_CHECKING:
    from packline import PackContext

MAX_ASSETS = 50
MAX_ASSET_BYTES = 30 * 1024 * 1024


async def open_assets(ctx: PackContext, html: str, audio_id: str | None) -> dict[str, Asset]:
    """The artifacts a composition shows, opened for the caller, by id.

    Raises:
        PackError: `invalid_input` when there are too many, or one is too large or neither picture nor font; those of
            `open_artifact`.
    """
    wanted = [artifact for artifact in referenced_artifacts(html) if artifact != audio_id]
    if len(wanted) > MAX_ASSETS:
        raise PackError(
            "invalid_input",
            f"The composition shows {len(wanted)} artifacts; at most {MAX_ASSETS} can be shown.",
            field="composition_html",
            hint="Show fewer, or put small ones in as data: addresses.",
        )
    assets = {}
    for artifact in wanted:
        file = await ctx.open_artifact(artifact)
        if not file.ref.media_type.startswith(("image/", "font/")):
            raise PackError(
                "invalid_input",
                f"The composition shows {file.ref.name} ({artifact}), which is {file.ref.media_type}.",
                field="composition_html",
                hint="Only pictures and fonts can be shown; sound is given as `audio_artifact`.",
            )
        if file.ref.size_bytes > MAX_ASSET_BYTES:
            raise PackError(
                "invalid_input",
                f"{file.ref.name} ({artifact}) has {file.ref.size_bytes:,} bytes; at most {MAX_ASSET_BYTES:,} can be "
                "shown.",
                field="composition_html",
                hint="Use a smaller picture.",
            )
        assets[artifact] = Asset(str(file.path), file.ref.media_type)
    return assets
