"""Propensities and targets that a scorer reads, weighted sums, and predictions that are shared."""

import pickle
import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from frames import pl
from joblib import parallel_config
from native_fits import make
from sklearn import config_context
from sklearn import model_selection as ms
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import sklearn_rankscore as rs
from sklearn_rankscore import make_ranking_scorer as scorer_of
from sklearn_rankscore import make_weighted_scorer as sum_of

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


def value(metric, labels=CLICKS, **options):
    (scored,) = rs.evaluate(labels, FEATURES[:, 0], metric, groups=QID, **options).values()
    return scored


def validated(model, X=FRAME, y=CLICKS, **options):
    return ms.cross_val_score(model, X, y, **{"cv": CV, "error_score": "raise"} | options)


CLIPPED = "dcg@3(propensity=seen,clip=0.2)"
SAME = {  # scorers of the same metric, and its value
    "propensity": (
        [scorer_of("dcg@3", propensity="seen", clip=0.2), scorer_of(CLIPPED),
         scorer_of("dcg", k=3, clip=0.2, propensity="seen"), sum_of({CLIPPED: 1})],
        value("dcg@3", propensity=SEEN, clip=0.2),
    ),
    "target": (
        [scorer_of("recall@2", target="orders"), scorer_of("recall@2(target=orders)")],
        value("recall@2", ORDERS),
    ),
    "both": (
        [scorer_of("ndcg(propensity=seen,target=orders)")],
        value("ndcg", ORDERS, propensity=SEEN),
    ),
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", SAME)
def test_columns_of_x_and_levels(name, table):
    scorers, expected = SAME[name]
    for scorer in scorers:
        for copied in (scorer, pickle.loads(pickle.dumps(scorer))):
            assert copied(FITTED, TABLES[table], CLICKS) == expected
        assert scorer(FITTED, FRAME[["a", "b"]], BY_Y) == expected
        assert scorer.score_labels(BY_Y, FEATURES[:, 0]) == expected
    given = {"groups": QID, "target": ORDERS}
    recall = scorer_of("recall@2").score_labels(CLICKS, FEATURES[:, 0], **given)
    assert recall == SAME["target"][1]


def test_positions_of_columns_that_have_integers_as_names():
    rows = pd.DataFrame(np.column_stack([FEATURES, ORDERS]), pd.Index(QID, name="qid"), [1, 3, 4])
    scorer = scorer_of("ndcg@3", target=2)
    fitted = rs.QueryRanker(Ridge(), drop_columns=[4]).fit(rows, CLICKS)
    expected = rs.evaluate(ORDERS, fitted.predict(rows), "ndcg@3", groups=QID)["ndcg@3"]
    assert scorer(fitted, rows, CLICKS) == expected
    array, of_array = rows.to_numpy(), rs.QueryRanker(Ridge(), drop_columns=[-1])
    value_of_array = scorer(of_array.fit(array, CLICKS), array, CLICKS, groups=QID)
    assert value_of_array == pytest.approx(expected)
    leaking = rs.QueryRanker(Ridge(), drop_columns=[1]).fit(rows, CLICKS)
    with pytest.raises(ValueError, match=r"the column 4 of X, .* drop_columns=\[4\]"):
        scorer(leaking, rows, CLICKS)


@pytest.mark.parametrize(
    ("name", "source", "given", "y"),
    [("propensity", "seen", SEEN, CLICKS), ("target", "orders", ORDERS, CLICKS - 1)],
)
def test_routed_columns(name, source, given, y):
    with config_context(enable_metadata_routing=True):
        scorer = scorer_of("dcg@3").set_score_request(**{name: True})
        routed = validated(Column(), y=y, scoring=scorer, params={name: given})
    by_column = validated(Column(), scoring=f"dcg@3({name}={source})")
    np.testing.assert_array_equal(routed, by_column)


def test_a_target_that_nobody_judged_and_labels_that_would_be_refused():
    orders = np.where(np.arange(N) % 3, ORDERS, np.nan)
    scorer = scorer_of("ndcg(target=orders,unjudged=drop,propensity=seen)")
    expected = value("ndcg", orders, unjudged="drop", propensity=SEEN)
    assert scorer(FITTED, FRAME.assign(orders=orders), CLICKS - 9) == expected
    by_orders = {"scoring": "recall@2(target=orders)"}
    values = validated(Column(), y=np.where(CLICKS, "yes", "no"), **by_orders)
    np.testing.assert_array_equal(values, validated(Column(), **by_orders))


METRICS = ["dcg@3", "dcg@3(propensity=seen)", "dcg@3(target=orders)", "hits@3(propensity=seen)",
           "dcg@3(propensity=seen,target=orders)", "dcg@3(propensity=seen,clip=0.3)"]  # fmt: skip


def test_several_metrics_share_predictions_but_not_labels():
    together = ms.cross_validate(Column(), FRAME, CLICKS, scoring=METRICS, cv=CV)
    for name in METRICS:
        alone = validated(Column(), scoring=name)
        np.testing.assert_array_equal(together[f"test_{name}"], alone)
    assert len({tuple(together[f"test_{name}"]) for name in METRICS}) == len(METRICS)


class NeverFitted(Ridge):
    def fit(self, X, y, groups=None):
        raise AssertionError


FAULTY = [
    ({"propensity": "shown"}, FRAME, "propensity='shown' is neither a column"),
    ({"target": "sold"}, FRAME, "target='sold' is neither a column of X"),
    ({"target": "orders"}, FEATURES, "target='orders' is neither a column of X"),
    ({"propensity": "orders"}, FRAME, r"propensity 'orders' must lie in \(0, 1\]"),
    ({"target": "orders"}, FRAME.assign(orders="many"), "target 'orders' must hold numbers"),
    ({"target": "orders"}, FRAME.assign(orders=np.nan), "target 'orders' contains NaN"),
    ({"propensity": "seen"}, FRAME.assign(seen=np.nan), "propensity 'seen' contains NaN"),
]


@pytest.mark.parametrize("wrap", [lambda scorer: scorer, lambda scorer: sum_of({scorer: 1})])
@pytest.mark.parametrize(("places", "rows", "message"), FAULTY)
def test_faulty_columns_are_one_error_before_the_first_fit(places, rows, message, wrap):
    """Also where scikit-learn would turn errors of a score into nan."""
    given = {"groups": QID} if rows is FEATURES else {}
    search = ms.GridSearchCV(NeverFitted(), {}, cv=CV, scoring=wrap(scorer_of("ndcg", **places)))
    one_list = wrap(scorer_of("ndcg", groups="none", **places))
    for call in (lambda: search.fit(rows, CLICKS, **given), lambda: one_list(FITTED, rows, CLICKS)):
        with pytest.raises((ValueError, TypeError), match=message):
            call()


@pytest.mark.parametrize("values", [SEEN, [1.0], True, str.upper])
def test_values_in_place_of_a_place(values):
    for option in ("target", "propensity"):
        with pytest.raises(TypeError, match=rf"{option} must be the name .*set_score_request"):
            scorer_of("ndcg", **{option: values})


RECALL = scorer_of("recall@2(target=orders)")
LEAKING = [Ridge(), rs.QueryRanker(Ridge()), rs.QueryRanker(Ridge(), drop_columns="seen")]
BOOSTERS = ["LGBMRegressor", "XGBRegressor"]
BOOSTERS += [pytest.param("CatBoostRegressor", marks=pytest.mark.integration)]
CHOSEN = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), Ridge())
CHOOSING = [
    CHOSEN,
    rs.QueryRanker(CHOSEN),
    rs.QueryRanker(Ridge(), drop_columns=["orders", "seen"]),
    ms.GridSearchCV(rs.QueryRanker(Ridge(), drop_columns="orders"), {}, cv=rs.QueryKFold(2)),
    Column(),
]


