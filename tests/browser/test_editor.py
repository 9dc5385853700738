"""The pipeline editor and what lies around it: made from nothing, edited two ways, checked, tried, saved, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.browser import AXE, BROWSER, browsing
from tests.support.front_door import ran, save, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.async_api import Locator

    from tests.support.browser import Tab
    from tests.support.product import Product

pytestmark = BROWSER

COMMENTED = """# Ours: ask before changing
key: greet
name: Greeting   # shown to people
inputs:
  type: object
  properties:
    who: {type: string}
steps:
  # First the words
  - id: say
    pack: test.echo
    retry: {max_attempts: 2}  # it is shy
    input:
      text: "Hello ${{ inputs.who }}"
  - id: again
    pack: test.echo
    input:
      text: "${{ steps.say.output.text }}"
"""


async def made(it: Product, yaml: str = COMMENTED) -> str:
    """Saves a pipeline as its author wrote it; its key."""
    answer = await it.mutate(
        """mutation ($yaml: String!) { createPipeline(definition: {yaml: $yaml}) {
            __typename ... on PipelineSuccess { pipeline { key } } ... on Problem { message } } }""",
        {"yaml": yaml},
    )
    assert answer["__typename"] == "PipelineSuccess", answer
    return str(answer["pipeline"]["key"])


async def current(it: Product, key: str) -> dict[str, Any]:
    """The current version of a pipeline."""
    found = await it.query(
        """query ($id: ID!) { pipeline(id: $id) { name currentVersion { number note yaml document } } }""", {"id": key}
    )
    version: dict[str, Any] = found["pipeline"]["currentVersion"]
    return version


async def save_as(tab: Tab, note: str = "") -> None:
    """Saves what is edited, with a note."""
    await tab.press("Save…")
    await tab.page.get_by_label("Note").fill(note)
    await tab.press("Save the", within="dialog")
    await tab.page.get_by_role("dialog").wait_for(state="detached")


def box(tab: Tab, name: str) -> Locator:
    """The field of an input of the step that shows."""
    return tab.page.locator(f'[data-field="{name}"] :is(input, textarea, select)')


async def show_yaml(tab: Tab) -> Locator:
    """Turns to the text; the place to type in."""
    await tab.page.get_by_text("YAML", exact=True).click()
    text = tab.page.get_by_role("textbox", name="Definition as YAML")
    await text.wait_for()
    return text


async def words(tab: Tab, text: Locator, *wanted: str) -> None:
    """Waits until a text is made of these words."""
    await tab.page.wait_for_function(
        "([text, words]) => text.innerText.trim().split(/\\s+/).join(' ') === words",
        arg=[await text.element_handle(), " ".join(wanted)],
    )


async def test_a_pipeline_is_made_from_nothing_and_runs(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit("/pipelines")
        await tab.page.get_by_role("link", name="New pipeline").click()
        await tab.sees("Needed before you can save")
        await tab.page.get_by_label("Name", exact=True).fill("Tea time")
        for words in ("first", "second"):
            await tab.press("Add a step")
            await tab.page.get_by_label("Search the packs").fill("test.echo")
            await tab.page.get_by_role("dialog").get_by_role("option", name="test.echo").first.click()
            if words == "first":
                await box(tab, "text").fill("tea")
        field = box(tab, "text")
        await field.press_sequentially("${{ ")
        await tab.page.get_by_role("option", name="steps.echo.output.text").wait_for()
        assert await tab.violations() == []
        await tab.page.keyboard.press("Enter")
        await tab.holds(field, "${{ steps.echo.output.text }}")
        await tab.sees("No problems.")
        await save_as(tab, "The first.")
        await tab.page.wait_for_url("**/pipelines/tea-time/edit*")
        version = await current(it, "tea-time")
        assert (version["number"], version["note"]) == (1, "The first.")
        assert [one["id"] for one in version["document"]["steps"]] == ["echo", "echo_2"]
        assert (await ran(it, "tea-time"))["state"] == "SUCCEEDED"
        assert [call.input["text"] for call in bench.calls_of("test.echo")] == ["tea", "tea"]


async def test_the_form_and_the_yaml_are_one_document_that_keeps_its_comments(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit(f"/pipelines/{await made(it)}/edit?step=say")
        await box(tab, "text").fill("Good day ${{ inputs.who }}")
        text = await show_yaml(tab)
        await tab.sees("# Ours: ask before changing")
        await tab.sees("Good day")
        # Typed as text, seen in the form.
        await text.press("Control+End")
        await text.press_sequentially("deadline_seconds: 90")
        await tab.page.get_by_text("Form", exact=True).click()
        await tab.page.get_by_role("button", name="Name, inputs, metadata").click()
        await tab.holds(box(tab, "deadline_seconds"), "90")
        await save_as(tab)
        wanted = COMMENTED.replace("Hello", "Good day") + "deadline_seconds: 90"
        assert (await current(it, "greet"))["yaml"].strip() == wanted


async def test_text_typed_over_a_selection_replaces_it_without_complaint(tmp_path: Path) -> None:
    async with product(tmp_path, Workbench().packs) as it, browsing(it) as tab:
        await tab.visit("/pipelines/new")
        text = await show_yaml(tab)
        await text.press("Control+a")
        await text.press_sequentially("key: greet\nname: {")
        # Brackets close by themselves over a selection, too.
        await tab.page.wait_for_function(
            "text => text.innerText.trim() === 'key: greet\\nname: {}'", arg=await text.element_handle()
        )
        await text.press("Control+a")
        await text.press_sequentially("'")
        await words(tab, text, "'key:", "greet", "name:", "{}'")
        await text.press("Control+z")
        await words(tab, text, "key:", "greet", "name:", "{}")


async def test_a_bad_reference_is_shown_where_it_stands_and_put_right(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit(f"/pipelines/{await made(it)}/edit?step=again")
        await box(tab, "text").fill("${{ steps.sya.output.text }}")
        await tab.sees("Fix 1 problem")
        underlined = tab.page.locator("[data-field=text] .decoration-wavy")
        await tab.reads(underlined, "${{ steps.sya.output.text }}")
        await tab.press("Save…")
        assert await tab.page.get_by_role("button", name="Save the version").is_disabled()
        await tab.page.keyboard.press("Escape")
        # From elsewhere, the check leads to the field.
        await tab.page.get_by_role("button", name="Name, inputs, metadata").click()
        issue = tab.page.get_by_role("region", name="Check").get_by_role("button", name="unknown_step")
        assert "Did you mean say?" in (await issue.inner_text())
        await issue.click()
        await tab.page.wait_for_function("document.activeElement.value === '${{ steps.sya.output.text }}'")
        # In the YAML, the same place is marked and found.
        await show_yaml(tab)
        await tab.page.locator(".cm-lintRange-error").first.wait_for()
        assert await tab.violations() == []
        await tab.page.get_by_text("Form", exact=True).click()
        await box(tab, "text").fill("${{ steps.say.output.text }}!")
        await tab.sees("No problems.")


async def test_the_yaml_offers_what_comes_before(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await made(it)
        await ran(it, "greet", {"who": "Ada" + "a" * 300})
        await tab.visit("/pipelines/greet/edit?view=yaml")
        text = tab.page.get_by_role("textbox", name="Definition as YAML")
        await text.press("Control+End")
        await text.press("ArrowUp")
        await text.press("End")
        await text.press("ArrowLeft")
        await text.press_sequentially(" ${{ sa")
        await tab.sees("Last time: Hello Ada")
        # A long value stays in its box, on a phone as well.
        for width in (1280, 390):
            await tab.page.set_viewport_size({"width": width, "height": 800})
            for place in (".cm-tooltip-autocomplete > ul", ".cm-completionInfo"):
                box = tab.page.locator(place)
                await box.wait_for()
                assert await box.evaluate("box => box.scrollWidth <= box.clientWidth")
                # The editor places its boxes a moment after the window has another size.
                await tab.page.wait_for_function(
                    "box => box.getBoundingClientRect().right <= innerWidth", arg=await box.element_handle()
                )
        await tab.page.set_viewport_size({"width": 1280, "height": 800})
        # Not by Enter: CodeMirror ignores it right after the list has opened, and while it looks for options again.
        await tab.page.get_by_role("option", name="steps.say.output.text").click()
        await tab.sees('"${{ steps.say.output.text }} ${{ steps.say.output.text }}"')


async def test_the_yaml_completes_keys_packs_and_the_inputs_of_a_pack(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, size=(1440, 900)) as tab:
        await tab.visit(f"/pipelines/{await made(it)}/edit?view=yaml")
        text = tab.page.get_by_role("textbox", name="Definition as YAML")
        await text.press("Control+End")
        for typed, offered in (
            ("  - i", "id"),
            ("late", None),
            ("\npa", "pack"),
            ("tes", "test.echo"),
            ("\ninp", "input"),
        ):
            await text.press_sequentially(typed)
            if offered is not None:
                await tab.page.get_by_role("option").get_by_text(offered, exact=True).click()
        # The pack of a step is known once the text could be read with it; then its inputs are.
        await text.press("Control+Space")
        option = tab.page.get_by_role("option", name="text")
        assert "text" in await option.inner_text()
        assert await tab.violations() == []
        await option.click()
        await text.press_sequentially("tea")
        await tab.sees("No problems.")
        await save_as(tab)
        assert (await current(it, "greet"))["document"]["steps"][2] == {
            "id": "late", "pack": "test.echo", "input": {"text": "tea"}
        }  # fmt: skip


async def test_yaml_that_cannot_be_read_keeps_the_steps_in_view_and_is_marked_at_its_line(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, size=(1440, 900)) as tab:
        await tab.visit(f"/pipelines/{await made(it)}/edit?view=yaml")
        text = tab.page.get_by_role("textbox", name="Definition as YAML")
        steps = tab.page.get_by_role("navigation", name="Parts of the pipeline")
        await text.press("Control+End")
        width = "element => element.getBoundingClientRect().width"
        whole = await tab.page.locator("main").evaluate(width)
        assert await text.evaluate(width) > 0.9 * whole - 100, "the text has the whole width, but for its margins"
        await text.press_sequentially("concurrency: {limit: 1")
        await text.press("Delete")  # the brace that closed by itself
        check = tab.page.get_by_role("region", name="Check")
        await check.get_by_role("button", name="Line 19").wait_for()
        assert await check.get_by_role("button").count() == 1, "one parser speaks"
        await tab.sees("Showing the steps of the last readable YAML.")
        await tab.reads(steps.get_by_role("button"), ["Name, inputs, metadata", "1 Say", "2 Again"])
        await tab.page.locator(".cm-lintRange-error").first.wait_for()
        assert await tab.violations_in_both_themes() == []
        # There is no form of such a text; its line is one click away.
        await tab.page.get_by_text("Form", exact=True).click()
        await text.press("Control+Home")
        await tab.page.get_by_role("button", name="line 19", exact=True).click()
        await tab.page.wait_for_function(
            "() => { const at = document.querySelector('main').querySelectorAll('*');"
            " for (const one of at) { const line = one.shadowRoot?.querySelector('.cm-activeLine');"
            " if (line) return line.innerText.startsWith('concurrency'); } return false; }"
        )
        await text.press("End")
        await text.press_sequentially("}")
        await tab.sees("No problems.")
        await tab.page.get_by_text("Showing the steps of the last readable YAML.").wait_for(state="detached")


async def test_the_form_shows_the_step_where_the_cursor_is_and_the_text_goes_to_the_step_of_the_form(
    tmp_path: Path,
) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit(f"/pipelines/{await made(it)}/edit?view=yaml")
        text = tab.page.get_by_role("textbox", name="Definition as YAML")
        steps = tab.page.get_by_role("navigation", name="Parts of the pipeline")
        await text.press("Control+End")
        await steps.locator("[aria-current=true]").get_by_text("Again").wait_for()
        await tab.page.get_by_text("Form", exact=True).click()
        await tab.holds(box(tab, "text"), "${{ steps.say.output.text }}")
        await steps.get_by_role("button", name="Say").click()
        await tab.page.get_by_text("YAML", exact=True).click()
        await steps.locator("[aria-current=true]").get_by_text("Say").wait_for()
        await steps.get_by_role("button", name="Again").click()
        await tab.focuses(text)
        await steps.locator("[aria-current=true]").get_by_text("Again").wait_for()


async def test_one_step_is_tried_with_the_values_of_the_last_run(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await made(it)
        await ran(it, "greet", {"who": "Ada"})
        await tab.visit("/pipelines/greet/edit?step=again")
        await box(tab, "text").fill("<${{ steps.say.output.text }}>")
        await tab.press("Test this step…")
        dialog = tab.page.get_by_role("dialog")
        await dialog.get_by_text('"text": "<Hello Ada>"').wait_for()
        await tab.press("Run this step", within="dialog")
        await dialog.get_by_text("Succeeded").wait_for()
        await dialog.get_by_role("definition").get_by_text("<Hello Ada>", exact=True).first.wait_for()
        assert await tab.violations() == []
        assert bench.calls_of("test.echo")[-1].input["text"] == "<Hello Ada>"
        assert (await current(it, "greet"))["number"] == 1, "a test saves nothing"


async def test_two_browsers_edit_one_pipeline_and_nobody_loses_anything(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as one, browsing(it) as other:
        address = f"/pipelines/{await made(it)}/edit?step=say"
        for tab in (one, other):
            await tab.visit(address)
            await box(tab, "text").wait_for()
        await box(one, "text").fill("One ${{ inputs.who }}")
        await save_as(one, "by one")
        await box(other, "text").fill("Other ${{ inputs.who }}")
        await other.press("Save…")
        await other.press("Save the version", within="dialog")
        await other.sees("Version 2 was saved in the meantime")
        await other.page.get_by_role("region", name="What differs").get_by_text("One").wait_for()
        await other.press("Save mine on top", within="dialog")
        await other.sees("saved as version 3")
        assert "Other ${{ inputs.who }}" in (await current(it, "greet"))["yaml"]
        # The first one is behind now; it takes what there is.
        await box(one, "text").fill("One more ${{ inputs.who }}")
        await one.press("Save…")
        await one.press("Save the version", within="dialog")
        await one.press("Take version 3 instead", within="dialog")
        await one.page.wait_for_function(
            "document.querySelector('[data-field=text] textarea')?.value.startsWith('Other')"
        )
        assert (await current(it, "greet"))["number"] == 3


async def test_what_was_not_saved_is_back_after_a_reload(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit(f"/pipelines/{await made(it)}/edit?step=say")
        await box(tab, "text").fill("Kept ${{ inputs.who }}")
        await tab.sees("kept in this browser")
        await tab.page.reload()
        await tab.sees("Your unsaved changes from")
        await tab.holds(box(tab, "text"), "Kept ${{ inputs.who }}")
        await tab.press("Discard them")
        await tab.page.wait_for_function(
            "document.querySelector('[data-field=text] textarea').value.startsWith('Hello')"
        )
        await tab.page.reload()
        await box(tab, "text").wait_for()
        assert await tab.page.get_by_text("Your unsaved changes from").count() == 0


async def test_steps_are_moved_copied_and_deleted_by_keyboard(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await save(it, "three", *(step(name, "test.echo", text=name) for name in ("one", "two", "three")))
        await tab.visit("/pipelines/three/edit?step=one")
        rows = tab.page.get_by_role("navigation", name="Parts of the pipeline").locator("[data-step]")

        async def order(*wanted: str) -> None:
            await tab.page.wait_for_function(
                "ids => ids === [...document.querySelectorAll('[data-step]')].map(row => row.dataset.step).join()",
                arg=",".join(wanted),
            )

        await rows.first.focus()
        await tab.page.keyboard.press("Alt+ArrowDown")
        await order("two", "one", "three")
        await tab.page.wait_for_function("document.activeElement.dataset.step === 'one'")
        await tab.press("Duplicate One")
        await order("two", "one", "one_2", "three")
        await rows.nth(2).focus()
        await tab.page.keyboard.press("Delete")
        await order("two", "one", "three")
        await tab.sees("The step One 2 is deleted.")
        await tab.page.get_by_role("status").get_by_role("button", name="Undo").click()
        await order("two", "one", "one_2", "three")


async def test_versions_are_compared_and_an_old_one_restored(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit(f"/pipelines/{await made(it)}/edit?step=say")
        await box(tab, "text").fill("Bye ${{ inputs.who }}")
        await save_as(tab, "Less polite")
        await tab.visit("/pipelines/greet/versions?a=1&b=2")
        await tab.sees("Less polite")
        differs = tab.page.get_by_role("region", name="What differs between version 1 and version 2")
        await differs.get_by_text("Hello", exact=True).wait_for()
        await tab.page.get_by_label("Side by side").check()
        await tab.page.wait_for_url("**view=split*")
        assert await tab.violations() == []
        await tab.press("Restore… version 1")
        await tab.press("Restore as version 3", within="dialog")
        await tab.sees("Version 1 restored")
        assert (await current(it, "greet"))["yaml"].strip() == COMMENTED.strip()


async def test_what_nobody_began_to_write_is_not_called_wrong(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit("/pipelines/new")
        check = tab.page.get_by_role("region", name="Check")
        await check.get_by_text("Needed before you can save:").wait_for()
        needs = check.get_by_role("listitem")
        assert await needs.count() == 2
        red = "() => [...document.querySelectorAll('.text-fail, .border-fail, [aria-invalid=true]')].length"
        assert await tab.page.evaluate(red) == 0
        assert await tab.violations() == []
        # Each leads to its place all the same.
        await needs.first.get_by_role("button").click()
        await tab.page.wait_for_function("document.activeElement.closest('[data-field]')?.dataset.field === 'name'")
        await tab.page.keyboard.type("x")
        await check.get_by_text("Fix 1 problem to save").wait_for()
        await tab.page.keyboard.press("Backspace")
        await check.get_by_text("Fix 2 problems to save").wait_for()
        await tab.page.wait_for_function(f"({red})() > 0")


async def test_starters_are_looked_at_and_copied(tmp_path: Path) -> None:
    async with product(tmp_path, builtins=True) as it, browsing(it) as tab:
        await tab.visit("/pipelines/sample/edit?step=review")
        await tab.sees("It ships with Packline and is read-only.")
        await tab.page.get_by_role("region", name="Check").get_by_role("status").get_by_text("No problems").wait_for()
        assert not await box(tab, "markdown").is_editable()
        assert await tab.page.get_by_role("button", name="Add a step").count() == 0
        await tab.press("Make a copy")
        await tab.page.wait_for_url("**/pipelines/sample-copy/edit*")
        await tab.page.get_by_role("button", name="Add a step").wait_for()
        # Filters stand in the address.
        await tab.visit("/pipelines?source=own")
        await tab.sees("Copy of See it work")
        await tab.visit("/pipelines?accepts=url&produces=pdf&source=starters")
        await tab.sees("Web page to deck")
        assert await tab.page.get_by_text("Copy of See it work").count() == 0


async def test_pipelines_come_in_as_yaml_and_go_by_their_key(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it) as tab:
        await tab.visit("/pipelines")
        await tab.press("Import YAML…")
        text = tab.page.get_by_role("dialog").get_by_role("textbox")
        await text.fill(COMMENTED.replace("test.echo", "test.ecko"))
        await tab.press("Preview changes")
        await tab.page.get_by_role("dialog").get_by_text("Did you mean").first.wait_for()
        await text.fill(COMMENTED)
        await tab.press("Preview changes")
        await tab.sees("is new.")
        assert await tab.violations() == []
        await tab.press("Save the pipeline")
        await tab.page.wait_for_url("**/pipelines/greet")
        assert "# it is shy" in (await current(it, "greet"))["yaml"]
        async with tab.page.expect_download() as exported:
            await tab.press("Export YAML")
        download = await exported.value
        assert download.suggested_filename == "greet.yaml"
        assert "# Ours" in (await download.path()).read_text()
        await tab.press("Delete…")
        delete = tab.page.get_by_role("button", name="Delete the pipeline")
        assert await delete.is_disabled()
        await tab.page.get_by_role("dialog").get_by_role("textbox").fill("greet")
        await delete.click()
        await tab.sees("There are no pipelines yet.")


async def test_the_editor_fits_a_phone(tmp_path: Path) -> None:
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it, browsing(it, size=(360, 740), theme="dark") as tab:
        key = await made(it)
        for path in (f"/pipelines/{key}/edit", f"/pipelines/{key}/edit?step=say", f"/pipelines/{key}/versions"):
            await tab.visit(path)
            await tab.page.locator("main h2").first.wait_for()
            await tab.settles()
            assert await tab.page.evaluate("document.documentElement.scrollWidth") <= 360, path
            if AXE.is_file():
                assert await tab.violations() == [], path
