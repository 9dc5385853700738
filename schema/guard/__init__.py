"""Checks before execution: size, cost, scopes, and the cache of checked documents.

Begin with `guarded_schema`.
"""
