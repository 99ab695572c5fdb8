"""Query ids in an index, columns of shape (n, 1), long lists without ids, extreme weights."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from frames import pa
from sklearn.exceptions import DataConversionWarning

import sklearn_rankscore
from sklearn_rankscore import evaluate, mrr_score, ndcg_score, query_scores
from sklearn_rankscore.metrics.names import METRICS

RNG = np.random.default_rng(0)
Y, S, G = RNG.integers(0, 2, 60), RNG.normal(size=60), RNG.integers(0, 7, 60)
INDEX = pd.Index(G, name="qid")
TWO_LEVELS = pd.MultiIndex.from_arrays([np.arange(60), G], names=["row", "qid"])
OTHER = pd.Index(np.roll(G, 1), name="qid")


def by_hand():
    """The mean of the metric of each query alone."""
    return np.mean([ndcg_score(Y[q == G], S[q == G], k=10) for q in np.unique(G)])


@pytest.mark.parametrize(
    ("y_true", "y_score"),
    [
        (pd.Series(Y, INDEX), S),
        (Y, pd.Series(S, INDEX)),
        (pd.Series(Y, INDEX), pd.Series(S, INDEX)),
        (pd.Series(Y, TWO_LEVELS), S.tolist()),
        (pd.Series(Y, INDEX), pd.Series(S, pd.CategoricalIndex(G, name="qid"))),
        (pd.Series(Y, INDEX), pd.Series(S)),
    ],
)
def test_ids_are_found_in_an_index_level(y_true, y_score):
    assert ndcg_score(y_true, y_score, k=10) == pytest.approx(by_hand(), rel=1e-12)
    assert evaluate(y_true, y_score, "ndcg@10")["ndcg@10"] == pytest.approx(by_hand(), rel=1e-12)
    scores = query_scores(y_true, y_score, "ndcg@10")
    assert scores.ids.tolist() == sorted(set(G.tolist()))


def test_given_ids_take_precedence_over_an_index():
    other = np.arange(60) % 5
    given = ndcg_score(pd.Series(Y, INDEX), pd.Series(S, OTHER), groups=other)
    assert given == ndcg_score(Y, S, groups=other)
    single = ndcg_score(pd.Series(Y, INDEX), S, groups="none")
    assert single == ndcg_score([Y], [S])


def test_two_different_indexes_are_refused():
    with pytest.raises(ValueError, match=r"different query ids in their index levels 'qid'"):
        ndcg_score(pd.Series(Y, INDEX), pd.Series(S, OTHER))


def test_an_index_of_other_names_or_of_rows_of_queries_is_no_id():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ndcg_score(pd.Series(Y), S) == ndcg_score([Y], [S])
    rows = pd.Index([0] * 6, name="qid")
    two_dimensional = pd.DataFrame(Y.reshape(6, 10), index=rows), S.reshape(6, 10)
    assert ndcg_score(*two_dimensional) == ndcg_score(Y.reshape(6, 10), S.reshape(6, 10))


ONE = pd.DataFrame({"rel": [1]}, pd.Index(["a"], name="qid"))
COLUMNS = [
    (Y[:, None], S, G),
    (Y, S[:, None], G),
    (pd.DataFrame({"rel": Y}), pd.DataFrame({"score": S}), G),
    (pd.DataFrame({"rel": Y}, INDEX), S, None),
    (Y[:, None].tolist(), S, G),
    (Y[:, None], S, "none"),
    # of one document
    ([[1]], [0.5], ["a"]),
    ([1], [[0.5]], ["a"]),
    (ONE, [[0.5]], None),
]


@pytest.mark.parametrize(("y_true", "y_score", "groups"), COLUMNS)
def test_columns_are_raveled_with_the_warning_of_sklearn(y_true, y_score, groups):
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        value = ndcg_score(y_true, y_score, groups=groups, k=10)
    expected = 1.0 if len(y_true) == 1 else by_hand()
    if isinstance(groups, str):
        expected = ndcg_score([Y], [S], k=10)
    assert value == pytest.approx(expected, rel=1e-12)


def test_a_single_row_of_one_document_is_a_query():
    assert mrr_score([[1]], [[0.5]]) == 1


WITHOUT_IDS = {name: metric.function for name, metric in METRICS.items()} | {
    "evaluate": partial(evaluate, metrics="ndcg"),
    "query_scores": lambda y, s, **ids: query_scores(y, s, "ndcg", **ids).mean(),
    "convention_report": partial(sklearn_rankscore.convention_report, metrics="ndcg"),
}


@pytest.mark.parametrize("name", WITHOUT_IDS)
def test_a_long_list_without_ids_warns(name):
    function, y, s = WITHOUT_IDS[name], np.resize(Y, 1001), np.arange(1001) % 7
    with pytest.warns(UserWarning, match=r"all 1001 documents.*groups=.*groups='none'") as caught:
        value = function(y, s)
    assert caught[0].filename == __file__  # and not a file of the package
    # without a warning: a list said to be one query, in two ways, and a shorter list
    assert function(y, s, groups="none") == value
    assert function([y], [s]) == value
    function(y[:1000], s[:1000])


@pytest.mark.parametrize(
    "wrap", [lambda ids: ids, lambda ids: pa.chunked_array([ids[:2], ids[2:]])]
)
def test_a_dictionary_of_arrow_that_repeats_a_value_or_holds_an_unused_null(wrap):
    """Pieces of one query, as Parquet readers may return them: a, b, a, b are two queries."""
    for codes, values in (([0, 1, 2, 1], ["a", "b", "a"]), ([0, 2, 0, 2], ["a", None, "b"])):
        ids = wrap(pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(values)))
        scores = query_scores([1, 0, 0, 1], [1, 2, 3, 4], "mrr", groups=ids)
        assert scores.ids.tolist() == ["a", "b"]
        assert scores.values[:, 0].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("weight", [1e308, 1.7e308, 1e-310, 5e-324])
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_weights_of_any_size(weight, average):
    """Equal weights change nothing, and ratios of weights alone matter."""
    y, s, g = [1, 0, 1, 0], [1, 2, 4, 3], [0, 0, 1, 1]
    plain = ndcg_score(y, s, groups=g, average=average)
    assert ndcg_score(y, s, groups=g, average=average, sample_weight=[weight] * 4) == pytest.approx(
        plain, rel=1e-15
    )
    result = query_scores(y, s, "ndcg", groups=g, sample_weight=[weight] * 4)
    assert result.mean()["ndcg"] == pytest.approx(ndcg_score(y, s, groups=g), rel=1e-15)
    low, high = result.interval(method="t")["ndcg"]
    expected = query_scores(y, s, "ndcg", groups=g).interval(method="t")["ndcg"]
    assert (low, high) == pytest.approx(expected, rel=1e-12)


def test_weights_that_differ_beyond_the_range_of_sums():
    weights = [1.5e308, 1.5e308, 0.5e308, 0.5e308]
    value = mrr_score([1, 0, 0, 1], [2, 1, 2, 1], groups=[0, 0, 1, 1], sample_weight=weights)
    assert value == pytest.approx((3 * 1 + 0.5) / 4)
