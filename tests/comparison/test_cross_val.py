"""cross_val_query_scores: every query scored once, by a model that has not seen it."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from lightgbm import LGBMRanker
from sklearn.base import BaseEstimator, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    compare,
    cross_val_query_scores,
    evaluate,
    make_ranking,
    make_ranking_scorer,
    make_weighted_scorer,
    ndcg_score,
    query_scores,
)
from sklearn_rankscore.scoring.register import find_groups_param

METRICS = ["ndcg@5", "map"]


@pytest.fixture(scope="module")
def arrays():
    return make_ranking(n_queries=30, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def table():
    return make_ranking(n_queries=30, shuffle=True, as_frame=True, random_state=0)


def test_a_weighted_sum_has_no_values_of_queries(table):
    scorer = make_weighted_scorer({"ndcg@5": 2, "map": 1})
    given = {"cv": QueryKFold(3)}
    with pytest.raises(TypeError, match=r"Pass its metrics instead, list\(scorer.parts.values"):
        cross_val_query_scores(QueryRanker(Ridge()), *table, metrics=scorer, **given)
    parts = list(scorer.parts.values())
    assert cross_val_query_scores(QueryRanker(Ridge()), *table, metrics=parts, **given).metrics == (
        "ndcg@5",
        "map",
    )


def by_hand(estimator, X, y, groups, cv):
    """NDCG@5 of each query under its id, one fold after the other."""
    by_query = {}
    for train, test in cv.split(X, y, groups):
        scores = clone(estimator).fit(X[train], y[train]).predict(X[test])
        values = ndcg_score(y[test], scores, groups=groups[test], k=5, average=None)
        by_query.update(zip(np.unique(groups[test]).tolist(), values, strict=True))
    return by_query


@pytest.mark.parametrize("cv", [QueryKFold(4), GroupKFold(3), LeaveOneGroupOut()], ids=repr)
def test_every_query_is_scored_in_its_own_fold(arrays, cv):
    X, y, groups = arrays
    names = np.array([f"q{g:02}" for g in groups])
    scores = cross_val_query_scores(Ridge(), X, y, groups=names, cv=cv, metrics=METRICS)
    expected = by_hand(Ridge(), X, y, names, cv)
    assert dict(zip(scores.ids.tolist(), scores["ndcg@5"], strict=True)) == pytest.approx(expected)
    assert scores.metrics == ("ndcg@5", "map")


def test_ids_and_folds_may_come_in_any_way(arrays, table):
    X, y, groups = arrays
    frame, labels = table
    given = {"metrics": METRICS, "cv": 3}
    expected = cross_val_query_scores(Ridge(), X, y, groups=groups, **given)
    ranker = QueryRanker(Ridge())
    features = frame.drop(columns="qid")
    by_index = pd.Series(y, index=pd.Index(groups, name="qid"))
    folds = list(QueryKFold(3).split(X, y, groups))
    for scores in (
        cross_val_query_scores(ranker, frame, labels, **given),
        cross_val_query_scores(ranker, X, y, groups=groups, **given),
        cross_val_query_scores(ranker, features, by_index, **given),
        cross_val_query_scores(Ridge(), X.tolist(), y.tolist(), groups=groups.tolist(), **given),
        cross_val_query_scores(
            Ridge(), X, y, params=None, groups=groups, metrics=METRICS, cv=folds
        ),
        cross_val_query_scores(Ridge(), X, y, groups=groups, n_jobs=2, **given),
    ):
        np.testing.assert_allclose(scores.values, expected.values)
        np.testing.assert_array_equal(scores.ids, expected.ids)


def test_a_splitter_that_wants_groups_gets_ids_from_the_data(table):
    X, y = table
    scores = cross_val_query_scores(QueryRanker(Ridge()), X, y, cv=GroupKFold(3), metrics="mrr")
    assert len(scores) == 30


def test_metadata_routing_feeds_splitter_and_ranker(arrays):
    X, y, groups = arrays
    expected = cross_val_query_scores(
        QueryRanker(Ridge()), X, y, groups=groups, cv=3, metrics=METRICS
    )
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = QueryRanker(Ridge())
        plain = Ridge().set_fit_request(sample_weight=True)
        for scores in (
            cross_val_query_scores(ranker, X, y, params={"groups": groups}, cv=3, metrics=METRICS),
            cross_val_query_scores(ranker, X, y, groups=groups, cv=3, metrics=METRICS),
            cross_val_query_scores(
                plain, X, y, groups=groups, params={"sample_weight": np.ones(len(y))}, cv=3,
                metrics=METRICS,
            ),
        ):  # fmt: skip
            np.testing.assert_allclose(scores.values, expected.values)


def test_fit_parameters_are_cut_to_the_training_fold(arrays):
    X, y, groups = arrays
    weights = np.random.default_rng(0).uniform(0.01, 5, size=len(y))
    scores = cross_val_query_scores(
        Ridge(), X, y, groups=groups, params={"sample_weight": weights}, cv=3, metrics="ndcg@5"
    )
    expected = np.zeros(30)
    for train, test in QueryKFold(3).split(X, y, groups):
        model = Ridge().fit(X[train], y[train], sample_weight=weights[train])
        values = ndcg_score(y[test], model.predict(X[test]), groups=groups[test], k=5, average=None)
        expected[np.unique(groups[test])] = values
    np.testing.assert_allclose(scores["ndcg@5"], expected)


RANKER = QueryRanker(LGBMRanker(n_estimators=3, min_child_samples=3, n_jobs=1, verbose=-1))
NESTED = {
    "pipeline": make_pipeline(StandardScaler(), RANKER),
    "target": TransformedTargetRegressor(RANKER, check_inverse=False),
    "search": GridSearchCV(
        QueryRanker(Ridge()), {"estimator__alpha": [1, 100]}, scoring="ndcg@5", cv=QueryKFold(3)
    ),
    "search in a pipeline": make_pipeline(
        StandardScaler(),
        GridSearchCV(Ridge(), {"alpha": [1, 100]}, scoring="ndcg@5", cv=QueryKFold(3)),
    ),
    "search of rows": GridSearchCV(Ridge(), {"alpha": [1, 100]}, cv=KFold(3)),
    "pipeline of a regressor": make_pipeline(StandardScaler(), Ridge()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("place", ["groups", "index", "params"])
def test_ids_reach_what_is_inside_as_in_cross_val_score(arrays, name, place):
    X, y, ids = arrays
    given = {"cv": QueryKFold(3), "groups": ids}
    expected = cross_val_score(NESTED[name], X, y, scoring="ndcg@5", **given)
    if place == "index":
        X, given = pd.DataFrame(X, index=pd.Index(ids, name="qid")), {"cv": QueryKFold(3)}
    if place == "params":
        param, _ = find_groups_param(NESTED[name])
        given["params"] = {param: ids} if param and "rows" not in name else {}
    scores = cross_val_query_scores(NESTED[name], X, y, metrics="ndcg@5", **given)
    folds = QueryKFold(3).split(arrays[0], y, groups=ids)
    of_folds = [scores["ndcg@5"][np.isin(scores.ids, ids[test])].mean() for _, test in folds]
    np.testing.assert_allclose(of_folds, expected)


def test_query_weights_and_options_reach_the_result(arrays):
    X, y, groups = arrays
    weights = np.arange(1.0, 31)[groups]
    scores = cross_val_query_scores(
        Ridge(),
        X,
        y,
        groups=groups,
        sample_weight=weights,
        cv=3,
        metrics="ndcg",
        gain="exponential",
    )
    np.testing.assert_array_equal(scores.weights, np.arange(1.0, 31))
    plain = cross_val_query_scores(Ridge(), X, y, groups=groups, cv=3, metrics="ndcg")
    assert not np.allclose(scores.values, plain.values)


def test_rankers_and_classifiers(arrays):
    X, y, groups = arrays
    ranker = QueryRanker(LGBMRanker(n_estimators=5, min_child_samples=2, n_jobs=1, verbose=-1))
    classifier = GaussianNB()
    given = {"groups": groups, "cv": 3, "metrics": "ndcg@5"}
    scores = {
        "nothing": cross_val_query_scores(Constant(), X, y, **given),
        "ranker": cross_val_query_scores(ranker, X, y, **given),
        "classifier": cross_val_query_scores(classifier, X, y, **given),
    }
    for one in compare(scores, random_state=0).differences:
        assert one.difference > 0.2
        assert one.adjusted_p_value < 0.01


class Constant(BaseEstimator):
    """Ranks nothing above anything."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_progress_is_shown_on_request(arrays, capfd):
    X, y, groups = arrays
    given = {"groups": groups, "cv": 3, "metrics": "mrr"}
    cross_val_query_scores(Ridge(), X, y, **given)
    assert "".join(capfd.readouterr()) == ""
    cross_val_query_scores(Ridge(), X, y, verbose=1, **given)
    assert "3 out of   3" in "".join(capfd.readouterr())


