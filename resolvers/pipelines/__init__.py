"""Use cases of pipelines: look up, check, save, apply, promote, and what is checked before a run starts.

Begin with `lookups` and `pipelines`.
"""
