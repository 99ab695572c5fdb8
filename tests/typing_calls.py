"""Calls as users write them, and the types that an editor then shows.

Pyright checks this file; `tests/test_typing.py` does so and also runs every function.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
import pandas as pd
from lightgbm import LGBMRanker
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score

import sklearn_rankscore as rs
from sklearn_rankscore import (
    Block,
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    FeatureImportanceDisplay,
    ForestDisplay,
    LabelScoresDisplay,
    NoGroupsError,
    QueryDeltaDisplay,
    QueryKFold,
    QueryPropertyDisplay,
    QueryRanker,
    QueryScores,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RankChangeDisplay,
    RankingAccumulator,
    RepeatedQueryKFold,
    compare,
    convention_report,
    cross_val_query_scores,
    dcg_score,
    err_score,
    evaluate,
    from_ranked_lists,
    from_recommendations,
    from_relevance_lists,
    hit_rate_at_k,
    kendall_tau_score,
    lightgbm_metric,
    make_ranking,
    make_ranking_scorer,
    map_score,
    mrr_score,
    ndcg_score,
    pfound_score,
    precision_at_k,
    query_auc_score,
    query_permutation_importance,
    query_scores,
    query_train_test_split,
    ranking_report,
    rbp_score,
    recall_at_k,
    xgboost_metric,
)
from sklearn_rankscore.reports import RankingReport

if TYPE_CHECKING:
    import polars as pl

Ids = NDArray[np.int64]


def metric_functions(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    score: float = ndcg_score(y, s, groups=g, k=10)
    ndcg_score(y, s, groups=g)
    map_score(y, s, groups=g, k=5, denominator="relevant", threshold=1)
    recall_at_k(y, s, groups=g, average="micro")
    mrr_score(y.tolist(), s.tolist(), groups=g.tolist())
    hit_rate_at_k([[0, 1]], [[0.2, 0.4]], k=1)
    query_auc_score(y, s, groups=g, replace_undefined_by=0.5)
    values: NDArray[Any] = err_score(y, s, groups=g, max_grade=4, average=None)
    per_query: NDArray[Any] = kendall_tau_score(y, s, groups=g, average=None)
    assert values.shape == per_query.shape
    assert 0 <= score <= 1


def options(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    dcg_score(y, s, groups=g, gain="exponential", discount=None)
    dcg_score(y, s, groups=g, gain=[0, 1, 3, 7, 15], ties="optimistic")
    dcg_score(y, s, groups=g, gain=np.sqrt, discount=lambda r: 1 / r)
    rbp_score(y, s, groups=g, p=0.5, gain=np.arange(5.0), n_jobs=2)
    pfound_score(y / 4, s, groups=g, decay=0.5, sample_weight=1.0 + g)
    precision_at_k(["a", "b"], [[1, 2], [3, 4]], labels=["a", "b"], k=1)


def frames_of_polars(polars: pl.DataFrame) -> None:
    value: float = ndcg_score(polars["y"], polars["s"], groups=polars["qid"], k=10)
    scores = query_scores(polars["y"], polars["s"], "map", groups=polars["qid"])
    frame: pl.DataFrame = scores.to_frame("polars")
    assert len(frame) == len(scores)
    assert value > 0


def frames(pandas: pd.DataFrame) -> None:
    for_pandas: float = ndcg_score(pandas["y"], pandas["s"], groups=pandas["qid"], k=10)
    named = pandas["qid"].astype(str)
    ndcg_score(pandas["y"], pandas["s"], groups=named.to_list())
    mrr_score(pandas["y"], pandas["s"], groups=named.astype("category"))
    pairs = list(zip(pandas["qid"].tolist(), pandas["qid"].tolist(), strict=True))
    mrr_score(pandas["y"], pandas["s"], groups=pairs)
    assert for_pandas > 0


def many_metrics(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    evaluate(y, s, "ndcg@10", groups=g)
    values: dict[str, float] = evaluate(y, s, ["map@10", mrr_score], groups=g, like="trec_eval")
    arrays: dict[str, NDArray[Any]] = evaluate(y, s, ("mrr",), groups=g, average=None)
    evaluate(y, s, partial(ndcg_score, k=3), groups=g, gain="linear")
    assert values.keys() != arrays.keys()


def mean_of_first(block: Block) -> NDArray[Any]:
    """A metric of a user's own."""
    return block.by_rank(lambda labels: labels)[:, 0]


