"""This product as another installation has it: its modules are these, its built page is its own and can be replaced.

page = Installed(tmp_path / "installed")
fleet = Fleet(tmp_path, url, calls, within=page.within)
…
page.update()                           # as an update puts a second build in place of the first
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from app.http.pages import BUILT_PAGE

ROOT = Path(__file__).parents[2]


class Installed:
    """A folder of links to the modules of this product, with a copy of its built page.

    Attributes:
        within: Words of a command line that runs the rest of it on these modules.
    """

    def __init__(self, folder: Path) -> None:
        own = folder / "app" / BUILT_PAGE.parent.name
        own.mkdir(parents=True)
        for place, target in ((folder, ROOT), (folder / "app", ROOT / "app")):
            for part in target.iterdir():
                if not (place / part.name).exists() and not part.name.startswith("."):
                    (place / part.name).symlink_to(part)
        self.within = ("env", "--chdir", str(folder))
        self._page = own / BUILT_PAGE.name
        shutil.copytree(BUILT_PAGE, self._page)

    def update(self) -> None:
        """Puts another build in place of the page.

        A changed constant in the main script gives another name to it and to each that imports it,
        directly or not; all others keep theirs (compared with a second `vite build`). So it is here.
        """
        chunks = json.loads((self._page / ".vite" / "manifest.json").read_text("utf-8"))
        changed = {"index.html"}
        while more := {key for key, chunk in chunks.items() if changed & {*chunk.get("imports", [])}} - changed:
            changed |= more
        names = {Path(chunks[key]["file"]).name for key in changed}
        pattern = re.compile("|".join(map(re.escape, sorted(names))))
        for file in [self._page / "index.html", *(self._page / "assets").glob("*.js")]:
            file.write_text(pattern.sub(lambda found: _renamed(found[0]), file.read_text("utf-8")), "utf-8")
        for name in names:
            place = self._page / "assets" / name
            # The server sends what is compressed first, and these name the scripts of before.
            place.with_name(f"{name}.br").unlink(missing_ok=True)
            place.rename(place.with_name(_renamed(name)))


def _renamed(name: str) -> str:
    """The name of a script with another digest, as long as its own."""
    stem, _, ending = name.rpartition(".")
    return f"{stem[:-8]}{stem[:-9:-1]}.{ending}"
