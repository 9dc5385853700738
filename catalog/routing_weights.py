"""What routing's signals are worth, as `python -m tests.bench.routing.fit --write` found."""

from __future__ import annotations

RANKING = {
    "words_own": 0.6658,
    "words_makes": 0.9061,
    "words_takes": 1.0788,
    "words_packs": 0.1982,
    "likeness": 2.6542,
    "name_share": 1.1634,
    "name_precision": 0.8916,
    "limits": 1.2585,
    "product_named": -0.0771,
    "product_unnamed": -1.7986,
    "openness": 2.4800,
    "takes_query": 1.9937,
    "fact_fits": 3.1090,
    "fact_conflicts": -1.9308,
    "fact_missing": -1.1933,
    "pipeline": 1.1850,
    "history": 3.0081,
    "repeats": 3.0081,
    "audience": 2.5643,
}
#: Logarithm of the odds that the catalog serves a request.
SERVED = {
    "best_likely": 0.4260,
    "margin": -0.7227,
    "third_likely": 1.3904,
    "own_words": 0.2323,
    "likeness": 0.1125,
    "product_named": 1.5160,
    "coverage": 0.2185,
    "first_known": 0.2682,
    "unknown": -1.2278,
    "only_limits": -0.4189,
    "limits": -0.1919,
    "fact_fits": 0.8734,
    "fact_conflicts": -1.2532,
    "openness": 0.1425,
    "history": 0.8491,
    "few_words": 0.2301,
    "head_unknown": -2.0736,
    "unknown_topic": 0.9708,
    "best_own": 0.3264,
    "best_likeness": -0.0286,
}
SERVED_BIAS = -1.9401
#: Logarithm of the odds that the first answer is right.
RIGHT = {
    "best_likely": 0.8722,
    "margin": 0.5918,
    "third_likely": 1.0252,
    "own_words": -0.0491,
    "likeness": 0.3431,
    "product_named": 0.7140,
    "coverage": -0.2752,
    "first_known": 0.6521,
    "unknown": -1.0476,
    "only_limits": 0.0092,
    "limits": -0.7579,
    "fact_fits": 0.1536,
    "fact_conflicts": -0.5821,
    "openness": 0.2882,
    "history": 0.7450,
    "few_words": 0.9547,
    "head_unknown": -0.8872,
    "unknown_topic": 0.4795,
    "best_own": 0.4452,
    "best_likeness": -0.1554,
}
RIGHT_BIAS = -3.0350
