"""Triggers and their firings: `commands` changes them, `firings` records what became of each firing, `reads` lists.

Imports `store.database` and `store.models` only; the run of a firing is started by the unit that records it.
"""
