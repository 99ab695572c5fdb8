"""All displays: every constructor gives the same numbers, and refuses the same."""

import numpy as np
import pytest
from query_values import scores_of
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import sklearn_rankscore as rs
from sklearn_rankscore import NoGroupsError, QueryRanker, compare, make_ranking, query_scores

# what each display of scores is asked for, and the metrics that it needs
CURVES = ["CutoffCurveDisplay", "DifferenceCurveDisplay"]
OF_TWO = ["QueryDeltaDisplay", "QueryScatterDisplay", "RankChangeDisplay"]
NAMES = ["map@1(threshold=1)", "map@5(threshold=1)"]
METRICS = {
    **dict.fromkeys(CURVES, ({"metric": "map(threshold=1)", "k": [5, 1]}, NAMES)),
    **dict.fromkeys(["MeansDisplay", *OF_TWO[:2]], ({"metric": "mrr"}, ["mrr"])),
    "ForestDisplay": ({"metric": ["mrr", "map@5"]}, ["mrr", "map@5"]),
    "QueryPropertyDisplay": ({"metric": "mrr", "property": "documents"}, ["mrr"]),
}
OF_DOCUMENTS = {"LabelScoresDisplay": {}, "RankChangeDisplay": {"query": 3}}
OF_DIFFERENCES = ["DifferenceCurveDisplay", "ForestDisplay", *OF_TWO[:2]]
ALL = [*METRICS, *OF_DOCUMENTS]
SCORES = {n: scores_of([[0, 1], [1, 0]], ["m@1", "m@2"], ids=[1, 2]) for n in "ab"}


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


@pytest.mark.parametrize("display", ALL)
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
        values = query_scores(y, scores, metrics, groups=ids)
        given = {o: v for o, v in given.items() if o != "k"}
        if display == "QueryPropertyDisplay":
            given["property"] = {"documents of the query": ids.value_counts(sort=False).to_numpy()}
        check_same(first, kind.from_query_scores(values, **given))
    with pytest.raises(NoGroupsError, match=f"No query ids reached {display}"):
        kind.from_estimator(models, features, y)


