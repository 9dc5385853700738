"""What outlives a run for its caller: memory, default overrides, cached values of packs, results that can be replayed.

Begin with `outcomes`, which records ended runs, then `entries` and `state`.
"""
