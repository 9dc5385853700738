"""Names that would turn the direction of writing, or command a screen, wherever the page shows a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.database.dialects import Sql
from tests.support.browser import BROWSER, browsing
from tests.support.front_door import ran, save, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection

pytestmark = BROWSER

TURNED = "invoice\u202efdp.exe\u2066"
SHOWN = "invoice\ufffdfdp.exe\ufffd"
#: Every text of the page, title and labels too.
TEXTS = """() => [document.title, document.body.innerText,
    ...[...document.querySelectorAll('[title], [aria-label], [download]')].flatMap(one =>
        ['title', 'aria-label', 'download'].map(name => one.getAttribute(name) ?? ''))].join('\\n')"""


def _renamed(conn: Connection) -> None:
    conn.run(Sql("UPDATE artifact SET name = :name"), {"name": f"{TURNED}.txt"})
    conn.run(Sql("UPDATE token SET name = :name WHERE name = 'invoice'"), {"name": TURNED})


async def test_a_name_cannot_turn_what_stands_beside_it(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        keep = step("keep", "test.artifact", name="invoice.txt", content="tea")
        fail = step("fail", "test.fail", message=f"No {TURNED} here.")
        await save(it, "turned", keep, step("say", "test.echo", text=TURNED), fail, name=f"Pay {TURNED}")
        run = (await ran(it, "turned", title=f"For {TURNED}"))["id"]
        await it.mutate(
            'mutation { createToken(name: "invoice", subject: "agent", scopes: [READ]) { __typename } }',
        )
        # Such names of files and tokens are refused, and were taken by earlier versions.
        await it.services.store.write(_renamed)
        at = f"/runs/{run}"
        for path, text in (
            (at, f"For {SHOWN}"),
            (f"{at}?step=keep&tab=artifacts", f"{SHOWN}.txt"),
            ("/", f"Fail: No {SHOWN} here."),
            ("/runs", f"For {SHOWN}"),
            ("/pipelines", f"Pay {SHOWN}"),
            ("/pipelines/turned", f"Pay {SHOWN}"),
            ("/artifacts", f"{SHOWN}.txt"),
            ("/tokens", SHOWN),
            ("/audit", f"Pay {SHOWN}"),
        ):
            await tab.visit(path)
            await tab.sees(text)
            said = await tab.page.evaluate(TEXTS)
            assert not {"\u202e", "\u2066"} & set(said), path
        # A value is shown to the sign.
        await tab.visit(f"{at}?step=say&tab=output")
        await tab.sees(r"invoice\u202efdp.exe\u2066")


async def test_a_name_in_another_script_stays_whole_and_apart(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await save(it, "arabic", step("say", "test.echo", text="tea"), name="فاتورة 2026")
        await ran(it, "arabic")
        await tab.visit("/runs")
        link = tab.page.get_by_role("link", name="فاتورة 2026").first
        await link.wait_for()
        assert await link.evaluate("one => getComputedStyle(one).unicodeBidi") == "isolate"
