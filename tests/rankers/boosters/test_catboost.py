"""catboost_metric equals CatBoost's own metric, round by round; pairs of documents."""

import numpy as np
import pandas as pd
import pytest
from requires import requires
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import make_catboost_ranker
from training_rounds import ROUNDS, STOPPING_ROUNDS, best_round, recomputed

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    catboost_metric,
    cross_val_query_scores,
    make_ranking,
)


def fit_catboost(parts, eval_metric, weight=None, **params):
    (X, y, qid), (X_test, y_test, qid_test) = parts
    catboost = requires("catboost")
    model = catboost.CatBoostRanker(
        iterations=ROUNDS,
        depth=4,
        learning_rate=0.3,
        random_seed=0,
        verbose=0,
        thread_count=1,
        allow_writing_files=False,
        eval_metric=eval_metric,
        **params,
    )
    return model.fit(
        X,
        y,
        group_id=qid,
        eval_set=catboost.Pool(X_test, y_test, group_id=qid_test, group_weight=weight),
        early_stopping_rounds=STOPPING_ROUNDS,
    )


def metric_of(parts, metric, **options):
    return catboost_metric(metric, *[(y, qid) for _, y, qid in parts], **options)


def predict_catboost(model):
    return lambda X, n: model.predict(X, ntree_end=n)


def test_catboost_metric_equals_that_of_catboost(parts):
    same = {"gain": "exponential", "like": "catboost"}
    own = fit_catboost(parts, "NDCG:top=10;type=Exp")
    ours = fit_catboost(parts, metric_of(parts, "ndcg@10", **same))
    theirs = own.get_evals_result()["validation"]["NDCG:top=10;type=Exp"]
    history = ours.get_evals_result()["validation"]["CatBoostMetric"]
    np.testing.assert_allclose(history, theirs, rtol=0, atol=1e-6)
    kept = ours.tree_count_
    after = recomputed(predict_catboost(ours), parts[1], "ndcg@10", kept, **same)
    np.testing.assert_allclose(history[:kept], after, rtol=0, atol=1e-6)
    assert own.get_best_iteration() == ours.get_best_iteration() == best_round(history) < ROUNDS - 1


@pytest.mark.parametrize("weighted", [False, True])
def test_catboost_selects_the_best_round(weighted, parts):
    weight = 1.0 + parts[1][2] % 3 if weighted else None
    model = fit_catboost(parts, metric_of(parts, "mrr@10"), weight)
    history = model.get_evals_result()["validation"]["CatBoostMetric"]
    after = recomputed(predict_catboost(model), parts[1], "mrr@10", model.tree_count_, weight)
    np.testing.assert_allclose(history[: model.tree_count_], after, rtol=0, atol=1e-6)
    assert model.get_best_iteration() == best_round(history)


def test_training_rows_in_random_order_do_not_matter(parts):
    model = fit_catboost(parts, metric_of(parts, "ndcg@10"), boosting_type="Ordered")
    history = model.get_evals_result()
    assert set(history["learn"]["CatBoostMetric"]) == {-1}
    validation, kept = history["validation"]["CatBoostMetric"], model.tree_count_
    after = recomputed(predict_catboost(model), parts[1], "ndcg@10", kept)
    np.testing.assert_allclose(validation[:kept], after, rtol=0, atol=1e-6)
    assert model.get_best_iteration() == best_round(validation)


def test_catboost_metric_refuses_an_unknown_set(parts):
    (_, y, qid), _ = parts
    error = requires("catboost").CatBoostError
    with pytest.raises(error, match="768 rows with labels that catboost_metric was not"):
        fit_catboost(parts, catboost_metric("ndcg", (y, qid)))


def test_an_evaluation_set_in_another_order_is_refused(parts):
    """A log of -1 in every round would select a model of one tree."""
    (X, y, qid), (X_test, y_test, qid_test) = parts
    mixed = np.random.default_rng(0).permutation(len(y_test))
    metric = catboost_metric("ndcg", (y, qid), (y_test[mixed], qid_test[mixed]))
    error = requires("catboost").CatBoostError
    message = r"training set first, in the order.*early_stopping='ndcg@10'"
    with pytest.raises(error, match=message):
        fit_catboost(parts, metric)
    ranker = QueryRanker(make_catboost_ranker(iterations=5, eval_metric=metric))
    valid = {"eval_set": [(X_test[mixed], y_test[mixed])], "eval_qid": [qid_test[mixed]]}
    with pytest.raises(error, match=message):  # which puts the rows of each query together
        ranker.fit(X, y, qid=qid, **valid)


