"""Class labels with one score per class, in metric functions and in scorers."""

import runpy
from pathlib import Path

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris, make_classification, make_multilabel_classification
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, top_k_accuracy_score
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import sklearn_rankscore
from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    evaluate,
    hit_rate_at_k,
    make_ranking,
    make_ranking_scorer,
    mrr_score,
    ndcg_score,
    query_auc_score,
)

COUNTRIES = np.array(["CN", "FR", "OTHER", "US"])
METRICS = [
    sklearn_rankscore.dcg_score,
    sklearn_rankscore.ndcg_score,
    sklearn_rankscore.map_score,
    sklearn_rankscore.mrr_score,
    sklearn_rankscore.precision_at_k,
    sklearn_rankscore.recall_at_k,
    sklearn_rankscore.f1_at_k,
    sklearn_rankscore.hits_at_k,
    sklearn_rankscore.hit_rate_at_k,
    sklearn_rankscore.r_precision_score,
    sklearn_rankscore.err_score,
    sklearn_rankscore.rbp_score,
    sklearn_rankscore.pfound_score,
    sklearn_rankscore.query_auc_score,
    sklearn_rankscore.kendall_tau_score,
    sklearn_rankscore.spearman_score,
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.choice(COUNTRIES, 30), rng.integers(0, 4, (30, 4)) / 4


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_every_metric_takes_class_labels(metric, rows):
    truth, scores = rows
    hot = (truth[:, None] == COUNTRIES).astype(int)
    values = metric(truth, scores, labels=COUNTRIES, average=None)
    np.testing.assert_array_equal(values, metric(hot, scores, average=None))


def test_equals_the_oracle(rows):
    truth, scores = rows
    expected = [
        oracle.query_value("ndcg", [int(t == c) for c in COUNTRIES], s.tolist(), k=2)
        for t, s in zip(truth, scores, strict=True)
    ]
    values = ndcg_score(truth, scores, labels=COUNTRIES, k=2, average=None)
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_equals_scikit_learn():
    rng = np.random.default_rng(1)
    truth, scores = rng.choice(COUNTRIES, 50), rng.random((50, 4))
    hot = truth[:, None] == COUNTRIES
    for k in (1, 2, 3):
        assert hit_rate_at_k(truth, scores, k=k) == top_k_accuracy_score(truth, scores, k=k)
        assert ndcg_score(truth, scores, k=k) == pytest.approx(
            sklearn_ndcg_score(hot, scores, k=k), rel=1e-12
        )


def test_columns_in_the_order_of_labels(rows):
    truth, scores = rows
    order = [2, 0, 3, 1]
    assert mrr_score(truth, scores[:, order], labels=COUNTRIES[order]) == pytest.approx(
        mrr_score(truth, scores)
    )
    assert evaluate(truth, scores[:, order], "mrr", labels=COUNTRIES[order].tolist())[
        "mrr"
    ] == pytest.approx(mrr_score(truth, scores))


@pytest.mark.parametrize(
    "column",
    [
        list,
        pd.Series,
        lambda t: pd.Series(t, dtype="category"),
        lambda t: pl.Series(t.tolist()),
        lambda t: pa.array(t.tolist()).dictionary_encode(),
    ],
)
def test_class_labels_of_every_library(column, rows):
    truth, scores = rows
    assert mrr_score(column(truth), pd.DataFrame(scores)) == mrr_score(truth, scores)


def test_numbers_as_classes():
    scores = [[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]]
    assert mrr_score([30, 20], scores, labels=[10, 20, 30], average=None).tolist() == [0.5, 1 / 3]


@pytest.mark.parametrize(
    ("truth", "labels", "message"),
    [
        (["a", "b"], ["a", "b"], "y_score has 3 columns for 2 classes"),
        (["a", "b"], None, "y_score has 3 columns for 2 classes"),
        (["a", "b"], ["a", "b", "b"], "names a class twice"),
        (["a", "z"], ["a", "b", "c"], "holds the class .*z.*, which labels= does not name"),
        ([1, 2], ["1", "2", "3"], "holds the class .*1.*, which labels= does not name; .*'1', '2'"),
        ([1, np.nan], [1, 2, 3], "holds the class .*nan"),
        (["a", None], ["a", "b", "c"], "holds the class None"),
        (["a", "b", "c"], ["a", "b", "c"], "y_true has 3 labels, y_score has 2 rows"),
    ],
)
def test_wrong_classes_are_refused(truth, labels, message):
    with pytest.raises(ValueError, match=message):
        ndcg_score(truth, [[1, 2, 3], [3, 2, 1]], labels=labels)


@pytest.fixture(scope="module")
def classified():
    X, y = make_classification(300, n_informative=6, n_classes=4, random_state=0)
    return X, COUNTRIES[y]


@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=500), GaussianNB(), LinearSVC()], ids=repr
)
def test_scorer_ranks_the_classes_without_query_ids(model, classified):
    X, y = classified
    method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    by_fold = cross_val_score(model, X, y, scoring="ndcg@3", cv=3)
    scores = cross_val_predict(model, X, y, method=method, cv=3)
    assert by_fold.mean() == pytest.approx(ndcg_score(y, scores, labels=COUNTRIES, k=3), rel=1e-12)


