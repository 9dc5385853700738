"""A pack with a wrong declaration is reported with its place, and what lists packs shows all others."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, get_args

import pytest

from packline import Pack
from runner.packs.needs import CredentialKindName
from runner.packs.pack import PackDefinitionError
from runner.secrets.credential_kinds import KINDS
from tests.support.checked_packs import scrape
from tests.support.front_door import command
from tests.support.pack_folders import pack_source, write_pack_folder
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path

EFFECTS = "not one of 'none', 'idempotent', 'external'."
SECONDS = "not a number of seconds above 0 and up to 86400."
#: What the file writes instead, and what it is told.
ARGUMENTS = {
    "effects": ('effects="no"', f"effects is 'no', {EFFECTS} Did you mean 'none'?"),
    "effects_list": ("effects=['none']", f"effects is ['none'], {EFFECTS}"),
    "version": ("version=1", 'version is 1, not a semantic version such as "1.0.0".'),
    "version_long": ('version="1." + "9" * 5000 + ".0"', 'not a semantic version such as "1.0.0".'),
    "repeatable": ('repeatable="no"', "repeatable is 'no', not True or False."),
    "at_most_once": ("at_most_once=1", "at_most_once is 1, not True or False."),
    "timeout": ('timeout_seconds="30"', f"timeout_seconds is '30', {SECONDS}"),
    "timeout_flag": ("timeout_seconds=True", f"timeout_seconds is True, {SECONDS}"),
    "cost": ("cost=5", "cost is 5, not a text."),
    "metadata": ("metadata={'accepts': []}", "metadata is {'accepts': []}; write `Metadata(…)`."),
    "kinds": ("metadata=Metadata(accepts='text')", "Metadata.accepts is 'text'; it must be a list."),
    "kinds_later": ("metadata=Metadata.model_construct(accepts=[1])", "metadata.accepts.0 is 1; it must be text."),
    "kinds_text": (r"metadata=Metadata(accepts=['\ud800'])", "metadata.accepts.0: The text holds the lone surrogate"),
    "credential": ("credentials=['github']", "credentials[0] is 'github', not a CredentialNeed."),
    "credentials": ("credentials='github'", "credentials is 'github', not a list of CredentialNeed."),
    "key": ("credentials=[CredentialNeed('Git Hub', 'github')]", "credentials[0].key is 'Git Hub', not the key"),
    "kind": ("credentials=[CredentialNeed('github', 'gitub')]", "'generic'. Did you mean 'github'?"),
    "need": ("credentials=[CredentialNeed('github', 'github', 'no')]", "credentials[0].required is 'no', not True"),
    "service": ("services=['ffmpeg']", "services[0] is 'ffmpeg', not a Service."),
    "service_name": ("services=[Service([], print)]", "services[0].name is [], not a text."),
    "probe": ("services=[Service('ffmpeg', None)]", "services[0].probe is None, not a function"),
    "model": ("models=['writer']", "models[0] is 'writer', not a ModelNeed."),
    "role": ("models=[ModelNeed(7)]", "models[0].role is 7, not a text."),
    "check": ("post_conditions=[PostCondition('It is so.', 3)]", "post_conditions[0].check is 3, not a function"),
    "check_text": ("post_conditions=['It is so.']", "post_conditions[0] is 'It is so.', not a PostCondition."),
}
FIELDS = {
    "of_function": ("of: Callable[[], int] | None = None", "The field `of` of its input model has no JSON Schema:"),
    "of_integer": ("of: int = Field(0, le=10**30)", "wrong at properties.of.maximum: The integer does not fit"),
    "of_text": (r'of: str = Field("", description="\ud800")', "wrong at properties.of.description: The text holds"),
    "of_type": ('of: str = Field("", json_schema_extra={"type": "strng"})', "properties.of.type: This is not JSON"),
    "of_pattern": ('of: str = Field("", json_schema_extra={"pattern": "("})', 'The pattern "(" is refused'),
    "of_object": ('of: str = Field("", json_schema_extra={"x": object()})', "Its input model has no JSON Schema:"),
}
LISTS = """{
    catalog(first: 100) { nodes {
        id name description inputSchema metadata { accepts produces }
        availability { usable missing { kind name message hint } } usage { runs }
        ... on Pack {
            version effects repeatable atMostOnce credentials services modelRoles costEstimate postConditions
            timeoutSeconds outputSchema installedVersions source { location }
        }
    } }
    server { packSources { loadErrors { origin message } } health { name message } }
}"""


def declared(name: str, argument: str = "", field: str = "") -> str:
    """A pack file with another argument, which replaces the one of its name, or another field of its input."""
    source = pack_source(name).replace("from packline import PackContext, pack", "from packline import *")
    source = source.replace("import annotations\n", "import annotations\nfrom typing import Callable\n")
    source = source.replace("import BaseModel", "import BaseModel, Field")
    given = argument.partition("=")[0]
    wanted = [f'"{name}"', argument, *('version="1.0.0"', 'effects="none"', "repeatable=True")]
    kept = [one for one in wanted if one and (one == argument or one.partition("=")[0] != given)]
    source = source.replace(
        f'@pack("{name}", version="1.0.0", effects="none", repeatable=True)', f"@pack({', '.join(kept)})"
    )
    return source.replace('    text: str = ""', f'    text: str = ""\n    {field}')


async def test_wrong_declarations_are_reported_and_all_others_are_listed(tmp_path: Path) -> None:
    files = {f"bad/{name}.py": declared(f"bad.{name}", argument=given) for name, (given, _) in ARGUMENTS.items()}
    files |= {f"bad/{name}.py": declared(f"bad.{name}", field=field) for name, (field, _) in FIELDS.items()}
    docstring = r'"""Gives back the text.\ud800"""'
    files["bad/docstring.py"] = pack_source("bad.docstring").replace('"""Gives back the text."""', docstring)
    files["bad/changed.py"] = (
        f'{declared("bad.changed")}\nimport dataclasses\nrun = dataclasses.replace(run, effects="no")'
    )
    files["bad/Größe \udcff.py"] = ""
    files |= {"good/fine.py": pack_source("good.fine")}
    async with product(tmp_path, pack_path=(write_pack_folder(tmp_path / "mine", files),)) as it:
        shown = await it.query(LISTS)
        start = await command(it, "runPack", pack="bad.effects", input={}, waitSeconds=20)
        fine = await command(it, "runPack", pack="good.fine", input={"text": "tea"}, waitSeconds=20)
    assert [entry["name"] for entry in shown["catalog"]["nodes"]] == ["good.fine"]
    errors = [error for source in shown["server"]["packSources"] for error in source["loadErrors"]]
    messages = {error["origin"].rpartition("/")[2].removesuffix(".py"): error["message"] for error in errors}
    expected = {name: said for name, (_, said) in (ARGUMENTS | FIELDS).items()}
    expected |= {"docstring": "description holds the lone surrogate U+D800", "changed": f"effects is 'no', {EFFECTS}"}
    for name, said in expected.items():
        message = messages.pop(name)
        assert said.rstrip(".") in message
        line = next(n for n, text in enumerate(files[f"bad/{name}.py"].splitlines(), 1) if text.startswith("@pack"))
        line = len(files["bad/changed.py"].splitlines()) if name == "changed" else line
        assert message.endswith(f" (line {line})"), message
    assert len(messages) == 1, "the file whose name is no text"
    assert "bad/effects.py: Pack bad.effects: effects is 'no'" in start["missing"][0]["message"]
    assert fine["run"]["state"] == "SUCCEEDED"


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Pack)])
def test_every_field_of_a_pack_is_checked(field: str) -> None:
    for wrong in (object(), [object()], (object(),)):
        with pytest.raises(PackDefinitionError):
            dataclasses.replace(scrape, **{field: wrong})


PROBES = {
    "text": ("'gone'", "The probe of `gramophone` returned 'gone', not a `Missing` or None."),
    "parts": ("Missing(3, None)", "The probe of `gramophone` returned Missing(message=3, hint=None), not a"),
    "surrogate": (r"Missing('\ud800', 'x')", r"The probe of `gramophone` returned Missing(message='\ud800'"),
    "raises": (r"[].pop('\ud800')", "The probe of `gramophone` failed: "),
}


async def test_a_probe_may_return_anything(tmp_path: Path) -> None:
    files = {
        f"test/{name}.py": declared(f"test.{name}", argument=f"services=[Service('gramophone', lambda: {answer})]")
        for name, (answer, _) in PROBES.items()
    }
    async with product(tmp_path, pack_path=(write_pack_folder(tmp_path / "mine", files),)) as it:
        shown = await it.query(LISTS)
    missing = {entry["name"]: entry["availability"]["missing"] for entry in shown["catalog"]["nodes"]}
    assert missing.keys() == {f"test.{name}" for name in PROBES}
    for name, (_, said) in PROBES.items():
        (lack,) = missing[f"test.{name}"]
        assert lack["message"].startswith(said)
        assert lack["hint"] == "Check the probe in the pack."


def test_packs_name_the_kinds_of_credentials_that_there_are() -> None:
    kinds: tuple[Any, ...] = get_args(CredentialKindName)
    assert set(kinds) == {"", *KINDS}
