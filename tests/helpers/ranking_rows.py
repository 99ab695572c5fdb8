"""Rows of ranking data in random order: to train on, and other queries with the same ids."""

import numpy as np
import pandas as pd

from sklearn_rankscore import make_ranking


def rows_of(n_queries, seed):
    """Six features, labels from 0 to 4 and ids."""
    options = {"n_features": 6, "n_informative": 3, "random_state": seed}
    X, y, ids = make_ranking(n_queries=n_queries, **options)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order], ids[order]


ROWS = X, Y, IDS = rows_of(40, 0)
VALID = X_VALID, Y_VALID, IDS_VALID = rows_of(15, 1)
FRAME, INDEX = pd.DataFrame(X).add_prefix("x"), pd.Index(IDS, name="qid")
INDEXED, BY_ID = FRAME.set_index(INDEX), {"groups": IDS}


def last(model):
    """The last step of a pipeline, or the model itself."""
    return model[-1] if hasattr(model, "steps") else model
