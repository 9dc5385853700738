"""Pipelines and their versions, starters, gaps, and how often entries of the catalog were used.

Begin with `rows` (how a version is written), then `commands` (the units that save and delete) and `reads`.
"""