def twice(X, y, groups):
    return [*QueryKFold(3).split(X, y, groups), *QueryKFold(2).split(X, y, groups)]


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (KFold(3), r"30 of 30 are split across folds \(0, 1, 2, 3, 4, …\)"),
        (ShuffleSplit(1, test_size=0.5, random_state=0), "split across folds"),
        (QueryKFold(3, skip_constant_queries=True), r"1 of 30 are in no test fold \(7\)"),
        ("twice", "30 of 30 are in several test folds"),
    ],
)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_refuses_folds_that_do_not_test_each_query_once(arrays, cv, message):
    X, y, groups = arrays
    y = np.where(groups == 7, 1, y)
    y[groups == 3] = np.arange((groups == 3).sum()) % 2
    cv = twice(X, y, groups) if cv == "twice" else cv
    keep = np.array([len(set(y[groups == g])) > 1 or g == 7 for g in groups])
    assert keep.all()
    with pytest.raises(ValueError, match=message):
        cross_val_query_scores(Constant(), X, y, groups=groups, cv=cv, metrics="mrr")


def test_refuses_what_is_missing_or_unknown_before_any_fit(arrays):
    X, y, groups = arrays

    class Unfit(Constant):
        def fit(self, X, y):
            raise AssertionError("fitted")

    with pytest.raises(NoGroupsError, match="No query ids reached cross_val_query_scores"):
        cross_val_query_scores(Unfit(), X, y, metrics="mrr")
    with pytest.raises(ValueError, match="Did you mean 'ndcg@3'"):
        cross_val_query_scores(Unfit(), X, y, groups=groups, metrics="ndgc@3")
    with pytest.raises(ValueError, match="more than the number of queries"):
        cross_val_query_scores(Unfit(), X, y, groups=groups, metrics="mrr", cv=31)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_val_query_scores(Unfit(), X, y[:-1], groups=groups, metrics="mrr")


