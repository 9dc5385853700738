"""Names of the figures that Packline and its peers are compared by; for peers, who lack our packages, to import."""

MARGINAL_STEP = "marginal cost of a trivial step"
TEN_STEPS = "10 steps, submit to final in the answer, p50"
AT_ONCE = "many runs x 10 steps at once"
