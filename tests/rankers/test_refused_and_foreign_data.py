"""Data without rows, labels of pyarrow, and models that hold out rows by themselves."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from small_rankers import LGBM, make_ranker

from sklearn_rankscore import QueryRanker, make_ranking


@pytest.fixture(scope="module")
def rows():
    X, y, groups = make_ranking(n_queries=30, n_features=5, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], groups[order]


@pytest.mark.parametrize("model", [Ridge(), LGBM], ids=["pointwise", "ranker"])
def test_no_rows_are_refused(model, rows):
    X, y, groups = rows
    with pytest.raises(ValueError, match="X has no rows; a fit needs the documents"):
        QueryRanker(model).fit(X[:0], y[:0], groups=groups[:0])


@pytest.mark.parametrize("column", [pa.array, lambda y: pa.chunked_array([y[:50], y[50:]])])
def test_labels_of_pyarrow(column, library, rows):
    X, y, groups = rows
    ranker = QueryRanker(make_ranker(library), early_stopping="ndcg@10", random_state=0)
    expected = ranker.fit(X, y, groups=groups).predict(X)
    fitted = ranker.fit(X, column(y), groups=groups)
    np.testing.assert_array_equal(fitted.predict(X), expected)


def test_a_table_of_pyarrow_with_ids_that_are_text(rows):
    X, y, groups = rows
    columns = {f"x{i}": X[:, i] for i in range(5)}
    table = pa.table({**columns, "qid": [f"query {id}" for id in groups]})
    fitted = QueryRanker(LGBM).fit(table, pa.array(y))
    assert fitted.n_queries_ == 30
    expected = QueryRanker(LGBM).fit(X, y, groups=groups).predict(X)
    np.testing.assert_allclose(fitted.predict(table), expected)


def test_weights_of_queries_are_refused_with_the_way_to_repeat_them(library, rows):
    X, y, groups = rows
    ranker = QueryRanker(make_ranker(library))
    weights = pd.Series(1.0 + np.arange(30) % 3, index=np.unique(groups))
    message = rf"got 30 for {len(y)} documents.*np\.repeat\(weights, sizes\).*weights\.loc\[ids\]"
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=groups, sample_weight=weights)
    with pytest.raises(ValueError, match=f"got {len(y) + 1} for {len(y)} documents"):
        ranker.fit(X, y, groups=groups, sample_weight=np.ones(len(y) + 1))
    ranker.fit(X, y, groups=groups, sample_weight=weights.loc[groups].to_numpy())


@pytest.mark.parametrize("stopping", [False, "ndcg@5"])
@pytest.mark.parametrize("dtype", ["i8", "u1", "f4", ">f8", ">i4"])
def test_weights_are_numbers_of_any_type(dtype, stopping, library, rows):
    X, y, groups = rows
    weights = 1.0 + 9 * (groups % 3 == 0)
    ranker = QueryRanker(make_ranker(library), early_stopping=stopping, random_state=0)
    expected = ranker.fit(X, y, groups=groups, sample_weight=weights).predict(X)
    fitted = ranker.fit(X, y, groups=groups, sample_weight=weights.astype(dtype))
    np.testing.assert_array_equal(fitted.predict(X), expected)
    valid = {"eval_set": [(X, y)], "eval_qid": [groups]}
    expected = ranker.fit(X, y, groups=groups, **valid, eval_sample_weight=[weights]).predict(X)
    valid["eval_sample_weight"] = [weights.astype(dtype)]
    np.testing.assert_array_equal(ranker.fit(X, y, groups=groups, **valid).predict(X), expected)


def test_weights_that_are_none_are_refused(library, rows):
    X, y, groups = rows
    ranker = QueryRanker(make_ranker(library))
    weights = np.ones(len(y))
    message = r"one-dimensional, .*\(\d+, 1\). Of a column, pass numpy.ravel\(sample_weight\)"
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y, groups=groups, sample_weight=weights[:, np.newaxis])
    weights[5] = np.nan
    with pytest.raises(ValueError, match=r"sample_weight contains NaN.*5"):
        ranker.fit(X, y, groups=groups, sample_weight=weights)


def swapped(values):
    return values.astype(values.dtype.newbyteorder())


def swapped_sparse(X):
    matrix = sparse.csr_matrix(X)
    matrix.data = swapped(matrix.data)
    return matrix


OTHER_BYTES = {
    "array": (swapped, swapped),
    "single precision": (lambda X: swapped(X.astype("f4")), lambda y: swapped(y.astype("f4"))),
    "frame": (lambda X: pd.DataFrame(swapped(X)), lambda y: pd.Series(swapped(y))),
    "sparse": (swapped_sparse, swapped),
}


@pytest.mark.parametrize("form", OTHER_BYTES)
def test_the_byte_order_of_another_machine_is_refused(form, library, rows):
    """XGBoost reads other numbers."""
    X, y, groups = rows
    of_X, of_y = OTHER_BYTES[form]
    ranker = QueryRanker(make_ranker(library)).fit(X, y, groups=groups)
    message = r"has the byte order of another machine, '>f.*astype\('float"
    for call in (
        lambda: clone(ranker).fit(of_X(X), y, groups=groups),
        lambda: clone(ranker).fit(X, of_y(y.astype(float)), groups=groups),
        lambda: ranker.fit(X, y, groups=groups, eval_set=[(of_X(X), y)], eval_qid=[groups]),
        lambda: ranker.predict(of_X(X)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