@pytest.mark.parametrize(
    ("sets", "error", "message"),
    [
        ([], ValueError, "needs the labels and query ids"),
        ([([1, 0], [1, 1, 2])], ValueError, "one id per row"),
        ([np.ones(3)], TypeError, r"pairs \(y, groups\)"),
        ([([1, 0, 0], [1, 1, 2]), ([1, 0, 0], [1, 2, 2])], ValueError, "equal labels but other"),
    ],
)
def test_sets_must_be_distinguishable(sets, error, message):
    with pytest.raises(error, match=message):
        catboost_metric("ndcg", *sets)


def test_pairs_are_renumbered_with_the_rows():
    X, groups, y = (
        np.array([[1.0], [0], [0], [1], [0], [0]]),
        [1, 0, 1, 0, 1, 0],
        [1, 0, 0, 1, 0, 0],
    )
    model = make_catboost_ranker(
        iterations=5, depth=1, learning_rate=0.5, loss_function="PairLogit"
    )
    order = np.array([0, 2, 4, 1, 3, 5])  # query 1 has the first row
    pairs = np.array([[0, 2], [3, 5], [0, 4]])
    moved = np.argsort(order)[pairs]
    expected = clone(model).fit(
        X[order], np.array(y)[order], group_id=np.array(groups)[order], pairs=moved
    )
    ranker = QueryRanker(model).fit(X, y, groups=groups, pairs=pairs)
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))
    assert ranker.predict(X)[0] > ranker.predict(X)[1]
    last = QueryRanker(make_pipeline(StandardScaler(), model))
    last.fit(X, y, groups=groups, catboostranker__pairs=pairs)
    np.testing.assert_array_equal(last.predict(X), expected.predict(X))
    # pairs of omitted queries are omitted too, and so are their weights
    few = QueryRanker(model, max_queries=1, random_state=0)
    few.fit(X, y, groups=groups, pairs=pairs, pairs_weight=[1.0, 2.0, 3.0])
    assert few.predict(X)[0] > few.predict(X)[1]


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("routing", [False, True])
def test_pairs_are_refused_where_folds_number_other_rows(routing, piped):
    X, y, groups = make_ranking(n_queries=20, n_features=3, random_state=0)
    model = make_catboost_ranker(iterations=5, loss_function="PairLogit")
    ranker = QueryRanker(make_pipeline(StandardScaler(), model) if piped else model)
    params = {"catboostranker__pairs" if piped and not routing else "pairs": np.array([[1, 0]])}
    labels = y if routing else pd.Series(y, index=pd.Index(groups, name="qid"))
    ids = {"groups": groups} if routing else {}
    with config_context(enable_metadata_routing=routing):
        ranker.fit(X, y, groups=groups, **params)
        search = GridSearchCV(ranker, {"max_queries": [None]}, scoring="ndcg", cv=QueryKFold(2))
        message = r"(?s)pairs number the rows of the whole data.*fit each fold yourself"
        with pytest.raises(ValueError, match=message):
            search.fit(X, labels, **ids, **params)
        with pytest.raises(ValueError, match=message):
            cross_validate(
                ranker, X, labels, cv=QueryKFold(2), scoring="ndcg", params={**ids, **params}
            )
        with pytest.raises(ValueError, match=message):
            cross_val_query_scores(ranker, X, y, metrics="mrr", groups=groups, params=params)
        none = dict.fromkeys(params)
        cross_val_query_scores(ranker, X, y, metrics="mrr", groups=groups, params=none)
        search.fit(X, labels, **ids)  # CatBoost makes pairs from the labels
    assert search.best_score_ > 0.5


def test_pairs_of_a_subclass_are_refused():
    model = make_catboost_ranker(iterations=5, loss_function="PairLogit")
    subclass = type("Own", (type(model),), {"__module__": "own"})
    X, y, groups = make_ranking(n_queries=20, n_features=3, random_state=0)
    ranker = QueryRanker(subclass(**model.get_params()))
    with pytest.raises(ValueError, match="pairs number the rows of the whole data"):
        cross_val_query_scores(
            ranker, X, y, metrics="mrr", groups=groups, params={"pairs": np.array([[1, 0]])}
        )


def test_a_threshold_applies_to_labels_in_their_own_precision():
    """CatBoost passes 0.1 as a float32, which is above 0.1."""
    metric = catboost_metric("precision@1(threshold=0.1)", (np.array([0.1, 0.0]), [1, 1]))
    passed = np.array([0.1, 0.0], dtype=np.float32)
    assert metric.evaluate([np.array([2.0, 1.0])], passed, None) == (0.0, 1.0)
