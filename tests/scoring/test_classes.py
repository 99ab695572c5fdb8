"""Labels that are classes, and estimators of every response, in metric functions and scorers."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from frames import pa, pl
from sklearn import model_selection as ms
from sklearn.datasets import load_iris, make_classification, make_multilabel_classification
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifierCV
from sklearn.metrics import check_scoring, get_scorer, make_scorer, top_k_accuracy_score
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import sklearn_rankscore as rs

COUNTRIES = np.array(["CN", "FR", "OTHER", "US"])
RNG = np.random.default_rng(0)
TRUTH, SCORES = RNG.choice(COUNTRIES, 30), RNG.integers(0, 4, (30, 4)) / 4
HOT = (TRUTH[:, None] == COUNTRIES).astype(int)
METRICS = [
    function
    for name, function in vars(rs).items()
    if name.endswith(("_score", "_at_k")) and "labels" in inspect.signature(function).parameters
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_a_class_is_the_relevant_one_of_its_row(metric):
    values = metric(TRUTH, SCORES, labels=COUNTRIES, average=None)
    np.testing.assert_array_equal(values, metric(HOT, SCORES, average=None))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_equals_scikit_learn(k):
    scores = RNG.random((30, 4))
    assert rs.hit_rate_at_k(TRUTH, scores, k=k) == top_k_accuracy_score(TRUTH, scores, k=k)
    assert rs.ndcg_score(TRUTH, scores, k=k) == pytest.approx(sklearn_ndcg_score(HOT, scores, k=k))


COLUMNS = {
    "list": list,
    "pandas": pd.Series,
    "pandas categories": lambda t: pd.Series(t, dtype="category"),
    "polars": lambda t: pl.Series(t.tolist()),
    "pyarrow": lambda t: pa.array(t.tolist()).dictionary_encode(),
    "objects": lambda t: t.astype(object),
}


@pytest.mark.parametrize("form", COLUMNS)
def test_classes_of_every_library_in_any_order_of_the_columns(form):
    labels, order, expected = COLUMNS[form](TRUTH), [2, 0, 3, 1], rs.mrr_score(HOT, SCORES)
    assert rs.mrr_score(labels, pd.DataFrame(SCORES)) == expected
    given = labels, SCORES[:, order]
    reordered = {"labels": COUNTRIES[order].tolist()}
    assert rs.mrr_score(*given, **reordered) == pytest.approx(expected)
    assert rs.evaluate(*given, "mrr", **reordered)["mrr"] == pytest.approx(expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_of_class_scores_in_another_order_are_refused(frame):
    labels, scores = ["a", "a", "b"], frame({"b": [0.1, 0.2, 0.1], "a": [0.9, 0.8, 0.9]})
    for classes in (None, ["a", "b"]):
        with pytest.raises(ValueError, match=r"are b, a, but .* labels=list\(y_score.columns\)"):
            rs.mrr_score(labels, scores, labels=classes)
    # the classes rank first, first and second
    assert rs.mrr_score(labels, scores, labels=list(scores.columns)) == pytest.approx(2.5 / 3)
    assert rs.mrr_score(labels, scores[["a", "b"]]) == pytest.approx(2.5 / 3)


X, GRADES, IDS = rs.make_ranking(n_queries=40, random_state=0)
RELEVANT, CV = (GRADES > 1).astype(int), rs.QueryKFold(2)
INDEXED = pd.DataFrame(X, pd.Index(IDS, name="qid"))
IN_ROWS, BY_IDS = get_scorer("ndcg@3(groups=rows)"), get_scorer("ndcg@3")


def scores(model, labels, rows=INDEXED, scoring="ndcg@5", cv=CV):
    return ms.cross_val_score(model, rows, labels, scoring=scoring, cv=cv, error_score="raise")


class DuckTyped:
    """A model of no base class of scikit-learn."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def expected_grade(model, X):
    return model.predict_proba(X) @ model.classes_


def second_class(model, X):
    return model.predict_proba(X)[:, 1]


def decision(model, X):
    return model.decision_function(X)


def prediction(model, X):
    return model.predict(X)


TREE = DecisionTreeClassifier(random_state=0, max_depth=3)
VOTE = VotingClassifier([("a", LogisticRegression(max_iter=1000)), ("b", TREE)])
# an estimator, its labels, and its scores of documents
RESPONSES = [
    (Ridge(), GRADES, prediction),
    (DuckTyped(), GRADES, prediction),
    (IsolationForest(n_estimators=10, random_state=0), GRADES, decision),
    (LogisticRegression(), RELEVANT, decision),
    (LinearSVC(), RELEVANT, decision),
    (GaussianNB(), RELEVANT, second_class),
    (TREE, RELEVANT, second_class),
    (VOTE, RELEVANT, prediction),
    (LogisticRegression(max_iter=1000), GRADES, expected_grade),
    (GaussianNB(), GRADES, expected_grade),
    (LinearSVC(), GRADES, prediction),
]


