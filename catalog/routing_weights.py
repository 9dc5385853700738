"""What routing's signals are worth, as `python -m tests.bench.routing.fit --write` found."""

from __future__ import annotations

RANKING = {
    "words_own": 0.6321,
    "words_makes": 0.9971,
    "words_takes": 1.1635,
    "words_packs": 0.1848,
    "likeness": 2.4585,
    "name_share": 1.3855,
    "name_precision": 0.9945,
    "limits": 1.1364,
    "product_named": 0.0133,
    "product_unnamed": -1.7591,
    "openness": 2.7207,
    "takes_query": 2.3974,
    "fact_fits": 3.0252,
    "fact_conflicts": -1.7958,
    "fact_missing": -1.1829,
    "pipeline": 1.0774,
    "history": 3.0266,
    "repeats": 3.0266,
    "audience": 2.6188,
}
#: Logarithm of the odds that the catalog serves a request.
SERVED = {
    "best_likely": 0.3380,
    "margin": -0.3469,
    "third_likely": 0.9749,
    "own_words": 0.2332,
    "likeness": -0.1202,
    "product_named": 1.2918,
    "coverage": 0.1704,
    "first_known": 0.3793,
    "unknown": -1.1884,
    "only_limits": -1.0252,
    "limits": -0.2443,
    "fact_fits": 0.8476,
    "fact_conflicts": -1.1116,
    "openness": -0.2435,
    "history": 0.7761,
    "few_words": 0.0668,
    "head_unknown": -2.0649,
    "unknown_topic": 1.1862,
    "best_own": 0.3567,
    "best_likeness": 0.0840,
}
SERVED_BIAS = -1.4994
#: Logarithm of the odds that the first answer is right.
RIGHT = {
    "best_likely": 0.7805,
    "margin": 0.9836,
    "third_likely": 0.7993,
    "own_words": -0.1627,
    "likeness": 0.3635,
    "product_named": 0.7801,
    "coverage": -0.3053,
    "first_known": 0.6042,
    "unknown": -0.7995,
    "only_limits": -0.5593,
    "limits": -0.6065,
    "fact_fits": 0.2031,
    "fact_conflicts": -0.4060,
    "openness": 0.0653,
    "history": 0.7525,
    "few_words": 1.0235,
    "head_unknown": -1.2411,
    "unknown_topic": 1.0482,
    "best_own": 0.6042,
    "best_likeness": -0.0020,
}
RIGHT_BIAS = -3.2384
