"""Commands about pipelines, packs and their definitions."""
