"""All displays: every constructor gives the same numbers, and refuses the same."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import sklearn_rankscore as rs
from sklearn_rankscore import NoGroupsError, QueryRanker, QueryScores, make_ranking, query_scores

# what each display of scores is asked for, and the metrics that it needs
METRICS = {
    "CutoffCurveDisplay": ({"metric": "map(threshold=1)", "k": [5, 1]}, ["map@1", "map@5"]),
    "DifferenceCurveDisplay": ({"metric": "map(threshold=1)", "k": [5, 1]}, ["map@1", "map@5"]),
    "ForestDisplay": ({"metric": ["mrr", "map@5"]}, ["mrr", "map@5"]),
    "MeansDisplay": ({"metric": "mrr"}, ["mrr"]),
    "QueryDeltaDisplay": ({"metric": "mrr"}, ["mrr"]),
    "QueryPropertyDisplay": ({"metric": "mrr", "property": "documents"}, ["mrr"]),
    "QueryScatterDisplay": ({"metric": "mrr"}, ["mrr"]),
}
OF_DOCUMENTS = {"LabelScoresDisplay": {}, "RankChangeDisplay": {"query": 3}}
OF_TWO = ["QueryDeltaDisplay", "QueryScatterDisplay", "RankChangeDisplay"]
OF_DIFFERENCES = ["DifferenceCurveDisplay", "ForestDisplay", *OF_TWO[:2]]
SCORES = {n: QueryScores([1, 2], [[0, 1], [1, 0]], ["m@1", "m@2"]) for n in "ab"}


@pytest.fixture(scope="module")
def fitted():
    X, y = make_ranking(n_queries=30, as_frame=True, random_state=0)
    models = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_depth=3, random_state=0)}
    return {name: QueryRanker(model).fit(X, y) for name, model in models.items()}, X, y


def check_same(one, other):
    """The numbers of two displays, whatever they were made from."""
    numbers = {name: v for name, v in vars(one).items() if not name.endswith("_")}
    assert numbers.keys() <= vars(other).keys()
    for name, value in numbers.items():
        np.testing.assert_equal(getattr(other, name), value, name)


@pytest.mark.parametrize("display", [*METRICS, *OF_DOCUMENTS])
def test_constructors_agree(display, fitted):
    """Models, their predictions and the values of queries; ids of any place."""
    models, X, y = fitted
    kind, ids, features = getattr(rs, display), X["qid"], X.drop(columns="qid")
    given, metrics = METRICS.get(display, (OF_DOCUMENTS.get(display), None))
    first = kind.from_estimator(models, X, y, **given)
    check_same(first, kind.from_estimator(models, features, y, groups=ids, **given))
    inner = {name: model.estimator_ for name, model in models.items()}
    by_level = features.set_axis(ids.rename("session"), axis=0)
    check_same(first, kind.from_estimator(inner, by_level, y, groups="session", **given))
    scores = {name: model.predict(X) for name, model in models.items()}
    check_same(first, kind.from_predictions(y, scores, groups=ids, **given))
    if metrics:
        names = [f"{name}(threshold=1)" if "map@" in name else name for name in metrics]
        names = names if "Curve" in display else metrics
        values = query_scores(y, scores, names, groups=ids)
        given = {o: v for o, v in given.items() if o != "k"}
        if display == "QueryPropertyDisplay":
            given["property"] = {"documents of the query": ids.value_counts(sort=False).to_numpy()}
        check_same(first, kind.from_query_scores(values, **given))
    with pytest.raises(NoGroupsError, match=f"No query ids reached {display}"):
        kind.from_estimator(models, features, y)


@pytest.mark.parametrize("display", METRICS)
def test_what_no_display_draws(display):
    property = {"property": [1, 2]} if display == "QueryPropertyDisplay" else {}
    draw = partial(getattr(rs, display).from_query_scores, **property)
    none = {"ValueError": "one model; got an empty", "TypeError": "must be a QueryScores; got a"}
    for systems, error in (({}, ValueError), ([*SCORES.values()], TypeError),
                           ({**SCORES, "b": SCORES["b"].values}, TypeError)):  # fmt: skip
        with pytest.raises(error, match=none[error.__name__]):
            draw(systems)
    with pytest.raises((KeyError, ValueError), match="m@1"):
        draw(SCORES, metric="map")
    if display in OF_DIFFERENCES:
        with pytest.raises(ValueError, match="baseline must be one of 'a', 'b'; got 'x'"):
            draw(SCORES, baseline="x")
        with pytest.raises(ValueError, match=r"two models.* got 1"):
            draw(SCORES["a"])
    else:
        with pytest.raises(TypeError, match="unexpected keyword argument 'baseline'"):
            draw(SCORES, baseline="a")


@pytest.mark.parametrize("display", [*METRICS, *OF_DOCUMENTS])
def test_what_no_display_reads(display):
    draw = getattr(rs, display).from_predictions
    with pytest.raises(ValueError, match="one model; got an empty dict"):
        draw([0, 1], {}, groups=[1, 1])
    given = METRICS.get(display, ({},))[0]
    if display in OF_TWO:
        with pytest.raises(ValueError, match=r"compares two models.*got 3 models"):
            draw([0, 1], {name: [1, 2] for name in "abc"}, groups=[1, 1])
    # by matplotlib, which draws with them, or by compare
    with pytest.raises((AttributeError, TypeError), match="unexpected keyword argument 'max_k'"):
        draw([0, 1], {"a": [1, 2], "b": [2, 1]}, groups=[1, 1], max_k=3, **given)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        *(({"metric": m}, ValueError, "name without a cut-off") for m in ("ndcg@5", "ndcg(k=5)")),
        ({"metric": len}, ValueError, "name without a cut-off"),
        ({"metric": "query_auc"}, ValueError, "no option 'k'"),
        ({"k": []}, ValueError, "metrics is empty"),
        ({"k": 2.5}, TypeError, "k must be an integer of at least 1; got 2.5"),
    ],
)
def test_what_is_no_curve(given, error, message):
    with pytest.raises(error, match=message):
        rs.CutoffCurveDisplay.from_predictions([0, 1], [1, 2], **given)


def test_a_single_model_has_the_name_of_its_class(fitted):
    models, X, y = fitted
    display = rs.MeansDisplay.from_estimator(models["ridge"], X, y)
    assert [*display.means] == ["Ridge"]
    assert [*rs.MeansDisplay.from_predictions([0, 1], [1, 2]).means] == ["model"]
    assert [*rs.MeansDisplay.from_query_scores(SCORES["a"], name="mine").means] == ["mine"]


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys, sklearn_rankscore as rs\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "assert 'require matplotlib' in rs.ranking_report([1, 0], [2, 1]).to_html()\n"
        "rs.CutoffCurveDisplay.from_predictions([0, 1], [1, 2])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: CutoffCurveDisplay needs matplotlib" in done.stderr


def test_a_display_shows_its_settings():
    deltas = rs.QueryDeltaDisplay(deltas=[0.5], metric="ndcg@10", baseline="old", model="new")
    settings = "metric='ndcg@10', baseline='old', model='new', confidence=0.95"
    assert repr(deltas) == f"QueryDeltaDisplay({settings})"
