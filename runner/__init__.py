"""Executes pipelines: definitions, templates, packs, attempts, retries and rescue."""
