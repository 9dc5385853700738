"""Pipelines and their versions, starters, gaps, and how often entries of the catalog were used.

Begin with `rows` (how a version is written), then `commands` (units of saves and deletes) and `reads`.
"""
