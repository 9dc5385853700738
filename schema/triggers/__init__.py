"""Types, queries and commands of triggers: `schedules` and `webhooks` have what they fire by, `triggers` the rest.

Imports `schema.pipelines`, `schema.runs` and `schema.access`.
"""