@pytest.mark.parametrize("given", [{"groups": "session"}, {"cv": QueryKFold(5, groups="session")}])
def test_ids_in_a_column_of_another_name(table, given):
    X, y = table
    expected = cross_val_query_scores(QueryRanker(Ridge()), X, y, metrics="ndcg@5")
    ranker = QueryRanker(Ridge(), groups="session")
    given = {"cv": QueryKFold(5, groups="session"), **given}
    scores = cross_val_query_scores(
        ranker, X.rename(columns={"qid": "session"}), y, metrics="ndcg@5", **given
    )
    assert scores.ids.tolist() == expected.ids.tolist()
    np.testing.assert_array_equal(scores["ndcg@5"], expected["ndcg@5"])


@pytest.fixture(scope="module")
def with_orders(table):
    """Documents with the index level "orders", by which models are judged but not trained."""
    X, y = table
    orders = np.random.default_rng(1).permutation(y) > 2
    return X.assign(orders=orders.astype(int)).set_index("orders", append=True), y, orders


RECALL = "recall@5(target=orders)"


@pytest.mark.parametrize(
    ("metrics", "target"),
    [
        (["ndcg@5", RECALL, "recall@5"], None),
        (["ndcg@5", make_ranking_scorer("recall@5", target="orders"), "recall@5"], None),
        ([make_ranking_scorer("ndcg@5"), make_ranking_scorer(RECALL), "recall@5"], None),
    ],
)
def test_metrics_that_judge_by_another_target(with_orders, metrics, target):
    """The models, folds and scores are those of cross_val_predict."""
    X, y, orders = with_orders
    given = {"cv": QueryKFold(3)}
    scores = cross_val_query_scores(QueryRanker(Ridge()), X, y, metrics=metrics, **given)
    predicted = cross_val_predict(QueryRanker(Ridge()), X, y, **given)
    by_orders = query_scores(orders, predicted, "recall@5", groups=X["qid"])
    by_labels = query_scores(y, predicted, ["ndcg@5", "recall@5"], groups=X["qid"])
    assert scores.metrics == ("ndcg@5", RECALL, "recall@5")
    np.testing.assert_allclose(scores[RECALL], by_orders["recall@5"])
    for name in by_labels.metrics:
        np.testing.assert_allclose(scores[name], by_labels[name])
    assert not np.allclose(scores[RECALL], scores["recall@5"])


