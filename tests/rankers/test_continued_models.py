"""Early stopping of a model that continues another one."""

import numpy as np
import pytest
from lightgbm import LGBMRanker
from requires import requires
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from small_rankers import make_catboost_ranker
from training_rounds import sizes_of
from xgboost import XGBRanker

from sklearn_rankscore import QueryRanker, make_ranking

NAMES = {"lightgbm": "init_model", "xgboost": "xgb_model", "catboost": "init_model"}
STOPPING = {"early_stopping": "ndcg@10", "n_iter_no_change": 5, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    return make_ranking(n_queries=60, n_features=8, random_state=0)


def make(library, n_rounds, **params):
    if library == "catboost":
        return make_catboost_ranker(
            iterations=n_rounds, learning_rate=0.03, random_seed=0, **params
        )
    model, quiet = {"lightgbm": (LGBMRanker, {"verbose": -1}), "xgboost": (XGBRanker, {})}[library]
    return model(n_estimators=n_rounds, learning_rate=0.03, n_jobs=1, **quiet, **params)


def predict_rounds(library, model, X, n):
    limits = {
        "lightgbm": {"num_iteration": n},
        "xgboost": {"iteration_range": (0, n)},
        "catboost": {"ntree_end": n},
    }
    return model.predict(X, **limits[library])


def total_rounds(library, model):
    if library == "lightgbm":
        return model.booster_.num_trees()
    return model.get_booster().num_boosted_rounds() if library == "xgboost" else model.tree_count_


def bases(library, X, y, q):
    """Models to continue: after all of their rounds, and after early stopping."""
    yield QueryRanker(make(library, 12)).fit(X, y, groups=q).estimator_
    yield QueryRanker(make(library, 40), **STOPPING).fit(X, y, groups=q).estimator_


@pytest.mark.parametrize("stopped", [0, 1])
def test_a_refit_adds_the_rounds_that_early_stopping_found(stopped, library, rows):
    X, y, q = rows
    base = list(bases(library, X, y, q))[stopped]
    n_before, name = total_rounds(library, base), NAMES[library]
    once, again = (
        QueryRanker(make(library, 60), refit_all=refit_all, **STOPPING).fit(
            X, y, groups=q, **{name: base}
        )
        for refit_all in (False, True)
    )
    assert n_before < once.n_iter_ == again.n_iter_ == total_rounds(library, again.estimator_)
    np.testing.assert_array_equal(
        once.predict(X), predict_rounds(library, once.estimator_, X, once.n_iter_)
    )
    model = make(library, once.n_iter_ - n_before)
    ids = {
        "lightgbm": {"group": sizes_of(q)}, "xgboost": {"qid": q}, "catboost": {"group_id": q}
    }[library]  # fmt: skip
    model.fit(X, y, **ids, **{name: base})
    expected = predict_rounds(library, model, X, once.n_iter_)
    np.testing.assert_allclose(again.predict(X), expected, rtol=1e-6)


def test_a_file_of_lightgbm_is_continued(rows, tmp_path):
    X, y, q = rows
    base = next(bases("lightgbm", X, y, q))
    path = tmp_path / "base.txt"
    base.booster_.save_model(path)
    fitted = [
        QueryRanker(make("lightgbm", 60), refit_all=True, **STOPPING).fit(
            X, y, groups=q, init_model=given
        )
        for given in (base, base.booster_, str(path), path)
    ]
    assert {ranker.estimator_.booster_.num_trees() for ranker in fitted} == {fitted[0].n_iter_}


def test_rounds_after_the_best_one_count_if_catboost_uses_them(rows):
    requires("catboost")
    X, y, q = rows
    model = make("catboost", 50, use_best_model=False)
    ranker = QueryRanker(model, **STOPPING).fit(X, y, groups=q)
    assert ranker.n_iter_ == ranker.estimator_.tree_count_ > 1 + ranker.estimator_.best_iteration_


@pytest.mark.parametrize("piped", [False, True])
def test_a_query_ranker_is_continued(piped, library, rows):
    """LightGBM would ignore it, and train from the start."""
    X, y, q = rows
    model, name = make(library, 4), NAMES[library]
    base = QueryRanker(make_pipeline("passthrough", model) if piped else model)
    with pytest.raises(NotFittedError):
        QueryRanker(model).fit(X, y, groups=q, **{name: base})
    base.fit(X, y, groups=q)
    again = QueryRanker(make(library, 3)).fit(X, y, groups=q, **{name: base})
    assert total_rounds(library, again.estimator_) == 7
    by_model = base.estimator_[-1] if piped else base.estimator_
    if piped:  # a pipeline continues a pipeline, of scikit-learn or of QueryRanker
        for given in (base, base.estimator_):
            step = {f"{type(model).__name__.lower()}__{name}": given}
            longer = QueryRanker(make_pipeline("passthrough", make(library, 3)))
            longer.fit(X, y, groups=q, **step)
            assert total_rounds(library, longer.estimator_[-1]) == 7
    expected = QueryRanker(make(library, 3)).fit(X, y, groups=q, **{name: by_model})
    first_rounds = predict_rounds(library, expected.estimator_, X, 4)
    np.testing.assert_array_equal(predict_rounds(library, again.estimator_, X, 4), first_rounds)
    np.testing.assert_array_equal(first_rounds, base.predict(X))
