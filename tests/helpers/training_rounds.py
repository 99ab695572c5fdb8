"""Metrics of a booster after each round of training, and the round that early stopping selects."""

import numpy as np

from sklearn_rankscore import evaluate

ROUNDS, STOPPING_ROUNDS = 40, 6


def sizes_of(qid):
    return np.unique(qid, return_counts=True)[1]


def recomputed(predict, test, metric, n_rounds, weight=None, **options):
    """Our metric of the model after each round."""
    X, y, qid = test
    return [
        evaluate(y, predict(X, i + 1), metric, groups=qid, sample_weight=weight, **options)[metric]
        for i in range(n_rounds)
    ]


def best_round(values, stopping_rounds=STOPPING_ROUNDS):
    """The first round that is better than all before it and than `stopping_rounds` after it."""
    best = 0
    for i, value in enumerate(values):
        if value > values[best]:
            best = i
        elif i - best >= stopping_rounds:
            break
    return best