@pytest.mark.parametrize(("model", "labels", "respond"), RESPONSES)
# scikit-learn 1.7 asks for the tags of DuckTyped
@pytest.mark.filterwarnings("ignore:The following error was raised:DeprecationWarning")
def test_what_scores_documents(model, labels, respond):
    fitted, names = model.fit(X, labels), ["ndcg@5", "map(threshold=0)", "spearman"]
    values = rs.evaluate(labels, respond(fitted, X), names, groups=IDS)
    for name, expected in values.items():
        assert get_scorer(name)(fitted, X, labels, groups=IDS) == pytest.approx(expected)
    if not isinstance(model, DuckTyped):
        several = check_scoring(model, scoring=names)
        assert several(fitted, X, pd.Series(labels, INDEXED.index)) == pytest.approx(values)


@pytest.mark.parametrize("model", [Ridge(), LinearRegression(), rs.QueryRanker(Ridge())], ids=type)
def test_a_column_of_labels_is_raveled_with_a_warning(model):
    """LinearRegression that was fitted to a column predicts one."""
    column, expected = pd.DataFrame({"rel": GRADES}, INDEXED.index), scores(model, GRADES)
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        values = scores(model, column)
    np.testing.assert_allclose(values, expected)


@pytest.mark.parametrize("model", [HistGradientBoostingClassifier(), TREE], ids=type)
def test_a_fold_that_was_trained_on_one_class_has_tied_scores(model):
    is_good, ids = np.array([0, 0, 0, 1] * 3 + [0] * 12), np.repeat(np.arange(6), 4)
    rows, labels = pd.DataFrame(X[:24], pd.Index(ids, name="qid")), np.array([2, 5])[is_good]
    expected = pytest.approx(rs.ndcg_score(labels[:12], np.zeros(12), groups=ids[:12], k=5))
    cv = [(np.arange(12, 24), np.arange(12))]
    for estimator in (model, rs.QueryRanker(model)):
        several = ms.cross_validate(estimator, rows, labels, scoring=["ndcg@5", "mrr"], cv=cv)
        assert several["test_ndcg@5"] == expected
        assert scores(estimator, labels, rows, cv=cv) == expected


@pytest.mark.parametrize("wrap", [lambda model: model, rs.QueryRanker], ids=["plain", "ranker"])
def test_equal_votes_are_ties(wrap):
    """The mean grade of neighbors, which a regressor computes from their grades."""
    by_hand = scores(KNeighborsRegressor(7), GRADES, INDEXED[[0, 1]])
    values = scores(wrap(KNeighborsClassifier(7)), GRADES, INDEXED[[0, 1]])
    np.testing.assert_allclose(values, by_hand, rtol=1e-12)


FEATURES, CLASSES = make_classification(300, n_informative=6, n_classes=4, random_state=0)
TO = COUNTRIES[CLASSES]
LINEAR = LogisticRegression(max_iter=500)


@pytest.mark.parametrize("model", [LINEAR, GaussianNB(), LinearSVC(), SVC()], ids=type)
def test_without_ids_each_row_ranks_its_classes(model):
    method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    response = ms.cross_val_predict(model, FEATURES, TO, method=method, cv=3)
    expected = pytest.approx(rs.ndcg_score(TO, response, labels=COUNTRIES, k=3), rel=1e-12)
    assert scores(model, TO, FEATURES, "ndcg@3", 3).mean() == expected
    names = ["ndcg@3(groups=rows)", "mrr(groups=rows)", "accuracy"]
    several = ms.cross_validate(model, FEATURES, TO, scoring=names, cv=3)
    assert several["test_ndcg@3(groups=rows)"].mean() == expected


@pytest.mark.parametrize("undefined", [0, np.nan])
def test_a_class_absent_from_training_is_not_retrieved(undefined):
    seen = TO != "OTHER"
    model = GaussianNB().fit(FEATURES[seen], TO[seen])
    scorer = rs.make_ranking_scorer("mrr", replace_undefined_by=undefined)
    expected = scorer(model, FEATURES[seen], TO[seen]) * seen.mean()
    assert scorer(model, FEATURES, TO) == pytest.approx(expected, rel=1e-12)


