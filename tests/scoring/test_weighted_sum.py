"""Weighted sums of metrics as one scorer."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryRanker,
    make_ranking_scorer,
    make_weighted_scorer,
    ndcg_score,
    recall_at_k,
)

OTTO = {"clicks": 0.10, "carts": 0.30, "orders": 0.60}
N_SESSIONS, N_ITEMS = 30, 40
rng = np.random.default_rng(0)
SESSION = np.repeat(np.arange(N_SESSIONS), N_ITEMS)
SHARES = {"clicks": 0.7, "carts": 0.2, "orders": 0.05}
TARGETS = {name: rng.random(len(SESSION)) < share for name, share in SHARES.items()}
SCORE = rng.normal(size=len(SESSION)) + TARGETS["orders"] + TARGETS["clicks"]
NOISE = rng.normal(size=len(SESSION))
X = pd.DataFrame({"qid": SESSION, "a": SCORE, "b": NOISE, **TARGETS})
Y = TARGETS["clicks"].astype(int)
NAMES = {name: f"recall@20(target={name},denominator=min,average=micro)" for name in OTTO}
SCORER = make_weighted_scorer({NAMES[name]: weight for name, weight in OTTO.items()})


class Column(RegressorMixin, BaseEstimator):
    """Scores documents by a column, and counts how often it is asked."""

    calls = 0

    def fit(self, X, y, groups=None):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        type(self).calls += 1
        return np.asarray(X["a"])


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
    rows = np.arange(len(SESSION))
    assert SCORER(Column(), X, Y) == pytest.approx(otto_score(rows), rel=1e-12)
    folds = list(QueryKFold(3).split(X))
    scores = cross_val_score(Column(), X, Y, scoring=SCORER, cv=folds)
    np.testing.assert_allclose(scores, [otto_score(test) for _, test in folds], rtol=1e-12)


def test_parts_beside_the_sum():
    scores = cross_validate(Column(), X, Y, scoring=SCORER.with_parts(), cv=QueryKFold(3))
    parts = [OTTO[name] * scores[f"test_{NAMES[name]}"] for name in OTTO]
    np.testing.assert_allclose(scores["test_weighted_sum"], np.sum(parts, axis=0), rtol=1e-12)
    for name in OTTO:
        alone = cross_val_score(Column(), X, Y, scoring=NAMES[name], cv=QueryKFold(3))
        np.testing.assert_array_equal(scores[f"test_{NAMES[name]}"], alone)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_shows_whole_and_parts(n_jobs):
    search = GridSearchCV(
        QueryRanker(Ridge(), drop_columns=list(OTTO)), {"estimator__alpha": [1, 1e6]},
        scoring=SCORER.with_parts(), refit="weighted_sum", cv=QueryKFold(2), n_jobs=n_jobs,
    )  # fmt: skip
    results = search.fit(X, Y).cv_results_
    parts = [OTTO[name] * results[f"mean_test_{NAMES[name]}"] for name in OTTO]
    np.testing.assert_allclose(results["mean_test_weighted_sum"], np.sum(parts, axis=0))
    whole = GridSearchCV(search.estimator, search.param_grid, scoring=SCORER, cv=QueryKFold(2))
    assert whole.fit(X, Y).best_score_ == pytest.approx(search.best_score_)


def test_one_prediction_for_all_parts():
    before = Column.calls
    SCORER(Column(), X, Y)
    assert Column.calls == before + 1


def test_query_ids_of_every_kind():
    expected = SCORER(Column(), X, Y)
    frame = X.drop(columns="qid")
    assert SCORER(Column(), frame, Y, groups=SESSION) == expected
    assert SCORER.with_ids(SESSION)(Column(), frame, Y) == expected
    assert SCORER(Column(), X.set_index("qid"), Y) == expected
    assert pickle.loads(pickle.dumps(SCORER))(Column(), X, Y) == expected
    passed = cross_val_score(Column(), frame, Y, groups=SESSION, scoring=SCORER, cv=QueryKFold(3))
    np.testing.assert_array_equal(
        passed, cross_val_score(Column(), X, Y, scoring=SCORER, cv=QueryKFold(3))
    )
    with pytest.raises(NoGroupsError):
        cross_val_score(Column(), frame, Y, scoring=SCORER)
    with config_context(enable_metadata_routing=True):
        routed = cross_val_score(
            Column().set_fit_request(groups=False), frame, Y, scoring=SCORER, cv=QueryKFold(3),
            params={"groups": SESSION},
        )  # fmt: skip
    np.testing.assert_array_equal(routed, passed)
    named = make_weighted_scorer({"recall@20": 1, "mrr": 2}, groups="session")
    assert named(Column(), X.rename(columns={"qid": "session"}), Y) == make_weighted_scorer(
        {"recall@20": 1, "mrr": 2}
    )(Column(), X, Y)


def test_labels_without_X():
    y = pd.Series(Y, pd.Index(SESSION, name="qid"))
    scorer = make_weighted_scorer({"recall@5": 2, make_ranking_scorer("hits", k=3): 0.5})
    parts = [make_ranking_scorer(name).score_labels(y, SCORE) for name in ("recall@5", "hits@3")]
    assert scorer.score_labels(y, SCORE) == pytest.approx(2 * parts[0] + 0.5 * parts[1])


def target_share(block):
    """A metric whose name contains that of a place."""
    return block.by_rank(lambda labels: labels)[:, 0]


def test_names_of_parts():
    scorer = make_weighted_scorer(
        {recall_at_k: 1, make_ranking_scorer("dcg", k=3, propensity="seen", target="orders"): 1,
         "mrr": 3}
    )  # fmt: skip
    assert list(scorer.parts) == ["recall", "dcg(propensity=seen,target=orders,k=3)", "mrr"]
    persistence = [make_ranking_scorer("rbp", p=p) for p in (0.5, 0.9)]
    assert list(make_weighted_scorer(dict.fromkeys(persistence, 1)).parts) == [
        "rbp(p=0.5)",
        "rbp(p=0.9)",
    ]
    names = [
        make_ranking_scorer("ndcg(gain=linear)", k=5),
        make_ranking_scorer(partial(ndcg_score, gain="exponential"), target="orders"),
        make_ranking_scorer(target_share, target="orders"),
    ]
    assert [part.name for part in names] == [
        "ndcg(gain=linear,k=5)",
        "ndcg(target=orders,gain=exponential)",
        "target_share(target=orders)",
    ]
    assert repr(names[2]) == f"make_ranking_scorer({target_share!r}, target='orders')"
    assert repr(make_ranking_scorer("recall@5(target=orders)", propensity="p")) == (
        "make_ranking_scorer('recall@5(target=orders)', propensity='p')"
    )
    assert repr(make_weighted_scorer({"mrr": 3})) == (
        "make_weighted_scorer({make_ranking_scorer('mrr'): 3.0})"
    )


def test_a_part_reads_ids_where_the_sum_does():
    part = make_ranking_scorer("mrr")
    data = Column(), X.rename(columns={"qid": "session"}).assign(user=SESSION // 2), Y
    for place in ("session", "user", ["session", "user"]):
        scorer = make_weighted_scorer({part: 1.0}, groups=place)
        assert scorer(*data) == make_ranking_scorer("mrr", groups=place)(*data)
    assert part.groups is None
    named = make_ranking_scorer("recall@5", groups="user")
    assert make_weighted_scorer({named: 1, part: 1}, groups="user")(*data) == pytest.approx(
        named(*data) + make_ranking_scorer("mrr", groups="user")(*data)
    )


def weighted_sum(block):
    """A metric with the name that the sum has among its parts."""
    return block.by_rank(lambda labels: labels)[:, 0]


REFUSED = [
    ({}, {}, ValueError, "weights is empty"),
    (["mrr"], {}, TypeError, "weights must be a dict that maps each metric to its weight.* list"),
    ({"mrr": 0}, {}, ValueError, "the weight of 'mrr' must be above 0; got 0"),
    ({"mrr": -1}, {}, ValueError, "above 0; got -1"),
    ({"mrr": np.nan}, {}, ValueError, "the weight of 'mrr' must be finite"),
    ({"mrr": "1"}, {}, TypeError, "the weight of 'mrr' must be a number"),
    ({"mrrr": 1}, {}, ValueError, "'mrrr' is not a known metric"),
    ({"mrr": 1, make_ranking_scorer("mrr"): 1}, {}, ValueError, "names 'mrr' twice"),
    ({"mrr(groups=a)": 1, "ndcg": 1}, {}, ValueError, "from one place; got .'a', None."),
    ({"mrr(groups=a)": 1}, {"groups": "b"}, ValueError, "from one place; got .'b', 'a'."),
    (
        {make_ranking_scorer("mrr", groups="a"): 1},
        {"groups": ["b", "c"]},
        ValueError,
        r"from one place; got \[\('b', 'c'\), 'a'\]\. Give groups= to the sum",
    ),
    ({weighted_sum: 1}, {}, ValueError, "'weighted_sum' is the name of the sum itself; give"),
    ({SCORER: 1}, {}, TypeError, "must be a single metric"),
]


@pytest.mark.parametrize(("weights", "options", "error", "message"), REFUSED)
def test_refused(weights, options, error, message):
    with pytest.raises(error, match=message):
        make_weighted_scorer(weights, **options)


def test_faults_of_parts_are_found_before_the_first_fit():
    search = GridSearchCV(Ridge(), {}, scoring=SCORER, cv=QueryKFold(2))
    with pytest.raises(ValueError, match="target='carts' is neither a column"):
        search.fit(X.drop(columns="carts").set_index(["clicks", "orders"]), Y, groups=SESSION)
    with pytest.raises(ValueError, match="column 'clicks' of X, which is the target"):
        search.fit(X, Y)


def test_one_target_for_all_parts_is_refused():
    for call in (SCORER, lambda _, __, y, target: SCORER.score_labels(y, SCORE, target=target)):
        with pytest.raises(ValueError, match="takes no target for all of its parts"):
            call(Column(), X, Y, target=Y)