PAIR, TWO_COLUMNS = {"a": [1, 2, 3], "b": [3, 2, 1]}, {"a": [5, 6], "b": [3, 4]}
MIXED = {**SCORES, "b": SCORES["b"].values}
OTHER = {**SCORES, "b": scores_of([[0, 1], [1, 0]], ["m@1", "m@2"], ids=[1, 3])}
UNDEFINED = {name: scores_of([np.nan], ["m"]) for name in "ab"}
PREDICTIONS, VALUES, MODEL = "from_predictions", "from_query_scores", "from_estimator"
PROPERTY, CHANGES, FOREST = "QueryPropertyDisplay", "RankChangeDisplay", "ForestDisplay"
LEARNING, IMPORTANCE = "QueryLearningCurveDisplay", "FeatureImportanceDisplay"
X, Y = make_ranking(5, 3, as_frame=True, random_state=0)
FITTED = [QueryRanker(Ridge()).fit(X, Y), X, Y]
TWO, THREE = [[0, 1], [1, 2]], [[1, 0, 0], PAIR]
NONE_RETRIEVED = [[1, 0], dict.fromkeys("ab", [-np.inf] * 2)]
# by display: the constructor, its positional arguments, others, and the message
REFUSED = [
    *((d, PREDICTIONS, [[1, 0, 0], {}], {}, "one model; got an empty dict") for d in ALL),
    # by matplotlib, which draws with them, or by compare
    *((d, PREDICTIONS, THREE, {"max_k": 3}, "keyword argument 'max_k'") for d in ALL),
    *((d, VALUES, [{}], {}, "one model; got an empty dict") for d in METRICS),
    *((d, VALUES, [[*SCORES.values()]], {}, "be a QueryScores; got a list") for d in METRICS),
    *((d, VALUES, [MIXED], {}, "must be a QueryScores; got a ndarray") for d in METRICS),
    *((d, VALUES, [SCORES], {"metric": "map"}, "m@1") for d in METRICS),
    *((d, PREDICTIONS, [[1, 0, 0], {**PAIR, "c": PAIR["a"]}], {}, "two models.*got 3 models")
      for d in OF_TWO),
    *((d, VALUES, [SCORES], {"baseline": "x"}, "baseline must be one of 'a', 'b'; got 'x'")
      for d in OF_DIFFERENCES),
    *((d, VALUES, [SCORES["a"]], {}, "two models.* got 1") for d in OF_DIFFERENCES),
    *((d, VALUES, [SCORES], {"baseline": "a"}, "unexpected keyword argument 'baseline'")
      for d in METRICS if d not in OF_DIFFERENCES),
    *((d, VALUES, [UNDEFINED], {}, "no query to plot: 'm' must be def") for d in OF_TWO[:2]),
    *((d, PREDICTIONS, TWO, {"metric": metric}, "name without a cut-off")
      for d in CURVES for metric in ("ndcg@5", "ndcg(k=5)", len)),
    *((d, PREDICTIONS, TWO, {"metric": "query_auc"}, "no option 'k'") for d in CURVES),
    *((d, PREDICTIONS, TWO, {"k": []}, "metrics is empty") for d in CURVES),
    *((d, PREDICTIONS, TWO, {"k": 2.5}, "k must be an integer .*; got 2.5") for d in CURVES),
    *((d, VALUES, [UNDEFINED], {"metric": "m"}, "needs 'm' at two cut-offs .* m") for d in CURVES),
    (PROPERTY, PREDICTIONS, TWO, {"property": "length"}, "property must be one of"),
    (PROPERTY, VALUES, [SCORES, TWO_COLUMNS], {}, "property must be a single column; got a, b"),
    (PROPERTY, VALUES, [OTHER], {}, "must be measured on the same queries"),
    ("LabelScoresDisplay", PREDICTIONS, TWO, {"scale": "rank"}, "scale must be one"),
    (CHANGES, PREDICTIONS, THREE, {"groups": [1, 1, 2], "query": None}, "ids, 1, 2; got None"),
    (CHANGES, PREDICTIONS, THREE, {"names": ["x"]}, r"inconsistent numbers of samples: \[3, 1\]"),
    (CHANGES, PREDICTIONS, NONE_RETRIEVED, {}, "neither system retrieved a .* for query 3"),
    (FOREST, "from_comparison", [compare(SCORES, test="t")], {"metric": "map"}, "no metric 'map'"),
    (FOREST, "from_comparison", [SCORES], {}, "pass the result of compare; got a dict"),
    (IMPORTANCE, "from_importances", [SCORES["a"]], {}, r"ion_importance; got QueryScores\."),
    (IMPORTANCE, MODEL, FITTED, {"max_features": 0}, "max_features must be an integer of"),
    (LEARNING, MODEL, [Ridge(), X.to_numpy(), Y], {}, "ids reached QueryLearningCurveDisplay"),
    (LEARNING, MODEL, FITTED, {"max_queries": []}, "at least one number"),
    (LEARNING, MODEL, FITTED, {"max_queries": [0]}, "max_queries must be"),
]  # fmt: skip
DEFAULTS = {
    ("QueryPropertyDisplay", VALUES): {"property": [1, 2]},
    ("RankChangeDisplay", PREDICTIONS): {"query": 3},
}


@pytest.mark.parametrize(("display", "constructor", "args", "given", "message"), REFUSED)
def test_refusals(display, constructor, args, given, message):
    if constructor == PREDICTIONS:
        given = {"groups": [3] * len(args[0]), **given}
    if len(args) == 1 or constructor == PREDICTIONS:
        given = {**DEFAULTS.get((display, constructor), {}), **given}
    with pytest.raises((AttributeError, KeyError, TypeError, ValueError), match=message):
        getattr(getattr(rs, display), constructor)(*args, **given)


def test_a_single_model_has_the_name_of_its_class(fitted):
    models, X, y = fitted
    display = rs.MeansDisplay.from_estimator(models["ridge"], X, y)
    assert [*display.means] == ["Ridge"]
    assert [*rs.MeansDisplay.from_predictions([0, 1], [1, 2]).means] == ["model"]
    assert [*rs.MeansDisplay.from_query_scores(SCORES["a"], name="mine").means] == ["mine"]


def test_a_display_shows_its_settings():
    deltas = rs.QueryDeltaDisplay(deltas=[0.5], metric="ndcg@10", baseline="old", model="new")
    settings = "metric='ndcg@10', baseline='old', model='new', confidence=0.95"
    assert repr(deltas) == f"QueryDeltaDisplay({settings})"
