"""Triggers: `triggers` saves and reads them, `firing` starts their runs when they are due or somebody asks.

Imports `resolvers.runs` for the checks of a start.
"""
