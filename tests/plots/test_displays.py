"""Displays: from estimators, what they refuse, and when matplotlib is needed."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_rankscore import (
    CutoffCurveDisplay,
    ForestDisplay,
    NoGroupsError,
    QueryDeltaDisplay,
    QueryPropertyDisplay,
    QueryRanker,
    QueryScatterDisplay,
    QueryScores,
    RankChangeDisplay,
    evaluate,
    make_ranking,
)


def test_from_estimator_finds_the_ids():
    X, y = make_ranking(n_queries=40, as_frame=True, random_state=0)
    given = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_depth=3, random_state=0)}
    models = {name: QueryRanker(model).fit(X, y) for name, model in given.items()}
    curve = CutoffCurveDisplay.from_estimator(models, X, y, k=[1, 10])
    expected = evaluate(y, models["ridge"].predict(X), ["ndcg@1", "ndcg@10"], groups=X["qid"])
    np.testing.assert_allclose(curve.means["ridge"], list(expected.values()))
    single = CutoffCurveDisplay.from_estimator(models["ridge"], X, y)
    assert [text.get_text() for text in single.ax_.get_legend().get_texts()] == ["Ridge"]
    delta = QueryDeltaDisplay.from_estimator(models, X, y, metric="mrr")
    assert delta.ax_.get_ylabel() == "difference in MRR"
    features = X.drop(columns="qid")
    again = QueryDeltaDisplay.from_estimator(models, features, y, groups=X["qid"], metric="mrr")
    np.testing.assert_array_equal(again.deltas, delta.deltas)
    by_name = QueryDeltaDisplay.from_estimator(
        {name: model.estimator_ for name, model in models.items()},
        features.set_axis(X["qid"].rename("session"), axis=0),
        y, groups="session", metric="mrr",
    )  # fmt: skip
    np.testing.assert_array_equal(by_name.deltas, delta.deltas)
    with pytest.raises(NoGroupsError, match="No query ids reached CutoffCurveDisplay"):
        CutoffCurveDisplay.from_estimator(models, features, y)


@pytest.mark.parametrize(
    ("display", "given", "error", "message"),
    [
        *(
            (CutoffCurveDisplay, {"metric": m}, ValueError, "name of a metric without a cut-off")
            for m in ("ndcg@5", "ndcg(k=5)", len)
        ),
        (CutoffCurveDisplay, {"metric": "query_auc"}, ValueError, "no option 'k'"),
        (CutoffCurveDisplay, {"k": []}, ValueError, "metrics is empty"),
        (CutoffCurveDisplay, {"k": 2.5}, TypeError, "k must be an integer of at least 1; got 2.5"),
        (CutoffCurveDisplay, {"y_score": {}}, ValueError, "at least one model; got an empty dict"),
        (
            QueryDeltaDisplay, {"y_score": {name: [1, 2] for name in "abc"}}, ValueError,
            "compares two models.*got 3 models",
        ),
        (QueryDeltaDisplay, {"baseline": "x"}, ValueError, "baseline must be one of"),
    ],
)  # fmt: skip
def test_refuses_what_it_cannot_draw(display, given, error, message):
    both = {"y_true": [0, 1], "y_score": {"a": [1, 2], "b": [1, 2]}, "groups": [1, 1]}
    with pytest.raises(error, match=message):
        display.from_predictions(**both | given)


@pytest.mark.parametrize(
    "display", [CutoffCurveDisplay, ForestDisplay, QueryPropertyDisplay, QueryDeltaDisplay]
)
def test_refuses_what_are_no_scores_by_name(display):
    scores = QueryScores([1, 2], [[0, 1], [1, 0]], ["m@1", "m@2"])
    with pytest.raises(ValueError, match=r"one model; got an empty|at least two models; got 0"):
        display.from_query_scores({})
    with pytest.raises(TypeError, match=r"got a list|two models: .* got list"):
        display.from_query_scores([scores, scores])
    with pytest.raises(TypeError, match=r"systems\['b'\] must be a QueryScores; got a ndarray"):
        display.from_query_scores({"a": scores, "b": scores.values})


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys, sklearn_rankscore as rs\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "rs.CutoffCurveDisplay.from_predictions([0, 1], [1, 2])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: CutoffCurveDisplay needs matplotlib" in done.stderr


def test_a_display_shows_its_settings():
    deltas = QueryDeltaDisplay(deltas=[0.5, -0.25], metric="ndcg@10", baseline="old", model="new")
    settings = "metric='ndcg@10', baseline='old', model='new', confidence=0.95"
    assert repr(deltas) == f"QueryDeltaDisplay({settings})"


@pytest.mark.parametrize(
    "display", [CutoffCurveDisplay, QueryDeltaDisplay, QueryScatterDisplay, RankChangeDisplay]
)
def test_unknown_arguments_are_refused_by_name(display):
    """By matplotlib, which draws with them."""
    with pytest.raises(AttributeError, match="unexpected keyword argument 'max_k'"):
        display.from_predictions([0, 1], {"a": [1, 2], "b": [2, 1]}, groups=[1, 1], max_k=3)
