"""Propensities and targets that a scorer reads, weighted sums, and predictions that are shared."""

import pickle
import threading
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn import config_context
from sklearn import model_selection as ms
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

import sklearn_rankscore as rs

N, RNG, CV = 60, np.random.default_rng(0), rs.QueryKFold(3)
QID, SEEN = np.repeat(np.arange(12), 5), RNG.choice([1, 0.5, 0.2, 0.1], N)
CLICKS, ORDERS = RNG.integers(0, 2, N), RNG.integers(0, 3, N)
FEATURES = RNG.normal(size=(N, 2))
FRAME = pd.DataFrame(FEATURES, columns=["a", "b"]).assign(seen=SEEN, orders=ORDERS, qid=QID)
LEVELS = FRAME.set_index(["qid", "seen", "orders"])
BY_Y = pd.Series(CLICKS, LEVELS.index)
TABLES = {"frame": FRAME, "index": LEVELS, "polars": pl.from_pandas(FRAME)}


class Column(RegressorMixin, BaseEstimator):
    """Scores documents by their first column, and counts how often it is asked."""

    calls, lock = 0, threading.Lock()

    def __init__(self, alpha=1):
        self.alpha = alpha

    def fit(self, X, y, groups=None):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        with Column.lock:
            Column.calls += 1
        return np.asarray(X["a"] if hasattr(X, "columns") else X[:, 0])


FITTED = Column().fit(None, None)


def value(metric, labels=CLICKS, rows=slice(None), **options):
    scores, groups = FEATURES[rows, 0], QID[rows]
    (scored,) = rs.evaluate(labels, scores, metric, groups=groups, **options).values()
    return scored


