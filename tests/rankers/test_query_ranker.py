"""QueryRanker fits what the ranker fits on sorted rows, inside and outside of pipelines."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from gathered_rows import gather
from lightgbm import LGBMRanker
from requires import requires
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    HistGradientBoostingRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from small_rankers import LGBM, make_ranker
from training_rounds import sizes_of

from sklearn_rankscore import (
    NoGroupsError,
    PartialQueryWarning,
    QueryKFold,
    QueryRanker,
    make_ranking,
    make_ranking_scorer,
    ndcg_score,
)


def native(library, X, y, qid, weight=None):
    """The ranker, fitted directly on rows gathered by query."""
    qid, X, y, weight = gather(qid, X, y, weight)
    _, first, sizes = np.unique(qid, return_index=True, return_counts=True)
    ranker = make_ranker(library).__class__(**make_ranker(library).get_params())
    if library == "lightgbm":
        return ranker.fit(X, y, group=sizes, sample_weight=weight)
    if library == "xgboost":
        weight = None if weight is None else weight[first]
        return ranker.fit(X, y, qid=qid, sample_weight=weight)
    return ranker.fit(X, y, group_id=qid, group_weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_ranker_on_gathered_rows(library, weighted, data):
    X, y, qid = data
    weight = 1.0 + qid % 3 if weighted else None
    expected = native(library, X, y, qid, weight).predict(X)
    for ids in (qid, [f"query {i:03d}" for i in qid], qid * 2**33, qid * 0.25):
        ranker = QueryRanker(make_ranker(library)).fit(X, y, groups=ids, sample_weight=weight)
        np.testing.assert_array_equal(ranker.predict(X), expected)
    if weighted:
        assert not np.array_equal(native(library, X, y, qid).predict(X), expected)


@pytest.mark.parametrize("table", ["pandas", "polars", "index of X", "index of y"])
def test_ids_in_tables(library, table, data):
    X, y, qid = data
    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    plain = QueryRanker(make_ranker(library)).fit(X, y, groups=qid)
    given = {
        "pandas": (frame.assign(qid=qid), pd.Series(y)),
        "polars": (pl.DataFrame(X, schema=names).with_columns(qid=pl.Series(qid)), pl.Series(y)),
        "index of X": (frame.set_index(pd.Index(qid, name="qid")), y),
        "index of y": (X, pd.Series(y, index=pd.Index(qid, name="qid"))),
    }[table]
    ranker = QueryRanker(make_ranker(library)).fit(*given)
    np.testing.assert_array_equal(ranker.predict(given[0]), plain.predict(X))
    assert ranker.n_features_in_ == X.shape[1]
    assert ranker.n_queries_ == 100
    score = ranker.score(*given)
    assert score == pytest.approx(ndcg_score(y, plain.predict(X), groups=qid))
    if table == "pandas":
        assert list(ranker.feature_names_in_) == names


PLACES = {
    "name": ("session", lambda X, q: frame_of(X, session=q)),
    "polars": ("session", lambda X, q: pl.from_pandas(frame_of(X, session=q))),
    "level": ("session", lambda X, q: frame_of(X, session=q).set_index("session")),
    "two names": (["user", "visit"], lambda X, q: frame_of(X, user=q // 7, visit=q % 7)),
    "name and level": (
        ("user", "visit"), lambda X, q: frame_of(X, user=q // 7, visit=q % 7).set_index("user")
    ),
    "two names of polars": (
        ["user", "visit"], lambda X, q: pl.from_pandas(frame_of(X, user=q // 7, visit=q % 7))
    ),
}  # fmt: skip


def frame_of(X, **columns):
    return pd.DataFrame(X).add_prefix("x").assign(**columns)


@pytest.mark.parametrize("place", PLACES)
def test_groups_is_any_place_of_ids(place, data):
    X, y, qid = data
    source, make = PLACES[place]
    given = make(X, qid)
    expected = QueryRanker(make_ranker("xgboost")).fit(X, y, groups=qid)
    ranker = QueryRanker(make_ranker("xgboost"), groups=source).fit(given, y)
    assert ranker.n_queries_ == 100
    assert ranker.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(ranker.predict(given), expected.predict(X))
    assert ranker.score(given, y) == pytest.approx(expected.score(X, y, groups=qid))


@pytest.mark.parametrize("place", [2, len, [0, 1], True, []], ids=str)
def test_groups_is_a_name(place, data):
    X, y, qid = data
    with pytest.raises(NoGroupsError, match="groups must be the name of a column or index level"):
        QueryRanker(Ridge(), groups=place).fit(X, y, groups=qid)


def test_attributes_of_the_fitted_ranker(library, data):
    X, y, qid = data
    ranker = QueryRanker(make_ranker(library)).fit(X, y, groups=qid)
    expected = native(library, X, y, qid)
    if library == "catboost":  # its default for a ranking loss needs the training data
        expected = expected.get_feature_importance(type="PredictionValuesChange")
    else:
        expected = expected.feature_importances_
    assert expected.shape == (X.shape[1],)
    np.testing.assert_array_equal(ranker.feature_importances_, expected)
    assert not hasattr(ranker, "coef_")
    assert not hasattr(ranker, "n_iter_")
    piped = QueryRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, y, groups=qid)
    np.testing.assert_array_equal(piped.coef_, piped.estimator_[-1].coef_)
    assert not hasattr(QueryRanker(Ridge()), "coef_")


def test_pipelines_inside_and_outside_are_the_same(library, data):
    X, y, qid = data
    inside = QueryRanker(make_pipeline(StandardScaler(), make_pipeline(make_ranker(library))))
    outside = make_pipeline(StandardScaler(), QueryRanker(make_ranker(library)))
    scaled = StandardScaler().fit_transform(X)
    expected = native(library, scaled, y, qid).predict(scaled)
    # the scaler gets the rows in another order, so the last bits may differ
    predicted = inside.fit(X, y, groups=qid).predict(X)
    assert np.corrcoef(predicted, expected)[0, 1] > 0.999
    assert ndcg_score(y, predicted, groups=qid) == pytest.approx(
        ndcg_score(y, expected, groups=qid), abs=0.01
    )
    outside.fit(X, y, queryranker__groups=qid)
    np.testing.assert_array_equal(outside.predict(X), expected)
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(StandardScaler(), QueryRanker(make_ranker(library)))
        np.testing.assert_array_equal(routed.fit(X, y, groups=qid).predict(X), expected)


class RidgeInSteps(Ridge):
    """A model with a parameter `steps` that is no pipeline."""

    def __init__(self, steps=100, alpha=1.0):
        super().__init__(alpha)
        self.steps = steps


@pytest.mark.parametrize("steps", [100, (), [(0, 1), (2, 3)]])
def test_a_parameter_of_the_name_steps(steps, data):
    X, y, qid = data
    ranker = QueryRanker(RidgeInSteps(steps)).fit(X, y, groups=qid)
    expected = QueryRanker(Ridge()).fit(X, y, groups=qid)
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))
    assert ranker.score(X, y, groups=qid) == expected.score(X, y, groups=qid)
    with config_context(enable_metadata_routing=True):
        routed = QueryRanker(RidgeInSteps(steps)).fit(X, y, groups=qid)
    np.testing.assert_array_equal(routed.predict(X), expected.predict(X))


def test_a_column_of_ids_passes_through_a_column_transformer(data):
    X, y, qid = data
    frame = pd.DataFrame(X).add_prefix("x").assign(qid=qid)
    scale = ColumnTransformer(
        [("scale", StandardScaler(), list(frame.columns[:-1]))],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    piped = make_pipeline(scale, QueryRanker(LGBM)).fit(frame, y)
    assert piped.score(frame, y) > 0.7


def test_ids_of_documents_are_no_query_ids(data):
    X, y, _ = data
    ids = np.arange(len(y))
    with pytest.warns(UserWarning, match="must hold the same id for all documents of a query"):
        QueryRanker(LGBM).fit(X, y, groups=ids)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QueryRanker(Ridge()).fit(X, y, groups=ids)
        QueryRanker(LGBM).fit(X, y, groups=np.zeros(len(y)))
        QueryRanker(LGBM).fit(X, y, groups=np.maximum(ids, 1))  # one query has two documents


def test_max_queries_draws_nested_sets_of_whole_queries(data):
    X, y, qid = data

    class Seen(Ridge):
        def fit(self, X, y, groups, sample_weight=None):
            self.rows_ = {tuple(row) for row in X}
            return super().fit(X, y, sample_weight)

    before = set()
    for most in (5, 20, 80, 100, 1000):
        ranker = QueryRanker(Seen(), max_queries=most, random_state=0).fit(X, y, groups=qid)
        seen = np.array([tuple(row) in ranker.estimator_.rows_ for row in X])
        assert ranker.n_queries_ == len(set(qid[seen])) == min(most, 100)
        assert np.isin(qid, qid[seen]).sum() == seen.sum()
        assert before <= ranker.estimator_.rows_
        before = ranker.estimator_.rows_


def test_row_aligned_fit_parameters_are_sorted_with_the_rows(data):
    X, y, qid = data
    start = np.linspace(-3, 3, len(y))
    q, X_gathered, y_gathered, gathered = gather(qid, X, y, start)
    expected = LGBMRanker(**LGBM.get_params()).fit(
        X_gathered, y_gathered, group=sizes_of(q), init_score=gathered
    )
    ranker = QueryRanker(LGBM).fit(X, y, groups=qid, init_score=start)
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))


def test_a_classifier_ranks_by_its_expected_grade(data):
    X, y, qid = data
    model = LogisticRegression(max_iter=50, C=0.01, tol=1.0)
    ranker = QueryRanker(model).fit(X, y, groups=qid)
    _, *gathered = gather(qid, X, y)
    fitted = model.fit(*gathered)
    np.testing.assert_allclose(ranker.predict(X), fitted.predict_proba(X) @ fitted.classes_)


@pytest.mark.parametrize("model", [RidgeClassifier(), LinearSVC(), LogisticRegression()], ids=repr)
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.filterwarnings("ignore:the labels are text:UserWarning")
def test_a_binary_classifier_ranks_by_its_decision_function(model, words):
    X, y = make_ranking(random_state=0, as_frame=True)
    relevant = np.where(y > 0, "yes", "no") if words else (y > 0).astype(int)
    features = X.drop(columns="qid")
    alone = model.fit(features, relevant).decision_function(features)
    ranker = QueryRanker(model).fit(X, relevant)
    score = make_ranking_scorer("ndcg@5")(ranker, X, pd.Series(relevant, index=X.index))
    assert score == pytest.approx(ndcg_score(y > 0, alone, groups=X["qid"], k=5))


def test_string_classes_are_not_grades():
    X, y = make_ranking(random_state=0, as_frame=True)
    words = np.array(["bad", "fair", "good", "great", "best"])[y]
    for model in (LogisticRegression(max_iter=20, tol=1), RidgeClassifier()):
        with pytest.raises(ValueError, match=r"got strings .*Encode them as grades"):
            QueryRanker(model).fit(X, words).predict(X)


@pytest.mark.parametrize(
    "model",
    [
        BaggingRegressor(Ridge(), 3, random_state=0),
        VotingRegressor([("a", Ridge()), ("b", Ridge(100))]),
        GridSearchCV(Ridge(), {"alpha": [1, 10]}),
        CalibratedClassifierCV(LogisticRegression(max_iter=20, tol=1)),
        AdaBoostRegressor(n_estimators=3, random_state=0),  # without metadata routing
        GridSearchCV(AdaBoostRegressor(n_estimators=3, random_state=0), {"loss": ["square"]}),
    ],
    ids=repr,
)  # fmt: skip
def test_estimators_of_scikit_learn_are_pointwise(model):
    X, y, groups = make_ranking(random_state=0)
    y = np.minimum(y, 1)
    _, *gathered = gather(groups, X, y)
    ranker = QueryRanker(model).fit(X, y, groups=groups)
    alone = clone(model).fit(*gathered)
    likely = getattr(alone, "predict_proba", None)
    expected = alone.predict(X) if likely is None else likely(X)[:, 1]
    np.testing.assert_allclose(ranker.predict(X), expected)


def test_sparse_rows_of_any_format():
    X, y, groups = make_ranking(random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, groups = X[order], y[order], groups[order]
    expected = QueryRanker(Ridge()).fit(sparse.csr_matrix(X), y, groups=groups).predict(X)
    scores = QueryRanker(Ridge()).fit(sparse.coo_matrix(X), y, groups=groups).predict(X)
    np.testing.assert_allclose(scores, expected)


def test_labels_are_required():
    X, _, groups = make_ranking(random_state=0)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        QueryRanker(Ridge()).fit(X, None, groups=groups)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        QueryRanker(Ridge()).fit(X, groups=groups)


def test_a_pointwise_model_without_ids_has_one_query():
    X, y, groups = make_ranking(20, random_state=0)
    ranker = QueryRanker(Ridge()).fit(X, y)
    assert ranker.n_queries_ is None
    assert ranker.score(X, y) == pytest.approx(ndcg_score(y, ranker.predict(X)))
    assert ranker.score(X, y, groups=groups) == pytest.approx(
        ndcg_score(y, ranker.predict(X), groups=groups)
    )
    with pytest.raises(NoGroupsError, match="No query ids"):
        QueryRanker(Ridge()).fit(X, y, groups=groups).score(X, y)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (QueryRanker(HistGradientBoostingRegressor(), early_stopping=True), "supports xgboost"),
        (QueryRanker(LGBM, early_stopping=True, validation_fraction=1.5), "between 0 and 1"),
        (QueryRanker(LGBM, early_stopping=True, n_iter_no_change=0), "n_iter_no"),
        (QueryRanker(LGBM, max_queries=0), "max_queries must be an integer of at least 1"),
        (QueryRanker(LGBM, early_stopping=True, validation_fraction=True), "got True"),
        (QueryRanker(LGBM, early_stopping=True, validation_fraction="0.1"), "got '0.1'"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_clear_error(ranker, message, data):
    X, y, qid = data
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=qid)


@pytest.mark.parametrize("library", ["xgboost", "catboost"])
def test_weights_must_be_constant_within_a_query(library, data):
    X, y, qid = data
    ranker = QueryRanker(make_ranker(library))
    with pytest.raises(ValueError, match="one weight per query"):
        ranker.fit(X, y, groups=qid, sample_weight=np.arange(1.0, len(y) + 1))


class OneOutput(Ridge):
    """A model that predicts a column, as a neural network with one output."""

    def predict(self, X):
        return super().predict(X)[:, np.newaxis]


def test_predictions_have_one_dimension(data):
    X, y, qid = data
    expected = Ridge().fit(X, y).predict(X)
    ranker = QueryRanker(OneOutput())
    np.testing.assert_array_equal(ranker.fit(X, y, groups=qid).predict(X), expected)
    vote = VotingRegressor([("one", ranker), ("other", Ridge())]).fit(X, y)
    np.testing.assert_allclose(vote.predict(X), expected)


def test_missing_ids_are_an_error(library, data):
    X, y, _ = data
    for ranker in (QueryRanker(make_ranker(library)), QueryRanker(Ridge(), max_queries=3)):
        with pytest.raises(NoGroupsError, match="No query ids reached"):
            ranker.fit(X, y)


def test_probabilities_are_those_of_the_classifier():
    X, y, groups = make_ranking(30, random_state=0)
    model = LogisticRegression(max_iter=1000)
    ranker = QueryRanker(model).fit(X, y.astype(int), groups=groups)
    expected = clone(model).fit(X, y.astype(int))
    np.testing.assert_allclose(ranker.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(ranker.classes_, expected.classes_)
    assert not hasattr(QueryRanker(Ridge()).fit(X, y, groups=groups), "predict_proba")


def test_parts_of_trained_queries_warn(data):
    X, y, qid = data
    fitted = QueryRanker(Ridge()).fit(X[::2], y[::2], groups=qid[::2])
    with pytest.warns(PartialQueryWarning, match=r"trained on .*query_train_test_split\(X, y"):
        fitted.score(X[1::2], y[1::2], groups=qid[1::2])
    search = GridSearchCV(Ridge(), {}, scoring="ndcg", cv=QueryKFold(2))
    with pytest.warns(PartialQueryWarning, match="of the 100 queries to score were trained on"):
        QueryRanker(search).fit(X[::2], y[::2], groups=qid[::2]).score(X, y, groups=qid)


def test_other_queries_and_the_training_rows_do_not_warn(data):
    X, y, qid = data
    half = qid < np.median(qid)
    fitted = QueryRanker(Ridge()).fit(X[half], y[half], groups=qid[half])
    fitted.score(X[half], y[half], groups=qid[half])
    fitted.score(X[~half], y[~half], groups=qid[~half])
    fitted.score(X, y, groups=qid)  # half of the queries are new
    few = QueryRanker(Ridge(), max_queries=10, random_state=0).fit(X, y, groups=qid)
    few.score(X, y, groups=qid)
    # queries of a test set of its own, numbered from 0 like those of the training set
    rows = np.isin(qid, np.unique(qid)[50:80])
    numbered = QueryRanker(Ridge()).fit(X, y, groups=pd.factorize(qid)[0])
    numbered.score(X[rows], y[rows], groups=pd.factorize(qid[rows])[0])
    cross_val_score(QueryRanker(Ridge()), X, y, groups=qid, cv=QueryKFold(3))


def test_ndcg_and_log_loss_are_measured_together(data):
    X, y, qid = data
    is_relevant = (y > 1).astype(int)
    rows = np.isin(qid, np.unique(qid)[:70])
    model = make_pipeline(StandardScaler(), LogisticRegression())

    def minus_log_loss(fitted, X, y):
        return -log_loss(y, fitted.predict_proba(X))

    result = cross_validate(
        QueryRanker(model), X, is_relevant, groups=qid,
        cv=[(np.flatnonzero(rows), np.flatnonzero(~rows))],
        scoring={"ndcg": "ndcg@10", "log_loss": minus_log_loss},
    )  # fmt: skip
    plain = clone(model).fit(X[rows], is_relevant[rows])
    probabilities = plain.predict_proba(X[~rows])
    assert result["test_log_loss"] == pytest.approx(-log_loss(is_relevant[~rows], probabilities))
    expected = ndcg_score(is_relevant[~rows], probabilities[:, 1], groups=qid[~rows], k=10)
    assert result["test_ndcg"] == pytest.approx(expected)


def test_a_search_names_the_tuple_of_catboost(data):
    X, y, qid = data
    ranker = QueryRanker(requires("catboost").CatBoostRanker(cat_features=[0]))
    search = GridSearchCV(ranker, {}, scoring="ndcg", cv=QueryKFold(2))
    with pytest.raises(RuntimeError, match=r"write a tuple, as cat_features=\('color', 'brand'\)"):
        search.fit(X, y, groups=qid)
