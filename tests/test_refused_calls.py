"""Wrong calls of scorers, splitters, rankers and make_ranking: the type and text of the error."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate

from sklearn_rankscore import (
    CutoffCurveDisplay,
    ForestDisplay,
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    QueryScores,
    RankingAccumulator,
    convention_report,
    cross_val_query_scores,
    evaluate,
    evaluate_parquet,
    from_ranked_lists,
    from_recommendations,
    make_ranking,
    make_ranking_scorer,
    ndcg_score,
    ranking_report,
)

X, LABELS = make_ranking(n_queries=8, n_features=3, n_documents=5, as_frame=True, random_state=0)
FEATURES, IDS = X.drop(columns="qid"), X["qid"].to_numpy()
MODEL = Ridge().fit(FEATURES, LABELS)


def score_by(*args, X=FEATURES, y=LABELS, groups=None, **options):
    return make_ranking_scorer(*args, **options)(MODEL, X, y, groups=groups)


def score_by_source(groups, X=FEATURES):
    return make_ranking_scorer("ndcg", groups=groups)(MODEL, X, LABELS)


def split_by(X=FEATURES, y=LABELS, groups=IDS, n_splits=3, **options):
    return list(QueryKFold(n_splits, **options).split(X, y, groups=groups))


def fit(estimator=None, y=LABELS, groups=IDS, X=FEATURES, **options):
    weights = options.pop("sample_weight", None)
    ranker = QueryRanker(Ridge() if estimator is None else estimator, **options)
    return ranker.fit(X, y, groups=groups, sample_weight=weights)


def flag(name):
    """The text of the error for the flag ``"no"``."""
    return f"^{name} must be True or False; got 'no'"


class TakesAnything:
    def fit(self, X, y, **params):
        return self


LOG = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 12], "rating": [1, 0, 1]})
ITEMS_AND_SCORES = np.array([[1, 3], [2, 0]]), np.array([[0.9, 0.8], [0.7, 0.2]], dtype="f4")
NUMBERS, TEXT = {"u1": [101, 102], "u2": [103]}, {"u1": ["101", "102"], "u2": ["103"]}
PAIRS = {"u1": [("101", 0.9), ("102", 0.5)], "u2": [("103", 0.1)]}
SCORES = QueryScores([1, 2], [[0, 1], [1, 0]], ["m@1", "m@2"])
CALLS = [
    (lambda: score_by("ndcg", groups=FEATURES.index), ValueError, "row numbers of a table"),
    (lambda: split_by(groups=FEATURES.index), ValueError, "row numbers of a table"),
    (
        lambda: fit(LGBMRanker(verbose=-1), early_stopping=True, refit_all="no"),
        TypeError,
        flag("refit_all"),
    ),
    (lambda: ranking_report([1, 0], [2, 1], output_dict="no"), TypeError, flag("output_dict")),
    (lambda: convention_report([1, 0], [2, 1], output_dict="no"), TypeError, flag("output_dict")),
    (lambda: ranking_report([1, 0], [2, 1]).to_html(plots="no"), TypeError, flag("plots")),
    (lambda: RankingAccumulator("mrr", per_query="no"), TypeError, flag("per_query")),
    (lambda: ForestDisplay.from_query_scores(SCORES, means="no"), TypeError, flag("means")),
    (lambda: CutoffCurveDisplay.from_query_scores(SCORES, bands="no"), TypeError, flag("bands")),
    (lambda: from_ranked_lists(NUMBERS, TEXT), TypeError, "numbers, such as 101, and text"),
    (lambda: from_ranked_lists(TEXT, {"a": TEXT, "b": NUMBERS}), TypeError, "Convert one of them"),
    (
        lambda: from_ranked_lists(TEXT, PAIRS),
        TypeError,
        r"text, such as .*become a dict: {query: dict",
    ),
    (lambda: from_ranked_lists(NUMBERS, PAIRS), TypeError, "numbers, .* and tuples, such as"),
    (
        lambda: from_ranked_lists(TEXT, {"knn": pd.Series(TEXT)}),
        TypeError,
        r"predicted 'knn' must both be dicts .* series.to_dict\(\)",
    ),
    (
        lambda: from_ranked_lists([[1], [2]], ITEMS_AND_SCORES),
        TypeError,
        "predicted is a tuple of item numbers and scores.*use from_recommendations",
    ),
    (
        lambda: from_recommendations(np.eye(2, 4), ITEMS_AND_SCORES),
        TypeError,
        r"from_recommendations\(interactions, \*model.recommend",
    ),
    (
        lambda: from_recommendations(np.eye(2, 4), {"als": ITEMS_AND_SCORES}),
        TypeError,
        "with several systems, as two dicts",
    ),
    (
        lambda: ndcg_score(LOG, LOG.rename(columns={"rating": "score"})),
        TypeError,
        r"columns \['user', 'item', 'score'\].* by from_frames",
    ),
    (
        lambda: ndcg_score(LOG.assign(timestamp=[3, 1, 2]), np.eye(3)),
        TypeError,
        "is a DataFrame with the columns .*rating.* pass one of them with groups=",
    ),
    (
        lambda: ndcg_score(pl.DataFrame(LOG), np.eye(3)),
        TypeError,
        r"y_true is a DataFrame .* pass one of them with groups=",
    ),
    (
        lambda: ndcg_score([1, 0], [0.5, 0.2], groups=[["a", "b"], [1, 2]]),
        ValueError,
        r"one-dimensional, .*got shape \(2, 2\).* list\(zip\(",
    ),
    (
        lambda: ndcg_score([1, 0], [0.5, 0.2], groups=(["a", "b"], [1, 2])),
        ValueError,
        r"one-dimensional, .*got shape \(2, 2\).* list\(zip\(",
    ),
    *(
        (
            lambda name=name: evaluate([1, 0], [0.5, 0.2], name),
            ValueError,
            r"Give several as a list, such as \['ndcg@5', 'ndcg@10'\]",
        )
        for name in ("ndcg@5,10", "ndcg@[5,10]", "ndcg_cut_5,10", "ndcg@5 map@5", "ndcg, map")
    ),
    *(
        (
            lambda k=k: ndcg_score([1, 0], [0.5, 0.2], k=k),
            TypeError,
            r'Several cut-offs are one metric each: evaluate\(\.\.\., \[f"ndcg@{k}"',
        )
        for k in ([5, 10], (5, 10), range(1, 4), np.array([5, 10]))
    ),
    (
        lambda: cross_val_query_scores({"a": Ridge()}, X, LABELS, metrics="ndcg"),
        TypeError,
        "takes one estimator; got a dict. Call it for each",
    ),
    (
        lambda: RankingAccumulator({"short": "ndcg@3"}),
        TypeError,
        r"got a dict. Pass metrics=\['ndcg@3'\]",
    ),
    (
        lambda: evaluate_parquet("rows.parquet", "ndcg", group="session"),
        TypeError,
        "groups= names the columns of query ids",
    ),
    (
        lambda: score_by("ndcg"),
        NoGroupsError,
        "No query ids reached the metric 'ndcg': pass gro",
    ),
    (lambda: score_by("ndcg", groups=IDS[:5]), ValueError, "one id per row: got 5"),
    (lambda: score_by_source("session"), NoGroupsError, "names no column or index level of X"),
    (lambda: score_by_source(3), (TypeError, ValueError), "groups.*int"),
    (lambda: score_by_source(IDS), (TypeError, ValueError), "groups"),
    (lambda: make_ranking_scorer("ndgc@10"), ValueError, "Did you mean 'ndcg@10'"),
    (lambda: make_ranking_scorer("ndcg@0"), ValueError, "cut-off after @ must be a positive"),
    (lambda: make_ranking_scorer(3), TypeError, "a metric is a name such as 'ndcg@10'"),
    (lambda: make_ranking_scorer("ndcg", k=0), ValueError, "k must be at least 1"),
    (lambda: make_ranking_scorer("ndcg", k="10"), TypeError, "k must be a positive integer"),
    (lambda: make_ranking_scorer("ndcg", gian="linear"), ValueError, "Did you mean 'gain'"),
    (lambda: make_ranking_scorer("ndcg", average=None), ValueError, "average=None gives one"),
    (
        lambda: make_ranking_scorer("mrr", average="micro"),
        ValueError,
        "is not with these options",
    ),
    (lambda: make_ranking_scorer(["ndcg"]), TypeError, "a metric is a name such as"),
    (
        lambda: cross_validate(Ridge(), FEATURES, LABELS, scoring="ndcg@0", cv=2),
        ValueError,
        "cut-off after @ must be a positive integer",
    ),
    (
        lambda: cross_validate(Ridge(), FEATURES, LABELS, scoring="ndcg@10", error_score="raise"),
        NoGroupsError,
        "No query ids reached",
    ),
    (lambda: split_by(groups=None), NoGroupsError, "No query ids reached QueryKFold"),
    (lambda: split_by(groups=IDS[:5]), ValueError, "one id per row: got 5"),
    (lambda: split_by(groups=[5] * 8), ValueError, "one id per row"),
    (lambda: split_by(groups=np.where(IDS == 3, np.nan, IDS)), ValueError, "missing values"),
    (lambda: split_by(n_splits=9), ValueError, "n_splits=9 is more than the number of queries, 8"),
    (
        lambda: split_by(y=None, skip_constant_queries=True),
        ValueError,
        "skip_constant_queries=True needs y",
    ),
    (lambda: split_by(shuffle=True, random_state="x"), ValueError, "seed"),
    (lambda: QueryKFold(1), ValueError, "n_splits must be an integer of at least 2; got 1"),
    (lambda: QueryKFold(0), ValueError, "n_splits must be an integer of at least 2; got 0"),
    (lambda: QueryKFold(2.5), ValueError, "n_splits must be an integer of at least 2; got 2.5"),
    (lambda: QueryKFold("5"), ValueError, "n_splits must be an integer of at least 2; got '5'"),
    (lambda: QueryKFold(True), ValueError, "n_splits must be an integer of at least 2; got True"),
    (lambda: QueryKFold(None), ValueError, "n_splits must be an integer of at least 2; got None"),
    (lambda: fit(y=LABELS[:5]), ValueError, "inconsistent numbers of samples"),
    (lambda: fit(groups=IDS[:5]), ValueError, "one id per row: got 5"),
    (lambda: fit(groups=[*IDS[:-1], None]), ValueError, "missing values"),
    (lambda: fit(TakesAnything()), (TypeError, ValueError), "group_param=|clone"),
    (lambda: fit(groups=None, group_param="qid"), NoGroupsError, "No query ids reached Ridge.fit"),
    (lambda: fit(groups_column=3), TypeError, "groups_column"),
    (lambda: fit(sample_weight=[1.0]), ValueError, "one weight per document: got 1 for"),
    (lambda: QueryRanker(Ridge()).predict(FEATURES), ValueError, "not fitted"),
    (lambda: QueryRanker(Ridge()).coef_, AttributeError, "not fitted"),
    (lambda: fit().score(FEATURES, LABELS), NoGroupsError, "No query ids reached"),
    (lambda: make_ranking(0), ValueError, "n_queries must be .*at least 1; got 0"),
    (lambda: make_ranking(2.5), (TypeError, ValueError), "n_queries must be .*; got 2.5"),
    (lambda: make_ranking("3"), (TypeError, ValueError), "n_queries must be .*; got '3'"),
    (lambda: make_ranking(True), (TypeError, ValueError), "n_queries must be .*; got True"),
    (lambda: make_ranking(5, 0), ValueError, "n_features must be .*at least 1; got 0"),
    (lambda: make_ranking(5, n_documents=-1), ValueError, "n_documents must be .*got -1"),
    (lambda: make_ranking(5, n_informative=0), ValueError, "n_informative must be .*got 0"),
    (lambda: make_ranking(5, n_grades=1), ValueError, "n_grades must be .*at least 2; got 1"),
    (lambda: make_ranking(5, noise=-1), ValueError, "noise must be .*; got -1"),
    (lambda: make_ranking(5, noise=np.nan), ValueError, "noise must be .*; got nan"),
    (lambda: make_ranking(5, query_effect="big"), (TypeError, ValueError), "query_effect must be"),
    (lambda: make_ranking(5, random_state="x"), ValueError, "seed"),
    (
        lambda: fit(LGBMRanker()).set_params(n_estimators=3),
        ValueError,
        "'n_estimators' is a parameter of LGBMRanker.*: use 'estimator__n_estimators'",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), CALLS)
def test_wrong_calls_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
