"""Pipelines, versions, definitions, and the commands on them."""
