"""JSON Schema: checks of schemas and of values, messages, defaults, merging and comparison.

Begin with `validation`. Knows neither packs nor pipelines.
"""