def test_a_label_that_is_constant_in_training():
    rows, y = make_multilabel_classification(200, random_state=0, n_classes=4)
    y[:, 1], y[:60, 2], y[-3:, 1] = 0, 1, 1
    model = RandomForestClassifier(5, random_state=0).fit(rows[:60], y[:60])
    columns = model.predict_proba(rows[60:])
    assert [column.shape[1] for column in columns] == [2, 1, 1, 2]
    known = [columns[0][:, 1], np.zeros(140), np.ones(140), columns[3][:, 1]]
    score = rs.make_ranking_scorer("ndcg@2")(model, rows[60:], y[60:])
    assert score == pytest.approx(rs.ndcg_score(y[60:], np.column_stack(known), k=2))


def test_classes_that_are_numbers_are_ranked_with_a_warning():
    """A classifier of grades ranks documents if there are ids, and its classes if not."""
    model = GaussianNB().fit(X, GRADES)
    of_rows = rs.ndcg_score(GRADES, model.predict_proba(X), labels=model.classes_, k=3)
    of_documents = rs.ndcg_score(GRADES, expected_grade(model, X), groups=IDS, k=3)
    assert of_rows != pytest.approx(of_documents, abs=0.01)
    message = r"each row ranked its \d classes.*grades.*query ids.*write 'ndcg\(groups=rows\)'"
    for call in (
        lambda: get_scorer("ndcg@3")(model, X, GRADES),
        lambda: scores(model, GRADES, X, "ndcg@3", 2),
    ):
        with pytest.warns(UserWarning, match=message) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert BY_IDS(model, X, GRADES) == pytest.approx(of_rows)
    for rows in (X, INDEXED):  # ids in the data are not asked for
        assert IN_ROWS(model, rows, GRADES) == pytest.approx(of_rows)
        scores(model, GRADES, rows, IN_ROWS, ms.KFold(2))
    assert BY_IDS(model, X, GRADES, groups=IDS) == pytest.approx(of_documents)
    assert BY_IDS(model, INDEXED, GRADES) == pytest.approx(of_documents)


def of_classes(truth, labels):
    return lambda: rs.ndcg_score(truth, [[1, 2, 3], [3, 2, 1]], labels=labels)


WORDS = COUNTRIES[np.minimum(GRADES, 3)]
NEVER, BY_FUNCTION = LogisticRegression(C="fitted"), make_scorer(rs.ndcg_score)
# with three classes it has three pairs, and so as many columns as classes
IRIS, PAIRS = load_iris(return_X_y=True), SVC(decision_function_shape="ovo")
LEAVE_ONE_OUT = rs.QueryRanker(RidgeClassifierCV(scoring="ndcg@3"))
REFUSED = [
    # classes that labels= does not name
    ("the class .*1.*, which labels= does not name; .*'1', '2'", of_classes([1, 2], list("123"))),
    ("holds the class .*nan", of_classes([1, np.nan], [1, 2, 3])),
    ("holds the class None", of_classes(["a", None], list("abc"))),
    # what a scorer that ranks classes cannot rank
    ("No query ids reached the metric 'ndcg@3'",
     lambda: BY_IDS(GaussianNB().fit(X, RELEVANT), X, RELEVANT)),
    ("No query ids reached", lambda: scores(LinearRegression(), GRADES[:, None], X, cv=3)),
    ("Ridge returns one score per row", lambda: IN_ROWS(Ridge().fit(X, GRADES), X, GRADES)),
    (r"each row would rank one class\. .*cv=QueryKFold\(5\)",
     lambda: LEAVE_ONE_OUT.fit(INDEXED, RELEVANT)),
    *(("decision_function_shape='ovo' gives one per pair",
       lambda model=model: scores(model, IRIS[1], IRIS[0], "mrr(groups=rows)", 3))
      for model in (make_pipeline(StandardScaler(), PAIRS), ms.GridSearchCV(PAIRS, {}))),
    # text does not tell how relevant a document is
    *(("y_true must hold numbers; got strings",
       lambda y=y: BY_IDS(GaussianNB().fit(X, y), X, y.astype(str), groups=IDS))
      for y in (GRADES, RELEVANT)),
    *((f"the classes of {type(model).__name__} are text, such as '.*encode the labels as grades",
       lambda model=model, y=y: BY_IDS(model.fit(X, y), X, GRADES, groups=IDS))
      for model in (GaussianNB(), LinearSVC(), VOTE, TREE)
      for y in (WORDS, RELEVANT.astype(str), RELEVANT.astype(str).astype(object))),
    # before the first fit
    *(("y must hold numbers; got strings",
       lambda rows=rows, groups=groups, scoring=scoring: ms.cross_val_score(
           NEVER, rows, WORDS, groups=groups, scoring=scoring, cv=CV))
      for rows, groups in ((X, IDS), (INDEXED, None)) for scoring in ("ndcg@5", BY_FUNCTION)),
]  # fmt: skip


@pytest.mark.parametrize(("message", "call"), REFUSED)
def test_what_ranks_no_classes_is_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()
