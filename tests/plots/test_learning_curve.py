"""Learning curves: scores of held-out queries by number of training queries."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_rankers import LGBM

from sklearn_rankscore import (
    NoGroupsError,
    QueryKFold,
    QueryLearningCurveDisplay,
    QueryRanker,
    cross_val_query_scores,
    make_ranking,
)


@pytest.fixture(scope="module")
def learned():
    return make_ranking(n_queries=30, as_frame=True, random_state=0)


def test_points_are_cross_validated_scores(learned):
    X, y = learned
    models = {str(a): QueryRanker(Ridge(a), random_state=0) for a in (1, 1e4)}
    cv = QueryKFold(3)
    given = {"metric": "mrr", "max_queries": [20, 4], "cv": cv}
    display = QueryLearningCurveDisplay.from_estimator(models, X, y, **given)
    for line, (name, model) in zip(display.lines_, models.items(), strict=True):
        assert line.get_xdata().tolist() == [4, 20]
        for i, n in enumerate((4, 20)):
            sized = QueryRanker(model.estimator, max_queries=n, random_state=0)
            scores = cross_val_query_scores(sized, X, y, metrics="mrr", cv=cv)
            assert line.get_ydata()[i] == pytest.approx(scores.mean()["mrr"])
            assert display.intervals[name][i] == pytest.approx(scores.interval()["mrr"])
        assert model.max_queries is None
    assert display.bands_ == []
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("training queries", "MRR")


@pytest.mark.parametrize(
    ("way", "model"),
    [
        ("column", Ridge()),
        ("array", make_pipeline(StandardScaler(), Ridge())),
        ("name", LGBM),
        ("names", make_pipeline(QueryRanker(LGBM))),
        ("splitter", Ridge()),
    ],
)
def test_models_that_are_not_in_a_query_ranker(learned, model, way):
    X, y = learned
    X, ids = X.drop(columns="qid"), X["qid"].to_numpy()
    given, params = {
        "column": (X.assign(qid=ids), {}),
        "array": (X.to_numpy(), {"groups": ids}),
        "name": (X.assign(session=ids), {"groups": "session"}),
        "names": (X.assign(day=ids // 3, session=ids), {"groups": ["day", "session"]}),
        "splitter": (X.assign(session=ids), {"cv": QueryKFold(3, groups=["session"])}),
    }[way]
    options = {"max_queries": [6, 20], "cv": QueryKFold(3)}
    display = QueryLearningCurveDisplay.from_estimator(
        model, given, y, random_state=0, **options | params
    )
    ranker = model[-1].estimator if hasattr(model, "steps") and len(model) == 1 else model
    expected = QueryLearningCurveDisplay.from_estimator(
        {"wrapped": QueryRanker(ranker, random_state=0)}, X, y, groups=ids, **options
    )
    [name] = display.means
    assert name == ("Ridge" if ranker is not LGBM else type(LGBM).__name__)
    np.testing.assert_allclose(display.means[name], expected.means["wrapped"], rtol=1e-9)


@pytest.mark.parametrize(
    ("max_queries", "cv", "sizes"),
    [
        (None, None, [2, 6, 12, 24]),
        (None, 2, [2, 4, 8, 15]),
        # three folds of 30 queries, of which one tests 16
        ([5, 20, 1000], (range(7), range(7, 14), range(14, 30)), [5, 14]),
    ],
)
def test_sizes_go_up_to_those_on_which_each_fold_trains(learned, max_queries, cv, sizes):
    X, y = learned
    if isinstance(cv, tuple):
        is_test = [X["qid"].isin(queries) for queries in cv]
        cv = iter([(X.index[~test], X.index[test]) for test in is_test])
    model = QueryRanker(Ridge(), random_state=0)
    display = QueryLearningCurveDisplay.from_estimator(model, X, y, max_queries=max_queries, cv=cv)
    assert display.max_queries.tolist() == sizes
    assert len(display.bands_) == 1


def test_refuses_sizes_and_data_without_queries(learned):
    X, y = learned
    draw = QueryLearningCurveDisplay.from_estimator
    model = QueryRanker(Ridge(), random_state=0)
    for sizes, message in (([], "at least one number"), ([0], "max_queries must be")):
        with pytest.raises(ValueError, match=message):
            draw(model, X, y, max_queries=sizes)
    with pytest.raises(NoGroupsError, match="QueryLearningCurveDisplay"):
        draw(model, X.drop(columns="qid"), y)
