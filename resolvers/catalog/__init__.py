"""Use cases of the catalog: search, routing, the guide, gaps.

Begin with `routing`.
"""
