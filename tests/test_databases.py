"""Databases for tests: copied from templates that fit the product as it is."""

from __future__ import annotations

from runner.packs.registry import builtins_folder, load_registry
from tests.support.databases import template_name


def test_a_template_with_starters_is_made_again_once_a_pack_has_another_version() -> None:
    registry = load_registry(builtins_folder())
    before = template_name(registry)
    assert template_name(load_registry(builtins_folder())) == before
    (scrape,) = (pack for pack in registry.packs() if pack.name == "web.scrape")
    registry.remove(registry.source_of(scrape))
    assert template_name(registry) != before
    assert template_name(None) != before
