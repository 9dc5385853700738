"""Use cases of pipelines: look up, check, save and promote; and the checks before a run starts.

Begin with `lookups` and `pipelines`.
"""