SAME = {  # scorers of the same metric, and its value
    "propensity": (
        [
            rs.make_ranking_scorer("dcg@3", propensity="seen", clip=0.2),
            rs.make_ranking_scorer("dcg@3(propensity=seen,clip=0.2)"),
            rs.make_ranking_scorer("dcg", k=3, clip=0.2, propensity="seen"),
            rs.make_weighted_scorer({"dcg@3(propensity=seen,clip=0.2)": 1}),
        ],
        value("dcg@3", propensity=SEEN, clip=0.2),
    ),
    "target": (
        [
            rs.make_ranking_scorer("recall@2", target="orders"),
            rs.make_ranking_scorer("recall@2(target=orders)"),
        ],
        value("recall@2", ORDERS),
    ),
    "both": (
        [rs.make_ranking_scorer("ndcg(propensity=seen,target=orders)")],
        value("ndcg", ORDERS, propensity=SEEN),
    ),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", SAME)
def test_columns_of_x_and_levels(name, table):
    scorers, expected = SAME[name]
    for scorer in scorers:
        for copied in (scorer, pickle.loads(pickle.dumps(scorer))):
            assert copied(FITTED, TABLES[table], CLICKS) == expected
        assert scorer(FITTED, FRAME[["a", "b"]], BY_Y) == expected
        assert scorer.score_labels(BY_Y, FEATURES[:, 0]) == expected


def test_positions_of_columns_that_have_integers_as_names():
    rows = pd.DataFrame(np.column_stack([FEATURES, ORDERS]), pd.Index(QID, name="qid"), [1, 3, 4])
    scorer = rs.make_ranking_scorer("ndcg@3", target=2)
    fitted = rs.QueryRanker(Ridge(), drop_columns=[4]).fit(rows, CLICKS)
    expected = rs.evaluate(ORDERS, fitted.predict(rows), "ndcg@3", groups=QID)["ndcg@3"]
    assert scorer(fitted, rows, CLICKS) == expected
    leaking = rs.QueryRanker(Ridge(), drop_columns=[1]).fit(rows, CLICKS)
    with pytest.raises(ValueError, match=r"the column 4 of X, .* drop_columns=\[4\]"):
        scorer(leaking, rows, CLICKS)


def test_routed_columns():
    for name, given in (("propensity", SEEN), ("target", ORDERS)):
        with config_context(enable_metadata_routing=True):
            scorer = rs.make_ranking_scorer("dcg@3").set_score_request(**{name: True})
            options = {"scoring": scorer, "cv": CV, "params": {name: given}}
            routed = ms.cross_val_score(Column(), FRAME, CLICKS - (name == "target"), **options)
        source = {"propensity": "seen", "target": "orders"}[name]
        by_name = f"dcg@3({name}={source})"
        by_column = ms.cross_val_score(Column(), FRAME, CLICKS, scoring=by_name, cv=CV)
        np.testing.assert_array_equal(routed, by_column)


def test_a_target_that_nobody_judged_and_labels_that_would_be_refused():
    orders = np.where(np.arange(N) % 3, ORDERS, np.nan)
    scorer = rs.make_ranking_scorer("ndcg(target=orders,unjudged=drop,propensity=seen)")
    expected = value("ndcg", orders, unjudged="drop", propensity=SEEN)
    assert scorer(FITTED, FRAME.assign(orders=orders), CLICKS - 9) == expected


METRICS = ["dcg@3", "dcg@3(propensity=seen)", "dcg@3(target=orders)", "hits@3(propensity=seen)",
           "dcg@3(propensity=seen,target=orders)", "dcg@3(propensity=seen,clip=0.3)"]  # fmt: skip


def test_several_metrics_share_predictions_but_not_labels():
    together = ms.cross_validate(Column(), FRAME, CLICKS, scoring=METRICS, cv=CV)
    for name in METRICS:
        alone = ms.cross_val_score(Column(), FRAME, CLICKS, scoring=name, cv=CV)
        np.testing.assert_array_equal(together[f"test_{name}"], alone)
    assert len({tuple(together[f"test_{name}"]) for name in METRICS}) == len(METRICS)
    scores = rs.cross_val_query_scores(Column(), FRAME, CLICKS, metrics=METRICS[:2], cv=3)
    for metric, seen in zip(METRICS[:2], (None, SEEN), strict=True):
        np.testing.assert_array_equal(scores[metric], value("dcg@3", propensity=seen, average=None))


@pytest.mark.parametrize("rows", [FRAME, LEVELS], ids=["frame", "index"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_leaves_the_columns_out_of_the_features(rows, n_jobs):
    search = ms.GridSearchCV(
        rs.QueryRanker(Ridge(), drop_columns=["seen", "orders"]), {"estimator__alpha": [1, 100]},
        scoring=["dcg@3(propensity=seen)", "recall@2(target=orders)"], n_jobs=n_jobs,
        refit="recall@2(target=orders)", cv=CV, error_score="raise",
    ).fit(rows, CLICKS)  # fmt: skip
    assert list(search.best_estimator_.feature_names_in_) == ["a", "b"]
    bare = rs.QueryRanker(Ridge(alpha=search.best_params_["estimator__alpha"]))
    bare.fit(FRAME[["a", "b", "qid"]], CLICKS)
    np.testing.assert_array_equal(search.predict(rows), bare.predict(FRAME[["a", "b"]]))


def test_threshold_tuning():
    model, scoring = LogisticRegression(), "hits@2(propensity=seen)"
    tuned = ms.TunedThresholdClassifierCV(model, scoring=scoring, cv=CV)
    assert 0 <= tuned.fit(FRAME[["a", "b"]].set_axis(BY_Y.index), BY_Y).best_threshold_ <= 1


FAULTY = [
    ({"propensity": "shown"}, FRAME, "propensity='shown' is neither a column"),
    ({"target": "sold"}, FRAME, "target='sold' is neither a column of X"),
    ({"target": "orders"}, FEATURES, "target='orders' is neither a column of X"),
    ({"propensity": "orders"}, FRAME, r"propensity 'orders' must lie in \(0, 1\]"),
    ({"target": "orders"}, FRAME.assign(orders="many"), "target 'orders' must hold numbers"),
    ({"target": "orders"}, FRAME.assign(orders=np.nan), "target 'orders' contains NaN"),
    ({"propensity": "seen"}, FRAME.assign(seen=np.nan), "propensity 'seen' contains NaN"),
]


@pytest.mark.parametrize("make", [rs.make_ranking_scorer, lambda *a, **o: sum_of(*a, **o)])
@pytest.mark.parametrize(("places", "rows", "message"), FAULTY)
def test_faulty_columns_are_one_error_before_the_first_fit(places, rows, message, make):
    """Also where scikit-learn would turn errors of a score into nan."""

    class NeverFitted(Ridge):
        def fit(self, X, y, groups=None):
            raise AssertionError

    given = {"groups": QID} if rows is FEATURES else {}
    search = ms.GridSearchCV(NeverFitted(), {}, cv=CV, scoring=make("ndcg", **places))
    with pytest.raises((ValueError, TypeError), match=message):
        search.fit(rows, CLICKS, **given)
    with pytest.raises((ValueError, TypeError), match=message):
        make("ndcg", groups="none", **places)(FITTED, rows, CLICKS)


def sum_of(metric, groups=None, **places):
    return rs.make_weighted_scorer({rs.make_ranking_scorer(metric, **places): 1}, groups=groups)


@pytest.mark.parametrize("option", ["target", "propensity"])
@pytest.mark.parametrize("values", [SEEN, [1.0], True, str.upper])
def test_values_in_place_of_a_place(option, values):
    with pytest.raises(TypeError, match=rf"{option} must be the name .*set_score_request"):
        rs.make_ranking_scorer("ndcg", **{option: values})


LEAKING = [Ridge(), rs.QueryRanker(Ridge()), rs.QueryRanker(Ridge(), drop_columns="seen")]
CHOSEN = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), Ridge())
CHOOSING = [
    CHOSEN,
    rs.QueryRanker(CHOSEN),
    rs.QueryRanker(Ridge(), drop_columns=["orders", "seen"]),
    ms.GridSearchCV(rs.QueryRanker(Ridge(), drop_columns="orders"), {}, cv=rs.QueryKFold(2)),
    Column(),
]


def test_a_target_among_the_features_is_refused():
    message = "column 'orders' of X, which is the target .* is a feature of .* drop_columns="
    options = {"scoring": "recall@2(target=orders)", "cv": CV}
    scorer = rs.make_ranking_scorer("recall@2", target="orders")
    for model in LEAKING:
        with pytest.raises(ValueError, match=message):
            ms.cross_val_score(model, FRAME, CLICKS, **options)
        with pytest.raises(ValueError, match=message):
            scorer(model.fit(FRAME, CLICKS), FRAME, CLICKS)
    levels = FRAME.set_index(["seen", "orders"], append=True)
    for model in LEAKING[:2]:
        assert 0 < scorer(model.fit(levels, CLICKS), levels, CLICKS) < 1
    for model in CHOOSING:
        assert np.isfinite(ms.cross_val_score(model, FRAME, CLICKS, **options)).all()


@pytest.mark.parametrize("column", ["sold", 7])
def test_the_ranker_refuses_to_drop_what_is_not_there(column):
    with pytest.raises(ValueError, match=f"drop_columns={column!r} is not a column of X"):
        rs.QueryRanker(Ridge(), drop_columns=column).fit(FRAME, CLICKS)


OTTO = {"clicks": 0.10, "carts": 0.30, "orders": 0.60}
SHARES = {"clicks": 0.7, "carts": 0.2, "orders": 0.05}
SESSION = np.repeat(np.arange(30), 40)
TARGETS = {name: RNG.random(1200) < share for name, share in SHARES.items()}
SCORE = RNG.normal(size=1200) + TARGETS["orders"] + TARGETS["clicks"]
X = pd.DataFrame({"a": SCORE, "b": RNG.normal(size=1200), "qid": SESSION, **TARGETS})
Y = TARGETS["clicks"].astype(int)
NAMES = {name: f"recall@20(target={name},denominator=min,average=micro)" for name in OTTO}
SCORER = rs.make_weighted_scorer({NAMES[name]: weight for name, weight in OTTO.items()})


def otto_score(rows):
    """The metric of the OTTO competition, as its evaluate.py computes it."""
    total = 0.0
    for name, weight in OTTO.items():
        hits = possible = 0
        for session in np.unique(SESSION[rows]):
            of_session = rows[SESSION[rows] == session]
            top = of_session[np.argsort(-SCORE[of_session])][:20]
            hits += TARGETS[name][top].sum()
            possible += min(20, TARGETS[name][of_session].sum())
        total += weight * hits / possible
    return total


def test_the_metric_of_otto():
    before = Column.calls
    assert SCORER(FITTED, X, Y) == pytest.approx(otto_score(np.arange(1200)), rel=1e-12)
    assert Column.calls == before + 1  # one prediction for all parts
    scores = ms.cross_validate(Column(), X, Y, scoring=SCORER.with_parts(), cv=CV)
    expected = [otto_score(test) for _, test in CV.split(X, Y)]
    np.testing.assert_allclose(scores["test_weighted_sum"], expected, rtol=1e-12)
    parts = [OTTO[name] * scores[f"test_{NAMES[name]}"] for name in OTTO]
    np.testing.assert_allclose(np.sum(parts, axis=0), expected, rtol=1e-12)


def test_a_search_shows_the_sum_and_its_parts():
    ranker = rs.QueryRanker(Ridge(), drop_columns=list(OTTO))
    options = {"scoring": SCORER.with_parts(), "refit": "weighted_sum", "n_jobs": 2, "cv": CV}
    search = ms.GridSearchCV(ranker, {"estimator__alpha": [1, 1e6]}, **options).fit(X, Y)
    means = [OTTO[name] * search.cv_results_[f"mean_test_{NAMES[name]}"] for name in OTTO]
    whole = search.cv_results_["mean_test_weighted_sum"]
    np.testing.assert_allclose(whole, np.sum(means, axis=0))
    assert search.best_score_ == max(whole)


def test_query_ids_of_the_sum():
    expected, frame = SCORER(FITTED, X, Y), X.drop(columns="qid")
    assert SCORER(FITTED, frame, Y, groups=SESSION) == expected
    assert SCORER(FITTED, frame, Y, qid=SESSION) == expected
    data = FITTED, X.rename(columns={"qid": "session"}).assign(user=SESSION // 2), Y
    part = rs.make_ranking_scorer("mrr")
    for place in ("session", "user", ["session", "user"]):
        named = rs.make_ranking_scorer("mrr", groups=place)
        assert rs.make_weighted_scorer({part: 1.0}, groups=place)(*data) == named(*data)
    assert part.groups is None
    both = rs.make_weighted_scorer({named: 1, "recall@5": 2}, groups=["session", "user"])
    recall = rs.make_ranking_scorer("recall@5", groups=["session", "user"])
    assert both(*data) == pytest.approx(named(*data) + 2 * recall(*data))


def test_labels_without_x():
    y = pd.Series(Y, pd.Index(SESSION, name="qid"))
    scorer = rs.make_weighted_scorer({"recall@5": 2, rs.make_ranking_scorer("hits", k=3): 0.5})
    parts = [rs.make_ranking_scorer(name).score_labels(y, SCORE) for name in ("recall@5", "hits@3")]
    assert scorer.score_labels(y, SCORE) == pytest.approx(2 * parts[0] + 0.5 * parts[1])


def target_share(block):
    """A metric whose name contains that of a place."""
    return block.by_rank(lambda labels: labels)[:, 0]


def weighted_sum(block):
    """A metric with the name that the sum has among its parts."""
    return target_share(block)


SHOWN = {
    "recall": rs.make_ranking_scorer(rs.recall_at_k),
    "dcg(propensity=seen,target=orders,k=3)": rs.make_ranking_scorer(
        "dcg", k=3, propensity="seen", target="orders"
    ),
    "rbp(p=0.5)": rs.make_ranking_scorer("rbp", p=0.5),
    "ndcg(gain=linear,k=5)": rs.make_ranking_scorer("ndcg(gain=linear)", k=5),
    "ndcg(target=orders,gain=exponential)": rs.make_ranking_scorer(
        partial(rs.ndcg_score, gain="exponential"), target="orders"
    ),
    "target_share(target=orders)": rs.make_ranking_scorer(target_share, target="orders"),
}


def test_names_and_representations():
    assert list(rs.make_weighted_scorer(dict.fromkeys(SHOWN.values(), 1)).parts) == list(SHOWN)
    of_function = SHOWN["target_share(target=orders)"]
    assert repr(of_function) == f"make_ranking_scorer({target_share!r}, target='orders')"
    of_name = rs.make_ranking_scorer("recall@5(target=orders)", propensity="p", groups="a")
    shown = "make_ranking_scorer('recall@5(target=orders)', groups='a', propensity='p')"
    assert repr(of_name) == shown
    of_sum = rs.make_weighted_scorer({"mrr": 3})
    assert repr(of_sum) == "make_weighted_scorer({make_ranking_scorer('mrr'): 3.0})"


MRR = rs.make_ranking_scorer("mrr")
REFUSED = [
    ({}, {}, ValueError, "weights is empty"),
    (["mrr"], {}, TypeError, "weights must be a dict that maps each metric to its weight.* list"),
    ({"mrr": 0}, {}, ValueError, "the weight of 'mrr' must be above 0; got 0"),
    ({"mrr": -1}, {}, ValueError, "above 0; got -1"),
    ({"mrr": np.nan}, {}, ValueError, "the weight of 'mrr' must be finite"),
    ({"mrr": "1"}, {}, TypeError, "the weight of 'mrr' must be a number"),
    ({"mrrr": 1}, {}, ValueError, "'mrrr' is not a known metric"),
    ({"mrr": 1, MRR: 1}, {}, ValueError, "names 'mrr' twice"),
    ({"mrr(groups=a)": 1, "ndcg": 1}, {}, ValueError, "from one place; got .'a', None."),
    ({"mrr(groups=a)": 1}, {"groups": "b"}, ValueError, "from one place; got .'b', 'a'."),
    ({"mrr(groups=a)": 1}, {"groups": ["b", "c"]}, ValueError, r"\[\('b', 'c'\), 'a'\]\. Give"),
    ({weighted_sum: 1}, {}, ValueError, "'weighted_sum' is the name of the sum itself; give"),
    ({SCORER: 1}, {}, TypeError, "must be a single metric"),
]


@pytest.mark.parametrize(("weights", "options", "error", "message"), REFUSED)
def test_refused_sums(weights, options, error, message):
    with pytest.raises(error, match=message):
        rs.make_weighted_scorer(weights, **options)


def test_one_target_for_all_parts_is_refused():
    for call in (SCORER, lambda _, __, y, target: SCORER.score_labels(y, SCORE, target=target)):
        with pytest.raises(ValueError, match="takes no target for all of its parts"):
            call(FITTED, X, Y, target=Y)


SHARING = ["ndcg@5", "map", "mrr@3", "precision@3(threshold=1)", "ndcg@10(gain=exponential)", "r2"]
PREDICTS = {  # calls with several metrics, and how often they predict
    "cross_validate": (lambda o: ms.cross_validate(Column(), X, Y, cv=3, **o), 3),
    "training scores": (
        lambda o: ms.cross_validate(Column(), X, Y, cv=CV, return_train_score=True, **o), 6,
    ),
    "search": (
        lambda o: ms.GridSearchCV(Column(), {"alpha": [1, 2]}, cv=CV, refit="map", **o)
        .fit(X, Y).score(X, Y), 7,
    ),
    "two threads": (lambda o: ms.cross_validate(Column(), X, Y, cv=CV, n_jobs=2, **o), 3),
    "given groups": (
        lambda o: ms.cross_validate(Column(), X[["a"]], Y, cv=CV, groups=SESSION, **o), 3,
    ),
    "places": (
        lambda o: ms.cross_validate(
            Column(), X.assign(day=0), Y, cv=CV,
            scoring={"a": "ndcg", "b": "ndcg(groups=day)", "c": "ndcg(target=carts)"},
        ), 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PREDICTS)
@pytest.mark.filterwarnings("ignore::sklearn_rankscore.PartialQueryWarning")
def test_metrics_of_one_call_share_a_prediction(name):
    call, n_predictions = PREDICTS[name]
    Column.calls = 0
    with parallel_config(backend="threading"):  # processes would have counters of their own
        call({"scoring": SHARING})
    assert Column.calls == n_predictions