def target_share(block):
    """A metric whose name contains that of a place."""
    return block.by_rank(lambda labels: labels)[:, 0]


def test_scorers_of_one_metric_have_names_of_their_own(with_orders):
    X, y, _ = with_orders
    scorers = [make_ranking_scorer("ndcg", k=k) for k in (5, 10)]
    scorers += [make_ranking_scorer(target_share, target="orders"), target_share]
    scores = cross_val_query_scores(
        QueryRanker(Ridge()), X, y, metrics=[*scorers, "ndcg@5"], cv=QueryKFold(3)
    )
    assert scores.metrics == (
        *("ndcg(k=5)", "ndcg(k=10)", "target_share(target=orders)", "target_share", "ndcg@5"),
    )
    np.testing.assert_array_equal(scores["ndcg(k=5)"], scores["ndcg@5"])


def test_one_target_for_all_metrics(with_orders):
    X, y, orders = with_orders
    given = {"cv": QueryKFold(3), "denominator": "min"}
    ranker = QueryRanker(Ridge())
    scores = cross_val_query_scores(ranker, X, y, metrics="recall@5", target="orders", **given)
    named = cross_val_query_scores(ranker, X, y, ["mrr", RECALL], **given)
    np.testing.assert_array_equal(scores["recall@5"], named[RECALL])
    predicted = cross_val_predict(ranker, X, y, cv=QueryKFold(3))
    expected = evaluate(orders, predicted, "recall@5(denominator=min)", groups=X["qid"])
    assert [*scores.mean().values()] == pytest.approx([*expected.values()])


@pytest.mark.parametrize(
    ("metrics", "change", "message"),
    [
        ("recall@5(target=sold)", {}, "target='sold' is neither a column of X nor"),
        ("recall@5", {"target": "sold"}, "target='sold' is neither a column of X nor"),
        ("recall@5(target=f0)", {}, r"'f0' .* target of the metric 'recall@5\(target=f0\)', is a"),
        ("dcg@5", {"target": "f0"}, "'f0' of X, which is the target of the metric 'dcg@5', is a"),
        (
            "dcg@5(propensity=f0)",
            {},
            r"propensity of the metric 'dcg@5\(propensity=f0\)', is a feature",
        ),
        ([RECALL, make_ranking_scorer(RECALL)], {}, "names 'recall@5.target=orders.' twice"),
        (make_ranking_scorer("mrr", groups="qid"), {}, "has groups of its own"),
        ("recall@5(target=orders,average=micro)", {}, "average='micro', a ratio of sums"),
    ],
)
def test_refuses_targets_before_any_fit(with_orders, metrics, change, message):
    X, y, _ = with_orders
    X = X.rename(columns={X.columns[1]: "f0"})

    class Unfit(Ridge):
        def fit(self, X, y):
            raise AssertionError("fitted")

    model = QueryRanker(Ridge() if "f0" in f"{metrics} {change}" else Unfit())
    with pytest.raises(ValueError, match=message):
        cross_val_query_scores(model, X, y, metrics=metrics, **change)
    with pytest.raises(TypeError, match="target must be the name of a column"):
        cross_val_query_scores(QueryRanker(Unfit()), X, y, metrics="mrr", target=y)
    given = {"metrics": "dcg@5", "propensity": np.full(len(y), 0.5)}
    with pytest.raises(TypeError, match=r"propensity must be the name.*X.assign\(propensity="):
        cross_val_query_scores(QueryRanker(Unfit()), X, y, **given)
