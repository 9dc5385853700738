"""Types, queries and commands of triggers: `triggers` has the types and reads, `commands` the commands.

Imports `schema.pipelines`, `schema.runs` and `schema.access`.
"""
