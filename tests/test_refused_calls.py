"""Wrong calls that no other table of refusals has: the class of the error and what it tells."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

import sklearn_rankscore as rs
from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking, make_ranking_scorer, ndcg_score

X, LABELS = make_ranking(n_queries=8, n_features=3, n_documents=5, as_frame=True, random_state=0)
FEATURES, IDS = X.drop(columns="qid"), X["qid"].to_numpy()
SOME = np.where(np.arange(len(IDS)) == 1, np.nan, LABELS)  # not all are judged
T, V = TypeError, ValueError
MODEL = Ridge().fit(FEATURES, LABELS)
LOG = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 12], "rating": [1, 0, 1]})
ITEMS_AND_SCORES = np.array([[1, 3], [2, 0]]), np.array([[0.9, 0.8], [0.7, 0.2]], dtype="f4")
NUMBERS, TEXT = {"u1": [101, 102], "u2": [103]}, {"u1": ["101", "102"], "u2": ["103"]}
PAIRS = {"u1": [("101", 0.9), ("102", 0.5)], "u2": [("103", 0.1)]}
SCORES = rs.QueryScores([1, 2], [[0, 1], [1, 0]], ["m@1", "m@2"])
Y, S, G = np.array([1, 0, 1, 0, 2, 0]), np.arange(6.0), {"groups": np.array([0, 0, 0, 1, 1, 1])}
WITH_NAN, PAIR = np.where(S == 1, np.nan, Y), ([1, 0], [0.5, 0.2])


def score_by(groups=None, target=None):
    scorer = make_ranking_scorer("ndcg")
    return lambda: scorer(MODEL, FEATURES, LABELS, groups=groups, target=target)


def make(*args, **options):
    return lambda: make_ranking_scorer(*args, **options)


def split_by(groups=IDS, n_splits=3, y=LABELS, **options):
    return lambda: list(QueryKFold(n_splits, **options).split(FEATURES, y, groups=groups))


def fit(model=None, y=LABELS, groups=IDS, **options):
    ranker = QueryRanker(Ridge() if model is None else model, **options)
    return lambda: ranker.fit(FEATURES, y, groups=groups)


def rows(*args, **options):
    return lambda: make_ranking(*args, **options)


def ranked(*args):
    return lambda: rs.from_ranked_lists(*args)


def labels(function, *args, y=Y, **options):
    return lambda: function(y, S, *args, **G, **options)


FLAGS = [  # a name, and a call that gives it "no"
    ("refit_all", fit(LGBMRanker(verbose=-1), early_stopping=True, refit_all="no")),
    ("output_dict", lambda: rs.ranking_report(*PAIR, output_dict="no")),
    ("output_dict", lambda: rs.convention_report(*PAIR, output_dict="no")),
    ("plots", lambda: rs.ranking_report(*PAIR).to_html(plots="no")),
    ("per_query", lambda: rs.RankingAccumulator("mrr", per_query="no")),
    ("bands", lambda: rs.CutoffCurveDisplay.from_query_scores(SCORES, bands="no")),
]
SCORERS = [
    (V, "row numbers of a table", score_by(FEATURES.index)),
    (V, "one id per row: got 5", score_by(IDS[:5])),
    (V, "target contains NaN .first at position 1", score_by(IDS, SOME)),
    (V, "inconsistent numbers of samples", score_by(IDS, LABELS[:5])),
    *((T, "a metric is a name such as 'ndcg@10'", make(metric)) for metric in (3, ["ndcg"])),
    (V, "is not with these options", make("mrr", average="micro")),
]
SPLITS_AND_FITS = [
    (V, "row numbers of a table", split_by(FEATURES.index)),
    *((V, "one id per row", split_by(groups)) for groups in (IDS[:5], [5] * 8)),
    (V, "n_splits=9 is more than the number of queries, 8", split_by(n_splits=9)),
    (V, "skip_constant_queries=True needs y", split_by(y=None, skip_constant_queries=True)),
    (V, "seed", split_by(shuffle=True, random_state="x")),
    *((V, f"n_splits must be an integer of at least 2; got {n!r}", lambda n=n: QueryKFold(n))
      for n in (0, 2.5, "5", True, None)),
    (V, "inconsistent numbers of samples", fit(y=LABELS[:5])),
    (V, "one id per row: got 5", fit(groups=IDS[:5])),
    (rs.NoGroupsError, "No query ids reached Ridge.fit", fit(groups=None, group_param="own")),
    (V, "not fitted", lambda: QueryRanker(Ridge()).predict(FEATURES)),
    (AttributeError, "no attribute 'estimator_'", lambda: QueryRanker(Ridge()).coef_),
    (V, "'n_estimators' is a parameter of LGBMRanker.*: use 'estimator__n_estimators'",
     lambda: QueryRanker(LGBMRanker()).set_params(n_estimators=3)),
]  # fmt: skip
READERS = [
    (T, "are 103 in one place and '103' in another", ranked(NUMBERS, TEXT)),
    (T, "Convert all of them to one type", ranked(TEXT, {"a": TEXT, "b": NUMBERS})),
    (T, "in another, .*become a dict, dict", ranked(TEXT, PAIRS)),
    (T, "103 in one place and .'103', 0.1. in", ranked(NUMBERS, PAIRS)),
    (V, r"`actual` lacks 1 query of `predicted`; the first is 'knn'",
     ranked(TEXT, {"knn": pd.Series(TEXT)})),
    (T, "predicted is a tuple of item numbers and scores.*use from_recommendations",
     ranked([[1], [2]], ITEMS_AND_SCORES)),
    (T, r"from_recommendations\(interactions, \*model.recommend",
     lambda: rs.from_recommendations(np.eye(2, 4), ITEMS_AND_SCORES)),
    (T, "with several systems, as two dicts",
     lambda: rs.from_recommendations(np.eye(2, 4), {"als": ITEMS_AND_SCORES})),
    (T, r"columns \['user', 'item', 'score'\].* by from_frames",
     lambda: ndcg_score(LOG, LOG.rename(columns={"rating": "score"}))),
    (T, "is a DataFrame with the columns .*rating.* pass one of them with groups=",
     lambda: ndcg_score(LOG.assign(timestamp=[3, 1, 2]), np.eye(3))),
]  # fmt: skip
METRICS = [
    (V, r"Give several as a list, such as \['ndcg@5', 'ndcg@10'\]",
     lambda: rs.evaluate(*PAIR, "ndcg@5 map@5")),
    *((T, r'Several cut-offs are one metric each: evaluate\(\.\.\., \[f"ndcg@{k}"',
       lambda k=k: ndcg_score(*PAIR, k=k))
      for k in ([5, 10], (5, 10), range(1, 4), np.array([5, 10]))),
    (T, "takes one estimator; got a dict. Call it for each",
     lambda: rs.cross_val_query_scores({"a": Ridge()}, X, LABELS, metrics="ndcg")),
    (T, r"got a dict. Pass metrics=\['ndcg@3'\]", lambda: rs.RankingAccumulator({"a": "ndcg@3"})),
]  # fmt: skip
OF_LABELS = [
    (V, "propensity= is not given", labels(rs.dcg_score, clip=0.1)),
    (T, "unexpected keyword argument 'propensity'", labels(rs.map_score, propensity=S)),
    (V, "'recall' has no option 'target'; there are k",
     labels(rs.evaluate, "recall@2(target=orders)")),
    (V, "no exact bounds of 'query_auc'", labels(rs.score_bounds, "query_auc", y=WITH_NAN)),
    (T, r"metrics must be a list of names, such as \['map'\]",
     lambda: rs.QueryScores([1], [[1, 2, 3]], "map")),
    (V, "queries with human labels and two others are needed, of a positive weight; got 2 and 0",
     lambda: rs.rectify(SCORES, SCORES, SCORES)),
]  # fmt: skip
ROWS = [
    (V, "n_queries must be .*at least 1; got 0", rows(0)),
    *(((T, V), f"n_queries must be .*; got {n!r}", rows(n)) for n in (2.5, "3", True)),
    (V, "n_features must be .*at least 1; got 0", rows(5, 0)),
    (V, "n_documents must be .*got -1", rows(5, n_documents=-1)),
    (V, "n_informative must be .*got 0", rows(5, n_informative=0)),
    (V, "n_grades must be .*at least 2; got 1", rows(5, n_grades=1)),
    *((V, f"noise must be .*; got {value}", rows(5, noise=value)) for value in (-1, np.nan)),
    ((T, V), "query_effect must be", rows(5, query_effect="big")),
    (V, "seed", rows(5, random_state="x")),
]
CALLS = [
    *((T, f"^{name} must be True or False; got 'no'", call) for name, call in FLAGS),
    *SCORERS, *SPLITS_AND_FITS, *READERS, *METRICS, *OF_LABELS, *ROWS,
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "call"), CALLS)
def test_wrong_calls_are_refused(error, message, call):
    with pytest.raises(error, match=message):
        call()
