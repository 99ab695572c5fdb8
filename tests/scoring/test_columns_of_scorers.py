"""Propensities and targets of scorers: where they are found, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    cross_val_query_scores,
    evaluate,
    make_ranking_scorer,
)

N = 60
rng = np.random.default_rng(0)
QID, SEEN = np.repeat(np.arange(12), 5), rng.choice([1, 0.5, 0.2, 0.1], N)
CLICKS, ORDERS = rng.integers(0, 2, N), rng.integers(0, 3, N)
FEATURES = rng.normal(size=(N, 2))
FRAME = pd.DataFrame(FEATURES, columns=["a", "b"]).assign(seen=SEEN, orders=ORDERS, qid=QID)
LEVELS = FRAME.set_index(["qid", "seen", "orders"])


class Column(RegressorMixin, BaseEstimator):
    """Scores documents by a column, whatever else X holds."""

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X["a"])


def expected(metric, labels=CLICKS, **options):
    (value,) = evaluate(labels, FEATURES[:, 0], metric, groups=QID, **options).values()
    return value


FITTED = Column().fit(None, None)
TABLES = [FRAME, LEVELS, pl.DataFrame(FRAME)]
OF_LEVELS = pd.Series(CLICKS, LEVELS.index)


@pytest.mark.parametrize(
    "X", [FRAME, LEVELS, pl.DataFrame(FRAME)], ids=["frame", "index", "polars"]
)
@pytest.mark.parametrize(
    "scorer",
    [
        make_ranking_scorer("dcg@3", propensity="seen", clip=0.2),
        make_ranking_scorer("dcg@3(propensity=seen,clip=0.2)"),
        make_ranking_scorer("dcg", k=3, clip=0.2, propensity="seen"),
    ],
    ids=repr,
)
def test_propensities_in_X(scorer, X):
    assert scorer(FITTED, X, CLICKS) == expected("dcg@3", propensity=SEEN, clip=0.2)
    assert pickle.loads(pickle.dumps(scorer))(FITTED, X, CLICKS) == scorer(FITTED, X, CLICKS)
    assert "seen" in repr(scorer)


@pytest.mark.parametrize(
    "X", [FRAME, LEVELS, pl.DataFrame(FRAME)], ids=["frame", "index", "polars"]
)
@pytest.mark.parametrize(
    "scorer",
    [
        make_ranking_scorer("recall@2", target="orders"),
        make_ranking_scorer("recall@2(target=orders)"),
    ],
    ids=repr,
)
def test_target_in_X(scorer, X):
    assert scorer(FITTED, X, CLICKS) == expected("recall@2", ORDERS) != expected("recall@2")
    assert "orders" in repr(scorer)


def test_both_and_the_index_of_y():
    scorer = make_ranking_scorer("ndcg(propensity=seen,target=orders)")
    value = expected("ndcg", ORDERS, propensity=SEEN)
    assert scorer(FITTED, FRAME[["a", "b"]], OF_LEVELS) == value
    assert scorer.score_labels(OF_LEVELS, FEATURES[:, 0]) == value


def test_metadata_routing():
    scores = {}
    with config_context(enable_metadata_routing=True):
        for name in ("propensity", "target"):
            scorer = make_ranking_scorer("dcg@3").set_score_request(**{name: True})
            given = {"propensity": SEEN, "target": ORDERS}[name]
            model, cv = Column(), QueryKFold(2)
            scores[name] = cross_val_score(
                model, FRAME, CLICKS, scoring=scorer, cv=cv, params={name: given}
            )
    for name, by_name in (
        ("propensity", "dcg@3(propensity=seen)"),
        ("target", "dcg@3(target=orders)"),
    ):
        by_column = cross_val_score(Column(), FRAME, CLICKS, scoring=by_name, cv=QueryKFold(2))
        np.testing.assert_array_equal(scores[name], by_column)
        assert not np.array_equal(
            by_column, cross_val_score(Column(), FRAME, CLICKS, scoring="dcg@3", cv=QueryKFold(2))
        )


def test_a_metric_refuses_routed_propensities():
    with pytest.raises(ValueError, match="takes no propensity: the contribution"):
        make_ranking_scorer("map")(FITTED, FRAME, CLICKS, propensity=SEEN)


def test_several_metrics_share_predictions_but_not_labels():
    names = ["dcg@3", "dcg@3(propensity=seen)", "dcg@3(target=orders)", "hits@3(propensity=seen)",
             "dcg@3(propensity=seen,target=orders)", "dcg@3(propensity=seen,clip=0.3)"]  # fmt: skip
    together = cross_validate(Column(), FRAME, CLICKS, scoring=names, cv=QueryKFold(3))
    for name in names:
        alone = cross_val_score(Column(), FRAME, CLICKS, scoring=name, cv=QueryKFold(3))
        np.testing.assert_array_equal(together[f"test_{name}"], alone)
    assert len({tuple(together[f"test_{name}"]) for name in names}) == len(names)


def test_scores_of_queries_in_cross_validation():
    metrics = ["dcg@3(propensity=seen)", "dcg@3"]
    scores = cross_val_query_scores(Column(), FRAME, CLICKS, metrics=metrics, cv=3)
    given = {"groups": QID, "average": None}
    for metric, seen in zip(metrics, (SEEN, None), strict=True):
        values = evaluate(CLICKS, FEATURES[:, 0], "dcg@3", propensity=seen, **given)
        np.testing.assert_array_equal(scores[metric], values["dcg@3"])


@pytest.mark.parametrize("X", [FRAME, LEVELS], ids=["frame", "index"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_search_leaves_the_columns_out_of_the_features(X, n_jobs):
    dropped = ["seen", "orders"]
    search = GridSearchCV(
        QueryRanker(Ridge(), drop_columns=dropped),
        {"estimator__alpha": [1, 100]},
        scoring=["dcg@3(propensity=seen)", "recall@2(target=orders)"],
        refit="recall@2(target=orders)",
        cv=QueryKFold(2),
        n_jobs=n_jobs,
        error_score="raise",
    ).fit(X, CLICKS)
    assert list(search.best_estimator_.feature_names_in_) == ["a", "b"]
    bare = QueryRanker(Ridge(alpha=search.best_params_["estimator__alpha"]))
    bare.fit(FRAME[["a", "b", "qid"]], CLICKS)
    np.testing.assert_array_equal(search.predict(X), bare.predict(FRAME[["a", "b"]]))


def test_threshold_tuning():
    y = pd.Series(CLICKS, FRAME.set_index(["qid", "seen"]).index)
    X = FRAME[["a", "b"]].set_axis(y.index)
    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring="hits@2(propensity=seen)", cv=QueryKFold(2)
    )
    assert 0 <= tuned.fit(X, y).best_threshold_ <= 1


FAULTY = [
    (
        {"propensity": "shown"},
        FRAME,
        "propensity='shown' is neither a column",
    ),
    ({"target": "sold"}, FRAME, "target='sold' is neither a column of X"),
    ({"target": "orders"}, FEATURES, "target='orders' is neither a column of X"),
    ({"propensity": "orders"}, FRAME, r"propensity 'orders' must lie in \(0, 1\]"),
    (
        {"target": "orders"},
        FRAME.assign(orders="many"),
        "target 'orders' must hold numbers",
    ),
    ({"target": "orders"}, FRAME.assign(orders=np.nan), "target 'orders' contains NaN"),
    ({"propensity": "seen"}, FRAME.assign(seen=np.nan), "propensity 'seen' contains NaN"),
]


@pytest.mark.parametrize(("places", "X", "message"), FAULTY)
def test_faulty_columns_are_one_error_before_the_first_fit(places, X, message):
    """Also where scikit-learn would turn errors of a score into nan."""
    given = {"groups": QID} if X is FEATURES else {}
    fits = []

    class Counted(Ridge):
        def fit(self, X, y, groups=None):
            fits.append(1)
            return super().fit(X, y)

    search = GridSearchCV(
        Counted(),
        {"alpha": [1, 2]},
        cv=QueryKFold(2),
        scoring=make_ranking_scorer("ndcg", **places),
    )
    with pytest.raises((ValueError, TypeError), match=message):
        search.fit(X, CLICKS, **given)
    assert not fits
    with pytest.raises((ValueError, TypeError), match=message):
        make_ranking_scorer("ndcg", groups="none", **places)(FITTED, X, CLICKS)


@pytest.mark.parametrize("option", ["target", "propensity"])
@pytest.mark.parametrize("values", [SEEN, [1.0], True, str.upper])
def test_values_in_place_of_a_place(option, values):
    with pytest.raises(TypeError, match=rf"{option} must be the name .*set_score_request"):
        make_ranking_scorer("ndcg", **{option: values})


def test_target_of_a_metric_without_X():
    with pytest.raises(ValueError, match=r"'recall' has no option 'target'.* only scorers"):
        evaluate(CLICKS, FEATURES[:, 0], "recall@2(target=orders)", groups=QID)


LEAKING = [Ridge(), QueryRanker(Ridge()), QueryRanker(Ridge(), drop_columns="seen")]
SELECTING = [
    make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), Ridge()),
    QueryRanker(make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), Ridge())),
    QueryRanker(Ridge(), drop_columns=["orders", "seen"]),
    GridSearchCV(QueryRanker(Ridge(), drop_columns="orders"), {}, cv=QueryKFold(2)),
    Column(),
]


@pytest.mark.parametrize("model", LEAKING, ids=repr)
def test_a_target_among_the_features_is_refused(model):
    message = "column 'orders' of X, which is the target .* is a feature of .* drop_columns="
    with pytest.raises(ValueError, match=message):
        cross_val_score(model, FRAME, CLICKS, scoring="recall@2(target=orders)", cv=QueryKFold(2))
    fitted = model.fit(FRAME, CLICKS)
    with pytest.raises(ValueError, match=message):
        make_ranking_scorer("recall@2", target="orders")(fitted, FRAME, CLICKS)


def test_index_levels_are_no_features():
    X = FRAME.set_index(["seen", "orders"], append=True)
    for model in (Ridge(), QueryRanker(Ridge())):
        scorer = make_ranking_scorer("ndcg", target="orders", propensity="seen")
        assert 0 < scorer(model.fit(X, CLICKS), X, CLICKS) < 1


@pytest.mark.parametrize("model", SELECTING, ids=lambda model: type(model).__name__)
def test_models_that_choose_their_columns_are_scored(model):
    scores = cross_val_score(
        model, FRAME, CLICKS, scoring="recall@2(target=orders)", cv=QueryKFold(2)
    )
    assert np.isfinite(scores).all()


def test_the_ranker_refuses_to_drop_what_is_not_there():
    with pytest.raises(ValueError, match="drop_columns='sold' is not a column of X"):
        QueryRanker(Ridge(), drop_columns="sold").fit(FRAME, CLICKS)
    with pytest.raises(ValueError, match="drop_columns=7 is not a column of X"):
        QueryRanker(Ridge(), drop_columns=7).fit(FEATURES, CLICKS, groups=QID)


def test_a_target_that_nobody_judged():
    orders = np.where(np.arange(N) % 3, ORDERS, np.nan)
    scorer = make_ranking_scorer("ndcg(target=orders,unjudged=drop,propensity=seen)")
    value = expected("ndcg", orders, unjudged="drop", propensity=SEEN)
    assert scorer(FITTED, FRAME.assign(orders=orders), CLICKS) == value


def test_an_integer_of_a_scorer_is_a_position_where_columns_have_integer_names():
    rows = pd.DataFrame(np.column_stack([FEATURES, ORDERS]), columns=[1, 3, 4])
    rows.index = pd.Index(QID, name="qid")
    scorer = make_ranking_scorer("ndcg@3", target=2)
    fitted = QueryRanker(Ridge(), drop_columns=[4]).fit(rows, CLICKS)
    value = evaluate(ORDERS, fitted.predict(rows), "ndcg@3", groups=QID)["ndcg@3"]
    assert scorer(fitted, rows, CLICKS) == value
    leaking = QueryRanker(Ridge(), drop_columns=[1]).fit(rows, CLICKS)
    with pytest.raises(ValueError, match=r"the column 4 of X, .* drop_columns=\[4\]"):
        scorer(leaking, rows, CLICKS)