def metric_of_a_user(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    block: Block = Block.from_lists([[0, 2, 1], [1]], [[0.9, 0.5, 0.1], [0.3]])
    assert mean_of_first(block).tolist() == [0, 1]
    evaluate(y, s, [mean_of_first, "ndcg"], groups=g)
    scorer = make_ranking_scorer(mean_of_first)
    assert callable(scorer)


def scorers(X: pd.DataFrame, y: pd.Series) -> None:
    fitted = Ridge().fit(X, y)
    score: float = make_ranking_scorer("ndcg@10", gain="exponential")(fitted, X, y)
    by_column: float = make_ranking_scorer("ndcg@10", groups="qid")(fitted, X, y)
    by_function = make_ranking_scorer("map", groups="qid")
    cross_val_score(Ridge(), X, y, scoring=by_function, cv=QueryKFold(3))
    cross_val_score(Ridge(), X, y, scoring="ndcg@10", cv=QueryKFold(3))
    assert max(score, by_column) <= 1


def splitters(X: NDArray[Any], y: NDArray[Any], g: Ids, frame: pd.DataFrame) -> None:
    train, test = next(iter(QueryKFold(5, shuffle=True, random_state=0).split(X, y, g)))
    n_rows: int = len(train) + len(test)
    for splitter in (
        RepeatedQueryKFold(n_splits=3, n_repeats=2, random_state=0),
        QueryShuffleSplit(2, test_size=0.25, groups="qid"),
        QueryTimeSeriesSplit(2, times="x0", gap=1),
    ):
        folds: int = splitter.get_n_splits()
        assert folds == len(list(splitter.split(frame, y)))
    X_train, X_test, y_train, y_test = query_train_test_split(X, y, groups=g, random_state=0)
    assert len(X_train) + len(X_test) == len(y_train) + len(y_test) == n_rows
    query_train_test_split(frame, y, groups="qid", test_size=2)


def rankers(X: pd.DataFrame, y: pd.Series, g: Ids) -> None:
    ranker = QueryRanker(Ridge()).fit(X, y)
    assert_type(ranker, QueryRanker)
    scores: NDArray[Any] = ranker.predict(X)
    score: float = ranker.score(X, y)
    booster = LGBMRanker(n_estimators=2, min_child_samples=1, verbose=-1, n_jobs=1)
    features = X.drop(columns="qid").to_numpy()
    by_array = QueryRanker(booster, random_state=0).fit(features, y.to_numpy(), groups=g)
    fitted: int = by_array.n_features_in_
    search = GridSearchCV(
        QueryRanker(Ridge(), max_queries=5), {"estimator__alpha": [1, 10]}, scoring="ndcg@10",
        cv=QueryKFold(3),
    )  # fmt: skip
    search.fit(X, y)
    assert len(scores) == len(X)
    assert score <= 1
    assert fitted == features.shape[1]


def booster_metrics() -> None:
    for_lightgbm = lightgbm_metric("ndcg@10", like="lightgbm")
    for_xgboost = xgboost_metric("mrr@10")
    LGBMRanker(n_estimators=2)
    assert callable(for_lightgbm)
    assert callable(for_xgboost)


def values_of_queries(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    first = query_scores(y, s, ["ndcg@10", "map"], groups=g)
    assert_type(first, QueryScores)
    second: QueryScores = query_scores(y, -s, ["ndcg@10", "map"], groups=g, n_jobs=1)
    means: dict[str, float] = first.mean()
    low, high = first.interval(0.9, method="t")["map"]
    comparison = compare({"first": first, "second": second}, test="t", random_state=0)
    p_value: float = comparison["map", "second"].p_value
    table: pd.DataFrame = first.to_frame()
    other: pd.DataFrame = comparison.to_frame()
    assert low <= means["map"] <= high
    assert 0 <= p_value <= 1
    assert len(table) > len(other)


def values_of_cross_validation(X: pd.DataFrame, y: pd.Series) -> None:
    scores = cross_val_query_scores(QueryRanker(Ridge()), X, y, "ndcg@5", cv=3, groups=["qid"])
    assert_type(scores, QueryScores)
    values: NDArray[Any] = scores["ndcg@5"]
    assert len(values) == len(scores)


def reports(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    report: RankingReport = ranking_report(y, s, groups=g, k=(5, None), by=g, n_resamples=99)
    report.scores[""].mean()
    html: str = report.to_html(plots=False)
    text: str = convention_report(y, s, groups=g)
    print(html, text)
    numbers: dict[str, Any] = convention_report(y, s, groups=g, metrics="ndcg@3", output_dict=True)
    several: dict[str, Any] = ranking_report(y, {"s": s}, groups=g, output_dict=True)
    print(numbers, several["s"].get("segments", []))


def displays(y: NDArray[Any], s: NDArray[Any], g: Ids, X: pd.DataFrame) -> None:
    models = {"first": s, "second": -s}
    curve = CutoffCurveDisplay.from_predictions(y, models, groups=g, k=[1, 3], n_resamples=99)
    assert_type(curve, CutoffCurveDisplay)
    fitted = QueryRanker(Ridge()).fit(X, y)
    CutoffCurveDisplay.from_estimator(fitted, X, y, k=range(1, 3), n_resamples=99)
    delta: QueryDeltaDisplay = QueryDeltaDisplay.from_predictions(y, models, groups=g)
    delta.plot()
    scores = query_scores(y, models, ["ndcg@5", "mrr"], groups=g)
    assert_type(ForestDisplay.from_query_scores(scores, metric="mrr"), ForestDisplay)
    DifferenceCurveDisplay.from_predictions(y, models, groups=g).plot(lw=1)
    importances = query_permutation_importance(
        fitted, X, y, "mrr", groups="qid", random_state=np.random.default_rng(0)
    )
    assert_type(FeatureImportanceDisplay.from_importances(importances), FeatureImportanceDisplay)
    QueryPropertyDisplay.from_predictions(y, s, groups=g, property="relevant")
    assert_type(LabelScoresDisplay.from_predictions(y, s, groups=g), LabelScoresDisplay)
    RankChangeDisplay.from_estimator({"a": fitted, "b": fitted}, X, y, query=1).lines_.copy()


def lists_and_files() -> None:
    ranked = from_ranked_lists([["a", "b"], ["c"]], [["b", "x"], ["c"]])
    ndcg_score(**ranked, k=10)
    values: dict[str, float] = evaluate(metrics="mrr", **ranked)
    print(values["mrr"])
    by_id = from_ranked_lists({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]})
    map_score(**by_id)
    mrr_score(**from_relevance_lists([[0, 1], [1]]))
    documents = from_recommendations(csr_array([[0, 1], [1, 0]]), [[1, 0], [-1, -1]])
    recall_at_k(**documents, k=1)


def streams(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    stream = RankingAccumulator(["ndcg@10", "mrr"], like="ranx").update(y, s, g)
    stream.merge(RankingAccumulator(["ndcg@10", "mrr"], like="ranx"))
    scores: dict[str, float] = stream.scores()
    error: float = stream.result()["mrr"].standard_error
    assert scores["mrr"] >= 0
    assert error >= 0


def data_and_errors() -> None:
    X, y, g = make_ranking(5, random_state=0)
    frame, labels = make_ranking(5, as_frame=True, random_state=0)
    assert len(X) == len(y) == len(g) == len(frame) == len(labels)
    with suppress(NoGroupsError):
        make_ranking_scorer("ndcg")(Ridge().fit(X, y), X, y)
    version: str = rs.__version__
    assert version
