"""JSON Schema as authors write it: admitted, checked, worded, merged.

Begin with `validation`. Knows neither packs nor pipelines.
"""