@pytest.mark.parametrize("model", [*LEAKING, *BOOSTERS])
def test_a_target_among_the_features_is_refused(model):
    model = make(model, 2) if isinstance(model, str) else model
    message = "column 'orders' of X, which is the target .* is a feature of .* drop_columns="
    with pytest.raises(ValueError, match=message):
        validated(model, scoring=RECALL)
    with pytest.raises(ValueError, match=message):
        RECALL(model.fit(FRAME, CLICKS), FRAME, CLICKS)


def test_a_target_that_is_no_feature_for_certain_is_taken():
    levels = FRAME.set_index(["seen", "orders"], append=True)
    for model in LEAKING[:2]:
        assert 0 < RECALL(model.fit(levels, CLICKS), levels, CLICKS) < 1
    for model in CHOOSING:
        assert np.isfinite(validated(model, scoring=RECALL)).all()


OTTO = {"clicks": 0.10, "carts": 0.30, "orders": 0.60}
SHARES = {"clicks": 0.7, "carts": 0.2, "orders": 0.05}
SESSION = np.repeat(np.arange(30), 40)
TARGETS = {name: RNG.random(1200) < share for name, share in SHARES.items()}
SCORE = RNG.normal(size=1200) + TARGETS["orders"] + TARGETS["clicks"]
X = pd.DataFrame({"a": SCORE, "b": RNG.normal(size=1200), "qid": SESSION, **TARGETS})
Y = TARGETS["clicks"].astype(int)
NAMES = {name: f"recall@20(target={name},denominator=min,average=micro)" for name in OTTO}
SCORER = sum_of({NAMES[name]: weight for name, weight in OTTO.items()})


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
    options = {"scoring": SCORER.with_parts(), "refit": "weighted_sum", "cv": CV}
    results = ms.GridSearchCV(Column(), {"alpha": [1]}, **options).fit(X, Y).cv_results_
    expected = [otto_score(test) for _, test in CV.split(X, Y)]
    whole = [results[f"split{i}_test_weighted_sum"][0] for i in range(3)]
    np.testing.assert_allclose(whole, expected, rtol=1e-12)
    parts = [OTTO[name] * results[f"mean_test_{NAMES[name]}"] for name in OTTO]
    np.testing.assert_allclose(np.sum(parts, axis=0), np.mean(expected), rtol=1e-12)


