"""Ranks packs and pipelines for a request. Pure; `model` prepares prompts and checks answers, but calls no model.

Begin with `ranking`; `facts` and `concepts` read the request, `index` prepares the catalog, `signals` compares the two
and `weights` holds the weights that `python -m tests.bench.routing.fit` fitted.
"""
