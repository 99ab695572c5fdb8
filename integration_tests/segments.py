"""Documents with columns of segments, for the tests of streams, Spark and Dask."""

import math

import numpy as np
import pytest
from many_queries import EXACT, make_documents

from sklearn_rankscore import query_scores

SEGMENT_METRICS = ["ndcg@5", "map@5(replace_undefined_by=nan)", "query_auc"]
BY = ["country", "device", "new", "level"]


def make_segments(seed=1, long=0):
    """Documents with three columns of segments, of which one has missing values."""
    columns = make_documents(long=long)
    random, n = np.random.default_rng(seed), columns["qid"].max() + 1
    values = {
        "country": np.array(["de", "fr", "ü", None], dtype=object)[random.integers(0, 4, n)],
        "device": np.array(["phone", "desk"])[random.integers(0, 2, n)],
        "new": random.random(n) < 0.3,
        "level": np.where(random.random(n) < 0.2, math.nan, random.integers(0, 4, n)),
    }
    return columns | {name: column[columns["qid"]] for name, column in values.items()}


def expected_segments(columns, weight=None):
    """Mean, standard error and numbers of queries by segment, from QueryScores.by."""
    weights = None if weight is None else columns[weight]
    options = {"groups": columns["qid"], "segments": {name: columns[name] for name in BY}}
    given = columns["label"], columns["score"], SEGMENT_METRICS
    scores = query_scores(*given, sample_weight=weights, **options)
    return {(s.metric, *s.segment): (s.mean, s.queries) for s in scores.by()}


def check(by_segment, expected, weight=None):
    summaries = {
        (name, *segment): (summary.mean, summary.n_queries - summary.n_undefined)
        for segment, of_metrics in by_segment.items()
        for name, summary in of_metrics.items()
    }
    assert list(dict.fromkeys(key[1:] for key in summaries)) == [*by_segment]
    assert summaries.keys() == expected.keys()
    for key, (mean, count) in summaries.items():
        assert mean == pytest.approx(expected[key][0], nan_ok=True, **EXACT)
        # undefined queries of the other metric count as 0; those without weight only here
        if weight is None and ("auc" in key[0] or "nan" in key[0]):
            assert count == expected[key][1]
