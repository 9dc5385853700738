"""Templates in step inputs: `${{ … }}`, compiled once and resolved once per attempt.

Begin with `references` (the grammar), then `templating`.
"""
