"""Pipeline definitions: reads, checks and compiles documents, and checks run inputs.

Begin with `parsing` and `check`; `compiled` is what runs use. Large documents go through `background_compile`.
"""
