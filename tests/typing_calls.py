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

if TYPE_CHECKING:
    import polars as pl

Ids = NDArray[np.int64]


def metric_functions(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    rs.ndcg_score(y, s, groups=g, k=10)
    rs.err_score(y, s, groups=g, max_grade=4, average=None)
    rs.kendall_tau_score(y, s, groups=g, average=None)
    rs.recall_at_k(y.tolist(), s.tolist(), groups=g.tolist(), average="micro")
    rs.map_score([[0, 1]], [[0.2, 0.4]], k=1, denominator="relevant", threshold=1)
    rs.dcg_score(y, s, groups=g, gain="exponential", discount=None)
    rs.dcg_score(y, s, groups=g, gain=[0, 1, 3, 7, 15], ties="optimistic")
    rs.dcg_score(y, s, groups=g, gain=np.sqrt, discount=lambda r: 1 / r)
    rs.rbp_score(y, s, groups=g, p=0.5, gain=np.arange(5.0), n_jobs=2)
    rs.pfound_score(y / 4, s, groups=g, decay=0.5, sample_weight=1.0 + g)
    rs.query_auc_score(y, s, groups=g, replace_undefined_by=0.5)
    rs.precision_at_k(["a", "b"], [[1, 2], [3, 4]], labels=["a", "b"], k=1)


def frames_of_polars(polars: pl.DataFrame) -> None:
    rs.ndcg_score(polars["y"], polars["s"], groups=polars["qid"], k=10)
    scores = rs.query_scores(polars["y"], polars["s"], "map", groups=polars["qid"])
    frame: pl.DataFrame = scores.to_frame("polars")
    assert len(frame) == len(scores)


def frames(pandas: pd.DataFrame) -> None:
    named = pandas["qid"].astype(str)
    for ids in (pandas["qid"], named.to_list(), named.astype("category")):
        rs.mrr_score(pandas["y"], pandas["s"], groups=ids)
    pairs = list(zip(pandas["qid"].tolist(), pandas["qid"].tolist(), strict=True))
    rs.mrr_score(pandas["y"], pandas["s"], groups=pairs)


def many_metrics(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    names = ["map@10", rs.mrr_score]
    rs.evaluate(y, s, names, groups=g, like="trec_eval")
    arrays: dict[str, NDArray[Any]] = rs.evaluate(y, s, ("mrr",), groups=g, average=None)
    rs.evaluate(y, s, partial(rs.ndcg_score, k=3), groups=g, gain="linear")
    assert len(arrays) == 1


def mean_of_first(block: rs.Block) -> NDArray[Any]:
    """A metric of a user's own."""
    return block.by_rank(lambda labels: labels)[:, 0]


def metric_of_a_user(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    mean_of_first(rs.Block.from_lists([[0, 2, 1], [1]], [[0.9, 0.5, 0.1], [0.3]]))
    rs.evaluate(y, s, [mean_of_first, "ndcg"], groups=g)
    rs.make_ranking_scorer(mean_of_first)


def scorers(X: pd.DataFrame, y: pd.Series) -> None:
    fitted = Ridge().fit(X, y)
    assert_type(rs.make_ranking_scorer("ndcg@10", gain="exponential")(fitted, X, y), float)
    by_function = rs.make_ranking_scorer("map", groups="qid")
    cross_val_score(Ridge(), X, y, scoring=by_function, cv=rs.QueryKFold(3))
    cross_val_score(Ridge(), X, y, scoring="ndcg@10", cv=rs.QueryKFold(3))


def splitters(X: NDArray[Any], y: NDArray[Any], g: Ids, frame: pd.DataFrame) -> None:
    train, test = next(iter(rs.QueryKFold(5, shuffle=True, random_state=0).split(X, y, g)))
    n_rows: int = len(train) + len(test)
    for splitter in (
        rs.RepeatedQueryKFold(n_splits=3, n_repeats=2, random_state=0),
        rs.QueryShuffleSplit(2, test_size=0.25, groups="qid"),
        rs.QueryTimeSeriesSplit(2, times="x0", gap=1),
    ):
        folds: int = splitter.get_n_splits()
        assert folds == len(list(splitter.split(frame, y)))
    X_train, X_test, y_train, y_test = rs.query_train_test_split(X, y, groups=g, random_state=0)
    assert len(X_train) + len(X_test) == len(y_train) + len(y_test) == n_rows
    rs.query_train_test_split(frame, y, groups="qid", test_size=2)


def rankers(X: pd.DataFrame, y: pd.Series, g: Ids) -> None:
    ranker = rs.QueryRanker(Ridge(), max_queries=5).fit(X, y)
    assert_type(ranker, rs.QueryRanker)
    scores: NDArray[Any] = ranker.predict(X)
    assert_type(ranker.score(X, y), float)
    booster = LGBMRanker(n_estimators=2, min_child_samples=1, verbose=-1, n_jobs=1)
    features = X.drop(columns="qid").to_numpy()
    by_array = rs.QueryRanker(booster, random_state=0).fit(features, y.to_numpy(), groups=g)
    fitted: int = by_array.n_features_in_
    grid = {"estimator__alpha": [1, 10]}
    GridSearchCV(ranker, grid, scoring="ndcg@10", cv=rs.QueryKFold(3)).fit(X, y)
    assert (len(scores), fitted) == (len(X), features.shape[1])


def booster_metrics() -> None:
    LGBMRanker(n_estimators=2)
    assert callable(rs.lightgbm_metric("ndcg@10", like="lightgbm"))
    assert callable(rs.xgboost_metric("mrr@10"))


def values_of_queries(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    first = rs.query_scores(y, s, ["ndcg@10", "map"], groups=g)
    assert_type(first, rs.QueryScores)
    second: rs.QueryScores = rs.query_scores(y, -s, ["ndcg@10", "map"], groups=g, n_jobs=1)
    low, high = first.interval(0.9, method="t")["map"]
    comparison = rs.compare({"first": first, "second": second}, test="t", random_state=0)
    p_value: float = comparison["map", "second"].p_value
    tables: list[pd.DataFrame] = [first.to_frame(), comparison.to_frame()]
    assert_type(first.mean(), dict[str, float])
    assert low <= high
    assert 0 <= p_value <= 1
    assert len(tables[0]) > len(tables[1])


def values_of_cross_validation(X: pd.DataFrame, y: pd.Series) -> None:
    scores = rs.cross_val_query_scores(
        rs.QueryRanker(Ridge()), X, y, "ndcg@5", cv=3, groups=["qid"]
    )
    assert_type(scores, rs.QueryScores)
    values: NDArray[Any] = scores["ndcg@5"]
    assert len(values) == len(scores)


def reports(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    report: rs.reports.RankingReport = rs.ranking_report(
        y, s, groups=g, k=(5, None), by=g, n_resamples=99
    )
    report.scores[""].mean()
    report.to_html(plots=False)
    rs.convention_report(y, s, groups=g)
    several: dict[str, Any] = rs.ranking_report(y, {"s": s}, output_dict=True, groups=g)
    numbers: dict[str, Any] = rs.convention_report(
        y, s, groups=g, metrics="ndcg@3", output_dict=True
    )
    assert numbers
    assert "s" in several


def displays(y: NDArray[Any], s: NDArray[Any], g: Ids, X: pd.DataFrame) -> None:
    models = {"first": s, "second": -s}
    curve = rs.CutoffCurveDisplay.from_predictions(y, models, groups=g, k=[1, 3], n_resamples=99)
    assert_type(curve, rs.CutoffCurveDisplay)
    fitted = rs.QueryRanker(Ridge()).fit(X, y)
    rs.CutoffCurveDisplay.from_estimator(fitted, X, y, k=range(1, 3), n_resamples=99)
    delta: rs.QueryDeltaDisplay = rs.QueryDeltaDisplay.from_predictions(y, models, groups=g)
    delta.plot()
    scores = rs.query_scores(y, models, ["ndcg@5", "mrr"], groups=g)
    assert_type(rs.ForestDisplay.from_query_scores(scores, metric="mrr"), rs.ForestDisplay)
    rs.DifferenceCurveDisplay.from_predictions(y, models, groups=g).plot(lw=1)
    importances = rs.query_permutation_importance(
        fitted, X, y, "mrr", groups="qid", random_state=np.random.default_rng(0)
    )
    assert_type(
        rs.FeatureImportanceDisplay.from_importances(importances), rs.FeatureImportanceDisplay
    )
    rs.QueryPropertyDisplay.from_predictions(y, s, groups=g, property="relevant")
    assert_type(rs.LabelScoresDisplay.from_predictions(y, s, groups=g), rs.LabelScoresDisplay)
    rs.RankChangeDisplay.from_estimator({"a": fitted, "b": fitted}, X, y, query=1).lines_.copy()


def lists_and_files() -> None:
    ranked = rs.from_ranked_lists([["a", "b"], ["c"]], [["b", "x"], ["c"]])
    rs.ndcg_score(**ranked, k=10)
    rs.evaluate(metrics="mrr", **ranked)
    by_id = rs.from_ranked_lists({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]})
    rs.map_score(**by_id)
    rs.mrr_score(**rs.from_relevance_lists([[0, 1], [1]]))
    documents = rs.from_recommendations(csr_array([[0, 1], [1, 0]]), [[1, 0], [-1, -1]])
    rs.recall_at_k(**documents, k=1)


def streams(y: NDArray[Any], s: NDArray[Any], g: Ids) -> None:
    stream = rs.RankingAccumulator(["ndcg@10", "mrr"], like="ranx").update(y, s, g)
    stream.merge(rs.RankingAccumulator(["ndcg@10", "mrr"], like="ranx"))
    stream.scores()
    error: float = stream.result()["mrr"].standard_error
    assert error >= 0


def data_and_errors() -> None:
    X, y, g = rs.make_ranking(5, random_state=0)
    frame, labels = rs.make_ranking(5, as_frame=True, random_state=0)
    assert len(X) == len(y) == len(g) == len(frame) == len(labels)
    with suppress(rs.NoGroupsError):
        rs.make_ranking_scorer("ndcg")(Ridge().fit(X, y), X, y)
    assert_type(rs.__version__, str)
