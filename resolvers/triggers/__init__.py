"""Triggers: `triggers` saves and reads them, `firing` starts their runs when they are due or somebody asks.

`documents` makes them match the list of a pipeline's document. Imports `resolvers.runs` for the checks of a start.
"""