def test_places_of_ids_of_the_sum_and_its_parts():
    data = FITTED, X.rename(columns={"qid": "session"}).assign(user=SESSION // 2), Y
    part, place = scorer_of("mrr"), ["session", "user"]
    by_place = [scorer_of(name, groups=place)(*data) for name in ("mrr", "recall@5")]
    assert sum_of({part: 1.0}, groups=place)(*data) == by_place[0]
    assert part.groups is None
    both = sum_of({scorer_of("mrr", groups=place): 1, "recall@5": 2}, groups=place)
    assert both(*data) == pytest.approx(by_place[0] + 2 * by_place[1])


def target_share(block):
    """A metric whose name contains that of a place."""
    return block.by_rank(lambda labels: labels)[:, 0]


def weighted_sum(block):
    """A metric with the name that the sum has among its parts."""
    return target_share(block)


EXPONENTIAL = partial(rs.ndcg_score, gain="exponential")
SHOWN = [  # scorers and their names
    (scorer_of(rs.recall_at_k), "recall"),
    (scorer_of("dcg", k=3, propensity="p", target="t"), "dcg(propensity=p,target=t,k=3)"),
    (scorer_of("rbp", p=0.5), "rbp(p=0.5)"),
    (scorer_of("ndcg(gain=linear)", k=5), "ndcg(gain=linear,k=5)"),
    (scorer_of(EXPONENTIAL, target="orders"), "ndcg(target=orders,gain=exponential)"),
    (scorer_of(target_share, target="orders"), "target_share(target=orders)"),
]
AS_CODE = "make_ranking_scorer('recall(target=t)', groups='a', propensity='p')"


def test_names_and_representations():
    parts = sum_of(dict.fromkeys([scorer for scorer, _ in SHOWN], 1)).parts
    assert list(parts) == [name for _, name in SHOWN]
    assert repr(scorer_of("recall(target=t)", propensity="p", groups="a")) == AS_CODE
    parts = "make_ranking_scorer('mrr'): 3.0, make_ranking_scorer('map'): 1.0"
    assert repr(sum_of({"mrr": 3, "map": 1})) == f"make_weighted_scorer({{{parts}}})"


REFUSED = [
    ({}, {}, ValueError, "weights is empty"),
    (["mrr"], {}, TypeError, "weights must be a dict that maps metrics to weights; got list"),
    ({"mrr": 0}, {}, ValueError, "the weight of 'mrr' must be above 0; got 0"),
    ({"mrr": np.nan}, {}, ValueError, "the weight of 'mrr' must be finite"),
    ({"mrr": "1"}, {}, TypeError, "the weight of 'mrr' must be a number"),
    ({"mrr": 1, scorer_of("mrr"): 1}, {}, ValueError, "names 'mrr' twice"),
    ({"mrr(groups=a)": 1, "ndcg": 1}, {}, ValueError, "from one place; got .'a', None."),
    ({"mrr(groups=a)": 1}, {"groups": "b"}, ValueError, "from one place; got .'b', 'a'."),
    ({"mrr(groups=a)": 1}, {"groups": ["b", "c"]}, ValueError, r"\[\('b', 'c'\), 'a'\]\. Give"),
    ({weighted_sum: 1}, {}, ValueError, "weights names 'weighted_sum' twice, or as the sum itself"),
    ({SCORER: 1}, {}, TypeError, "must be a single metric"),
]


@pytest.mark.parametrize(("weights", "options", "error", "message"), REFUSED)
def test_refused_sums(weights, options, error, message):
    with pytest.raises(error, match=message):
        sum_of(weights, **options)


def test_one_target_for_all_parts_is_refused():
    for call in (partial(SCORER, FITTED, X), partial(SCORER.score_labels, y_score=SCORE)):
        with pytest.raises(ValueError, match="takes no target for all of its parts"):
            call(Y, target=Y)


PLACES = {"a": "ndcg", "b": "ndcg(groups=day)", "c": "ndcg(target=carts)"}
SHARING = ["ndcg@5", "map", "mrr@3", "precision@3(threshold=1)", "ndcg@10(gain=exponential)", "r2"]


def several(rows=X, scoring=SHARING, **options):
    return lambda: ms.cross_validate(Column(), rows, Y, scoring=scoring, cv=CV, **options)


def searched():
    search = ms.GridSearchCV(Column(), {"alpha": [1, 2]}, cv=CV, scoring=SHARING, refit="map")
    search.fit(X, Y).score(X, Y)


PREDICTS = {  # calls with several metrics, and how often they predict
    "training scores": (several(return_train_score=True), 6),
    "a search and its score": (searched, 7),
    "two threads": (several(n_jobs=2), 3),
    "given groups": (several(X[["a"]], groups=SESSION), 3),
    "places": (several(X.assign(day=0), PLACES), 3),
}


@pytest.mark.parametrize("name", PREDICTS)
@pytest.mark.filterwarnings("ignore::sklearn_rankscore.PartialQueryWarning")
def test_metrics_of_one_call_share_a_prediction(name):
    call, n_predictions = PREDICTS[name]
    Column.calls = 0
    with parallel_config(backend="threading"):  # processes would have counters of their own
        call()
    assert Column.calls == n_predictions
