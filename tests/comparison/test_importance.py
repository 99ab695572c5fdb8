"""Permutation importance by query, against scikit-learn's and definitions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl
from query_values import scores_of
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sklearn_rankscore as rs
from sklearn_rankscore.comparison import importance as permuted_features

METRICS = ["ndcg@10", "map@5", "query_auc"]


def frame(n_queries=40, seed=0):
    """Labels, and a frame with five features, of which the last is constant within queries."""
    X, y = rs.make_ranking(n_queries=n_queries, n_features=4, as_frame=True, random_state=seed)
    X["of_query"] = np.random.default_rng(seed).normal(size=n_queries)[
        X["qid"].rank(method="dense").astype(int) - 1
    ]
    return X, y


def importances_of(*args, **options):
    return rs.query_permutation_importance(*args, **{"random_state": 0, **options})


class RanksOfRows(RegressorMixin, BaseEstimator):
    """Predicts a row differently if there are others: ranks over all rows of a call."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.round((X[:, 0] + X.sum(axis=1)).argsort().argsort() / 50)


MODELS = [(RanksOfRows(), int), (RandomForestRegressor(5, random_state=0), np.random.RandomState)]


@pytest.mark.parametrize(("model", "seed"), MODELS)
def test_all_rows_as_in_scikit_learn(model, seed):
    X, y = frame(n_queries=25)
    ids, X = X["qid"], X.drop(columns="qid").to_numpy()
    model.fit(X, y)
    given = {"within": "all", "n_repeats": 3, "random_state": seed(7)}
    ours = importances_of(model, X, y, METRICS, groups=ids, **given)
    for metric in METRICS:
        scorer = rs.make_ranking_scorer(metric).with_ids(ids)  # there is no other way to pass ids
        given = {"scoring": scorer, "n_repeats": 3, "random_state": seed(7)}
        for j, repeats in enumerate(permutation_importance(model, X, y, **given).importances):
            np.testing.assert_allclose(ours[f"x{j}", metric].repeats, repeats, atol=1e-12)
    assert len(ours) == 5 * len(METRICS)


def test_the_loss_of_each_query():
    """Recomputed one copy at a time, from the same permutations."""
    X, y = frame()
    model = rs.QueryRanker(Ridge()).fit(X, y)
    options = {"sample_weight": X["qid"] % 3 + 1.0}
    ours = importances_of(model, X, y, METRICS, n_repeats=3, **options)
    base = rs.query_scores(y, model.predict(X), METRICS, groups=X["qid"], **options)
    np.testing.assert_array_equal(ours.baseline.values, base.values)
    codes = X["qid"].rank(method="dense").astype(int).to_numpy() - 1
    weight, losses = base.weights / base.weights.sum(), []
    for order in permuted_features.permutations(codes, "query", 3, 0):
        copy = X.assign(x0=X["x0"].to_numpy()[order])
        scores = rs.query_scores(y, model.predict(copy), METRICS, groups=X["qid"], **options)
        losses.append(base.values - scores.values)
    np.testing.assert_allclose(ours.deltas["x0"].values, np.mean(losses, axis=0), atol=1e-12)
    np.testing.assert_array_equal(ours.deltas["x0"].ids, base.ids)
    assert list(ours.deltas) == ["x0", "x1", "x2", "x3", "of_query"]
    for place, metric in enumerate(METRICS):
        entry = ours["x0", metric]
        assert entry.importance == pytest.approx(weight @ np.mean(losses, axis=0)[:, place])
        assert entry.repeats == pytest.approx([weight @ loss[:, place] for loss in losses])
        # a feature that is constant within queries
        of_query = ours["of_query", metric]
        assert (of_query.importance, of_query.interval) == (0, (0, 0))
        assert entry.importance > 0


def test_permutations_within_queries():
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(30), np.arange(1, 31)))
    orders = permuted_features.permutations(codes, "query", 200, 0)
    for order in orders:
        np.testing.assert_array_equal(codes[order], codes)
        np.testing.assert_array_equal(np.sort(order), np.arange(len(codes)))
    # each document of the query of three takes each place equally often
    three = np.flatnonzero(codes == 2)
    taken = np.array([order[three] for order in orders])
    counts = np.array([[(taken[:, i] == row).sum() for row in three] for i in range(3)])
    assert (abs(counts - 200 / 3) < 4 * np.sqrt(200 * 2 / 9)).all()


