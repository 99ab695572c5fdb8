"""Early stopping on held-out queries whose scores start from given ones."""

import numpy as np
import pytest
from requires import requires
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import make_ranker
from training_rounds import best_round, sizes_of

from sklearn_rankscore import QueryRanker, QueryShuffleSplit, make_ranking, ndcg_score

N_ROUNDS = 30
PARAMS = {"lightgbm": "init_score", "xgboost": "base_margin", "catboost": "baseline"}


@pytest.fixture(scope="module")
def rows():
    X, y, q = make_ranking(n_queries=60, random_state=0)
    start = 2.0 * y + 2 * np.random.default_rng(1).standard_normal(len(y))
    return X[:, :8], y, q, start


def native_scores(library, model, train, held_out):
    """Scores of the held-out rows after each round of training."""
    (X, y, q, start), (X_test, _, _, start_test) = train, held_out
    ends = range(1, N_ROUNDS + 1)
    if library == "lightgbm":
        model.fit(X, y, group=sizes_of(q), init_score=start)
        return [start_test + model.predict(X_test, num_iteration=n) for n in ends]
    if library == "xgboost":
        model.fit(X, y, qid=q, base_margin=start)
        return [model.predict(X_test, iteration_range=(0, n), base_margin=start_test) for n in ends]
    pool = requires("catboost").Pool(X_test, group_id=held_out[2], baseline=start_test)
    model.fit(X, y, group_id=q, baseline=start)
    return [model.predict(pool, ntree_end=n) for n in ends]


@pytest.mark.parametrize("piped", [False, True])
def test_held_out_queries_start_from_their_scores(piped, library, rows):
    X, y, q, start = rows
    ((train, test),) = QueryShuffleSplit(1, test_size=12, random_state=0).split(X, qid=q)
    train, test = ([values[chosen] for values in rows] for chosen in (train, test))
    if piped:
        scale = StandardScaler().fit(train[0])
        train[0], test[0] = scale.transform(train[0]), scale.transform(test[0])
    model = make_ranker(library)
    scores = native_scores(library, model, train, test)
    values = [ndcg_score(test[1], score, groups=test[2], k=10) for score in scores]
    expected = best_round(values, N_ROUNDS) + 1
    name = PARAMS[library]
    if piped:
        name = f"{type(model).__name__.lower()}__{name}"
        model = make_pipeline(StandardScaler(), make_ranker(library))
    ranker = QueryRanker(
        model, early_stopping="ndcg@10", validation_fraction=12, n_iter_no_change=N_ROUNDS,
        random_state=0,
    ).fit(X, y, groups=q, **{name: start})  # fmt: skip
    assert ranker.n_iter_ == expected