def test_scorer_of_a_one_against_one_classifier(classified):
    X, y = classified
    model = SVC(decision_function_shape="ovr").fit(X, y)
    expected = mrr_score(y, model.decision_function(X), labels=COUNTRIES)
    assert make_ranking_scorer("mrr")(model, X, y) == expected


def test_grid_search_tunes_a_classifier(classified):
    X, y = classified
    grid = {"C": [1e-4, 1.0]}
    search = GridSearchCV(LogisticRegression(max_iter=500), grid, scoring="mrr", cv=3).fit(X, y)
    assert search.best_params_ == {"C": 1.0}


def test_a_class_absent_from_training_is_not_retrieved(classified):
    X, y = classified
    seen = y != "OTHER"
    model = GaussianNB().fit(X[seen], y[seen])
    scorer = make_ranking_scorer("mrr")
    expected = scorer(model, X[seen], y[seen]) * seen.mean()
    assert scorer(model, X, y) == pytest.approx(expected, rel=1e-12)
    left_out = make_ranking_scorer("mrr", replace_undefined_by=np.nan)
    assert left_out(model, X, y) == pytest.approx(expected, rel=1e-12)


def test_the_example_runs(capsys):
    path = Path(__file__).parents[2] / "examples" / "kaggle_countries.py"
    runpy.run_path(str(path))
    printed = capsys.readouterr().out
    assert "NDCG@5" in printed
    assert 0.5 < float(printed.split()[-1]) < 1


def test_scores_of_pairs_of_classes_are_refused():
    """With three classes an SVC has three pairs, and so as many columns as classes."""
    X, y = load_iris(return_X_y=True)
    in_pairs = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo"))
    with pytest.raises(ValueError, match="decision_function_shape='ovo' gives one per pair"):
        cross_val_score(in_pairs, X, y, scoring="mrr(groups=rows)", cv=3, error_score="raise")
    # probabilities have one column per class, whatever the decision values are
    likely = SVC(decision_function_shape="ovo")
    likely.predict_proba = lambda X: np.eye(3)[likely.predict(X)]
    scorer = make_ranking_scorer("hit_rate@1", groups="rows")
    assert scorer(likely.fit(X, y), X, y) == pytest.approx(likely.score(X, y))


def test_a_label_that_is_constant_in_training():
    X, y = make_multilabel_classification(200, random_state=0, n_classes=4)
    y[:, 1], y[:60, 2] = 0, 1
    y[-3:, 1] = 1
    model = RandomForestClassifier(5, random_state=0).fit(X[:60], y[:60])
    columns = model.predict_proba(X[60:])
    assert [column.shape[1] for column in columns] == [2, 1, 1, 2]
    scores = np.column_stack([columns[0][:, 1], np.zeros(140), np.ones(140), columns[3][:, 1]])
    score = make_ranking_scorer("ndcg@2")(model, X[60:], y[60:])
    assert score == pytest.approx(ndcg_score(y[60:], scores, k=2))


@pytest.fixture(scope="module")
def graded():
    """Documents with grades, and a classifier of the grades."""
    X, y, groups = make_ranking(n_queries=40, random_state=0)
    return X, y, groups, GaussianNB().fit(X, y)


