"""Ranks everything that can run for a request. Pure, except for `model`, which prepares and checks a model's answer.

Begin with `ranking`; `facts` and `concepts` read the request, `index` prepares the catalog, `signals` compares the two
and `weights` holds what `python -m tests.bench.routing.fit` found.
"""
