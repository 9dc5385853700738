"""The open vault, and everything that keeps its values out of what is stored or shown.

Begin with `vault` and `redaction`.
"""