FORMS = {
    "polars": lambda X: pl.DataFrame({name: X[name].to_numpy() for name in X}),
    "pyarrow": lambda X: pa.table({name: X[name].to_numpy() for name in X}),
    "index": lambda X: X.set_index("qid"),
    "other name": lambda X: X.rename(columns={"qid": "session"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_frames_of_any_library_with_ids_in_any_place(form):
    X, y = frame(n_queries=10)
    ids, name = X["qid"], "session" if form == "other name" else None
    model = rs.QueryRanker(make_pipeline(StandardScaler(), Ridge()))
    expected = importances_of(model.fit(X, y), X, y, "map")
    X = FORMS[form](X)
    model.set_params(groups=name).fit(X, y)
    for groups in (name, ids) if name else (None,):
        ours = importances_of(model, X, y, "map", groups=groups)
        assert list(ours.deltas) == list(expected.deltas)
        for feature, delta in expected.deltas.items():
            np.testing.assert_allclose(ours.deltas[feature].values, delta.values, atol=1e-9)


def test_categories_missing_values_and_column_order():
    """Dtypes of a frame are kept, and X itself is not changed."""
    X, y = frame()
    X["kind"] = pd.Categorical(np.where(X["x0"] > 0, "b", "a"))
    X["count"] = pd.array(np.where(X["x1"] > 1, None, 1), dtype="Int64")
    before = X.copy()

    class Reader(RanksOfRows):
        def predict(self, X):
            assert X.dtypes.equals(before.drop(columns="qid").dtypes)
            return X["x0"] + (X["kind"] == "b") + X["count"].isna()

    model = rs.QueryRanker(Reader()).fit(X, y)
    ours = importances_of(model, X, y, "ndcg")
    pd.testing.assert_frame_equal(X, before)
    assert ours["kind", "ndcg"].importance > 0
    assert ours["x2", "ndcg"].importance == 0


def test_a_classifier_ranks_by_its_expected_grade_and_resamples_are_those_asked_for():
    X, y = frame(n_queries=10)
    values, ids = X.drop(columns="qid"), X["qid"]
    model = LogisticRegression().fit(values, y)

    def drawn(n_resamples):
        random = {"random_state": np.random.default_rng(0), "n_resamples": n_resamples}
        return importances_of(model, values, y, "ndcg", groups=ids, method="bootstrap", **random)

    grades = model.predict_proba(values) @ model.classes_
    expected = rs.query_scores(y, grades, "ndcg", groups=ids).values
    np.testing.assert_array_equal(drawn(9).baseline.values, expected)
    same, again, fewer = ([one.interval for one in drawn(n)] for n in (99, 99, 98))
    assert same == again != fewer


def test_intervals_and_the_table():
    """Of sixty queries with a feature that matters in three of them, and a constant one."""
    X, y = frame(n_queries=60)
    X["rare"] = np.where(X["qid"].isin(X["qid"].unique()[:3]), y, 0)
    X["constant"] = 1.0
    model, names = rs.QueryRanker(Ridge()).fit(X, y), ["ndcg@5", "mrr"]
    ours = importances_of(model, X, y, names)
    for feature in ("x0", "rare"):  # as for a difference of two systems
        permuted = scores_of(ours.baseline.values - ours.deltas[feature].values, names)
        whole = scores_of(ours.baseline.values, names)
        for one in rs.compare({"permuted": permuted, "whole": whole}, test="t"):
            entry = ours[feature, one.metric]
            assert entry.importance == pytest.approx(one.difference)
            assert entry.interval == pytest.approx(one.interval)
            assert entry.standard_error == pytest.approx(one.standard_error)
            assert entry.few_distinct == one.few_distinct == (feature == "rare")
    table = ours.to_frame()
    assert table.columns[-2:].tolist() == ["standard_error", "repeat_std"]
    assert table["metric"].tolist() == ["ndcg@5"] * 7 + ["mrr"] * 7
    assert table["importance"][:7].is_monotonic_decreasing
    marked = {line.split()[1] for line in repr(ours).splitlines()[:-1] if "*" in line}
    assert marked == {one.feature for one in ours if one.few_distinct}
    assert repr(ours).endswith("range of the metric")
    assert "within queries, 60 queries" in repr(ours)
    assert "within queries, 1 query\n" in repr(replace(ours, baseline=ours.baseline.select([0])))
    plain = importances_of(model, X, y, "mrr", method="t")
    assert repr(plain).endswith("by method='t' is then too low")


REFUSED = [
    ({"within": "rows"}, ValueError, "within must be"),
    ({"n_repeats": 0}, ValueError, "n_repeats must be"),
    ({"n_resamples": 0}, ValueError, "n_resamples must be an integer of at least 1"),
    ({"average": "micro"}, ValueError, "average='micro'"),
    ({"confidence": 2}, ValueError, "confidence must be"),
    ({"X": csr_array(np.eye(3))}, TypeError, "X is a sparse matrix"),
    ({"X": frame(5)[0].to_numpy()}, rs.NoGroupsError, "reached query_permutation_importance"),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_refusals(options, error, message):
    X, y = frame(n_queries=5)
    with pytest.raises(error, match=message):
        importances_of(Ridge(), **{"X": X, "y": y, "metrics": "ndcg@5", **options})