@pytest.mark.parametrize("wrap", [lambda model: model, QueryRanker], ids=["plain", "QueryRanker"])
@pytest.mark.parametrize("name", ["ndcg@5", "map(threshold=1)", "spearman"])
def test_grades_that_are_numeric_text_are_these_numbers(graded, name, wrap):
    X, y, groups, _ = graded
    frame = pd.DataFrame(X, index=pd.Index(groups, name="qid"))
    numbers, text = (wrap(GaussianNB()).fit(frame, labels) for labels in (y, y.astype(str)))
    scorer = get_scorer(name)
    assert len(np.unique(y)) > 2
    assert scorer(text, frame, y.astype(str)) == pytest.approx(scorer(numbers, frame, y))
    options = {"scoring": name, "cv": QueryKFold(3), "error_score": "raise"}
    expected = cross_val_score(wrap(GaussianNB()), frame, y, **options)
    values = cross_val_score(wrap(GaussianNB()), frame, y.astype(str), **options)
    np.testing.assert_allclose(values, expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_class_scores_in_another_order_are_refused(frame):
    labels = ["a", "a", "b"]
    scores = frame({"b": [0.1, 0.2, 0.1], "a": [0.9, 0.8, 0.9]})
    for classes in (None, ["a", "b"]):
        with pytest.raises(ValueError, match=r"are b, a, but .* labels=list\(y_score.columns\)"):
            mrr_score(labels, scores, labels=classes)
    # the classes rank first, first and second
    assert mrr_score(labels, scores, labels=list(scores.columns)) == pytest.approx(2.5 / 3)
    assert mrr_score(labels, scores[["a", "b"]]) == pytest.approx(2.5 / 3)
    assert mrr_score(labels, scores.to_numpy()[:, ::-1]) == pytest.approx(2.5 / 3)


def test_text_is_no_label_of_a_classifier_of_numbers(graded):
    X, y, groups, model = graded
    frame = pd.DataFrame(X, index=pd.Index(groups, name="qid"))
    two = GaussianNB().fit(frame, y > 1)
    for fitted, labels in ((model, y.astype(str)), (two, (y > 1).astype(str))):
        with pytest.raises(ValueError, match=r"y_true holds strings.* classes .* are numbers"):
            get_scorer("ndcg@5")(fitted, frame, labels)


def test_ranking_numeric_classes_warns_unless_asked_for(graded):
    """A classifier of grades ranks documents if there are ids, and its classes if not."""
    X, y, groups, model = graded
    of_rows = ndcg_score(y, model.predict_proba(X), labels=model.classes_, k=3)
    of_documents = ndcg_score(y, model.predict_proba(X) @ model.classes_, groups=groups, k=3)
    assert of_rows != pytest.approx(of_documents, abs=0.01)
    message = r"each row ranked its \d classes.*grades.*query ids.*write 'ndcg@3\(groups=rows\)'"
    with pytest.warns(UserWarning, match=message) as caught:
        assert get_scorer("ndcg@3")(model, X, y) == pytest.approx(of_rows)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=r"write 'map@3\(threshold=2, groups=rows\)'"):
        get_scorer("map@3(threshold=2)")(model, X, y)
    # none of these warns
    assert get_scorer("ndcg@3(groups=rows)")(model, X, y) == pytest.approx(of_rows)
    assert make_ranking_scorer("ndcg@3", groups="rows")(model, X, y) == pytest.approx(of_rows)
    assert get_scorer("ndcg@3")(model, X, y, groups=groups) == pytest.approx(of_documents)
    frame = pd.DataFrame(X, index=pd.Index(groups, name="qid"))
    assert get_scorer("ndcg@3")(model, frame, y) == pytest.approx(of_documents)
    assert get_scorer("ndcg@3(groups=rows)")(model, frame, y) == pytest.approx(of_rows)


@pytest.mark.filterwarnings("default:.*received no query ids")
def test_the_warning_reaches_the_caller_of_a_search(graded):
    X, y, _, model = graded
    with pytest.warns(UserWarning, match="each row ranked its") as caught:
        cross_val_score(model, X, y, scoring="ndcg@3", cv=2)
    assert {warning.filename for warning in caught} == {__file__}


def test_rows_in_multimetric_scoring(graded):
    X, y, _, model = graded
    both = ["ndcg@3(groups=rows)", "mrr(groups=rows)", "accuracy"]
    result = cross_validate(model, X, y, scoring=both, cv=2)
    expected = cross_val_score(model, X, y, scoring="ndcg@3(groups=rows)", cv=2)
    np.testing.assert_allclose(result["test_ndcg@3(groups=rows)"], expected)


def test_rows_need_class_scores(graded):
    X, y, groups, _ = graded
    with pytest.raises(ValueError, match="Ridge returns one score per row"):
        get_scorer("ndcg@3(groups=rows)")(Ridge().fit(X, y), X, y)
    frame = pd.DataFrame(X, index=pd.Index(groups, name="rows"))
    with pytest.raises(ValueError, match="groups='rows' is ambiguous: X has a column"):
        get_scorer("ndcg@3(groups=rows)")(GaussianNB().fit(frame, y), frame, y)


def test_partial_queries_are_not_looked_for_in_rows(graded):
    X, y, groups, model = graded
    frame = pd.DataFrame(X, index=pd.Index(groups, name="qid"))
    cross_val_score(model, frame, y, scoring="ndcg@3(groups=rows)", cv=KFold(2))


def test_predictions_of_two_targets_are_refused_where_rows_are_documents():
    X, y, groups = make_ranking(n_queries=5, random_state=0)
    model = Ridge().fit(X, np.column_stack([y, -y]))
    with pytest.raises(ValueError, match="one score for each document"):
        make_ranking_scorer("ndcg@10")(model, X, y, groups=groups)


def test_outlier_detectors_rank_by_their_decision_function():
    X, y, groups = make_ranking(random_state=0)
    forest = IsolationForest(n_estimators=10, random_state=0).fit(X)
    expected = query_auc_score(y, forest.decision_function(X), groups=groups)
    assert make_ranking_scorer("query_auc")(forest, X, y, groups=groups) == expected
    assert query_auc_score(y, forest.predict(X), groups=groups) != expected
