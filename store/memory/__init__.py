"""What outlives a run for its caller: memory, default overrides, cached values of packs, results that can be replayed.

Begin with `uptake`, which takes ended runs up, then `entries` and `state`.
"""
