"""One table of properties over all metrics, and the exceptions with their reasons."""

import array
import decimal
import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_rankscore.metrics.names import METRICS, evaluate
from sklearn_rankscore.ranking import blocks

INF = math.inf
SCORES = [-INF, -2.0, -1.0, -0.0, 0.0, 1.0, 3.0]
ANY_LABEL = [0, 1, 2, 4, 0.75, -1]
GRADES = [0, 1, 2, 3, 4]
LABELS = {
    **dict.fromkeys(METRICS, ANY_LABEL),
    **dict.fromkeys(["dcg", "ndcg", "rbp", "err"], GRADES),
    "pfound": [0, 1, 0.5, 0.25],
}

# a property does not hold for a metric (a reason), or only with these options
NOT_ONE = "perfect ranking is one"
BEYOND = "a cut-off beyond the query is none"
EXCEPTIONS = {
    (NOT_ONE, "dcg"): "a sum of gains has no bound",
    (NOT_ONE, "hits"): "a count",
    (NOT_ONE, "precision"): "k or n may be more than there are relevant documents",
    (NOT_ONE, "f1"): "as precision",
    (NOT_ONE, "err"): "no grade satisfies every user",
    (NOT_ONE, "rbp"): "the sum over infinitely many relevant documents is one",
    (NOT_ONE, "pfound"): "a label is a probability",
    (NOT_ONE, "recall"): {"k": None},
    (BEYOND, "precision"): {"denominator": "min"},
    (BEYOND, "f1"): {"denominator": "min"},
}


def values(metric, y, s, g=None, **options):
    """The value of every query."""
    (found,) = evaluate(y, s, metric, groups=g, average=None, **options).values()
    return found


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@st.composite
def documents(draw, metric, scores=SCORES, most=16):
    """Labels, scores and ids of up to four queries in any row order."""
    row = st.tuples(st.sampled_from(LABELS[metric]), st.sampled_from(scores), st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=most))
    y, s, g = (np.array(column) for column in zip(*rows, strict=True))
    return y, s, g


@st.composite
def options_of(draw, metric):
    """Options, among them the rules for ties that do not look at the order of rows."""
    rules = {"ties": ["average", "optimistic", "pessimistic"], "k": [None, 1, 2, 3, 5, 10]}
    chosen = {name: draw(st.sampled_from(v)) for name, v in rules.items()}
    return {name: v for name, v in chosen.items() if name in METRICS[metric].options}


def row_order(metric, data, options):
    y, s, g = data.draw(documents(metric))
    order = np.array(data.draw(st.permutations(range(len(y)))))
    close(
        values(metric, y, s, g, **options), values(metric, y[order], s[order], g[order], **options)
    )


def names_of_queries(metric, data, options):
    y, s, g = data.draw(documents(metric))
    used = np.unique(g)
    names = np.array(data.draw(st.permutations(["b", "a", "", "ä"])))
    found = dict(zip(np.unique(names[g]), values(metric, y, s, names[g], **options), strict=True))
    expected = dict(zip(names[used], values(metric, y, s, g, **options), strict=True))
    np.testing.assert_equal(found, expected)


def monotone_transforms(metric, data, options):
    y, s, g = data.draw(documents(metric))
    growing = [np.exp, np.cbrt, np.arctan, lambda x: 2 * x - 7, lambda x: 1e300 * x]
    transform = data.draw(st.sampled_from(growing))
    t = np.where(np.isfinite(s), transform(np.where(np.isfinite(s), s, 0.0)), s)
    np.testing.assert_array_equal(
        values(metric, y, s, g, **options), values(metric, y, t, g, **options)
    )


def perfect_is_one(metric, data, options):
    label = st.sampled_from([y for y in LABELS[metric] if y > 0])
    y = np.array([0, *data.draw(st.lists(label, min_size=1, max_size=10))], dtype=float)
    assert values(metric, y, y, **options) == pytest.approx(1, abs=1e-14)


def perfect_is_best(metric, data, options):
    y, s, _ = data.draw(documents(metric, SCORES[1:]))
    replacement = {"replace_undefined_by": -2.0}
    best = values(metric, y, y * 1.0, **options, **replacement)
    assert values(metric, y, s, **options, **replacement) <= best + 1e-12


def swapping_an_inversion(metric, data, options):
    y, s, _ = data.draw(documents(metric))
    s = np.argsort(np.argsort(s)) * 1.0
    by_rank = np.argsort(-s)
    options["replace_undefined_by"] = 0.0
    before = values(metric, y, s, **options)
    for upper, lower in itertools.pairwise(by_rank):
        if y[upper] < y[lower]:
            t = s.copy()
            t[[upper, lower]] = s[[lower, upper]]
            assert values(metric, y, t, **options) >= before - 1e-12


def mean_of_queries(metric, data, options):
    y, s, g = data.draw(documents(metric))
    for replacement in (0.0, 0.5, math.nan):
        each = values(metric, y, s, g, replace_undefined_by=replacement, **options)
        kept = each[~np.isnan(each)]
        (score,) = evaluate(
            y, s, metric, groups=g, replace_undefined_by=replacement, **options
        ).values()
        close(score, kept.mean() if len(kept) else math.nan)


def weights_are_repetitions(metric, data, options):
    y, s, g = data.draw(documents(metric))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4)))
    times[g[0]] = max(times[g[0]], 1)
    rows = np.repeat(np.arange(len(y)), times[g])
    copy = np.concatenate([np.arange(n) for n in times[g]])
    for average in METRICS[metric].kernel.ratio * ["micro"] + ["macro"]:
        kw = {"average": average, **options}
        (weighted,) = evaluate(y, s, metric, groups=g, sample_weight=times[g], **kw).values()
        repeated = evaluate(y[rows], s[rows], metric, groups=10 * g[rows] + copy, **kw)
        close(weighted, *repeated.values())


def beyond_is_none(metric, data, options):
    if "k" not in METRICS[metric].options:
        return
    y, s, g = data.draw(documents(metric))
    beyond = {**options, "k": data.draw(st.sampled_from([len(y), len(y) + 1, 10**9]))}
    close(values(metric, y, s, g, **beyond), values(metric, y, s, g, **{**options, "k": None}))


def alone(metric, data, options):
    y, s, g = data.draw(documents(metric))
    among = values(metric, y, s, g, **options)
    each = [values(metric, y[g == q], s[g == q], **options)[0] for q in np.unique(g)]
    np.testing.assert_array_equal(among, each)


def undefined_queries(metric, data, options):
    """No label above 0 leaves nothing to find; one above 0 and one not, apart by score, does."""
    _, s, g = data.draw(documents(metric))
    s[s == -INF] = 2.0
    replacement = data.draw(st.sampled_from([-5.0, 5.0, 0.25]))
    given = {"replace_undefined_by": replacement, **options}
    assert set(values(metric, np.zeros(len(s)), s, g, **given)) == {replacement}
    labels = np.where(np.arange(4) == data.draw(st.integers(0, 3)), 0.5, 0.0)
    found = values(metric, labels, np.array([1.0, 4.0, 3.0, 2.0]), **given)
    assert found == values(metric, labels, np.array([1.0, 4.0, 3.0, 2.0]), **options)
    (mean,) = evaluate(
        [0, 0, *labels], [1, 1, 1, 4, 3, 2], metric, groups=[0, 0, 1, 1, 1, 1], **given
    ).values()
    close(mean, (found[0] + replacement) / 2)


def rows_of_a_matrix(metric, data, options):
    y, s, _ = data.draw(documents(metric))
    width = data.draw(st.sampled_from([w for w in range(1, len(y) + 1) if len(y) % w == 0]))
    found = values(metric, y.reshape(-1, width), s.reshape(-1, width), **options)
    g = np.repeat(np.arange(len(y) // width), width)
    np.testing.assert_array_equal(found, values(metric, y, s, g, **options))


def results_are_floats(metric, data, options):
    y, s, g = data.draw(documents(metric))
    averages = ["macro"] + ["micro"] * METRICS[metric].kernel.ratio
    for average in averages:
        assert type(METRICS[metric].page(y, s, groups=g, average=average, **options)) is float
    each = METRICS[metric].page(y, s, groups=g, average=None, **options)
    assert (each.dtype, each.shape) == (np.float64, np.unique(g).shape)


def input_is_left_alone(metric, data, options):
    y, s, g = data.draw(documents(metric))
    before = y.tobytes(), s.tobytes(), g.tobytes()
    values(metric, y, s, g, **options)
    assert (y.tobytes(), s.tobytes(), g.tobytes()) == before


def more_ranks_find_more(metric, data, options):
    if metric not in ("dcg", "mrr", "hits", "hit_rate", "recall", "err", "rbp", "pfound"):
        return
    y, s, g = data.draw(documents(metric))
    by_k = [values(metric, y, s, g, **{**options, "k": k}) for k in (1, 2, 3, 8, None)]
    assert (np.diff(by_k, axis=0) >= -1e-12).all()


def tie_rules_are_bounds(metric, data, options):
    if "ties" not in options:
        return
    y, s, g = data.draw(documents(metric))
    rules = ["pessimistic", "stable", "reversed", "average", "optimistic"]
    found = {rule: values(metric, y, s, g, **{**options, "ties": rule}) for rule in rules}
    for rule in rules:
        np.testing.assert_array_less(found["pessimistic"], found[rule] + 1e-12)
        np.testing.assert_array_less(found[rule], found["optimistic"] + 1e-12)


PROPERTIES = {
    "row order": row_order,
    "names and order of queries": names_of_queries,
    "monotone transforms of scores": monotone_transforms,
    NOT_ONE: perfect_is_one,
    "perfect ranking is best": perfect_is_best,
    "swapping an adjacent inversion never lowers": swapping_an_inversion,
    "average=None averages to the score": mean_of_queries,
    "weights are repetitions of queries": weights_are_repetitions,
    BEYOND: beyond_is_none,
    "a query alone is itself among others": alone,
    "an undefined query takes its replacement": undefined_queries,
    "two-dimensional rows are queries": rows_of_a_matrix,
    "a result is a Python float": results_are_floats,
    "input is left alone": input_is_left_alone,
    "a deeper cut-off finds no less": more_ranks_find_more,
    "optimistic and pessimistic are bounds": tie_rules_are_bounds,
}


def test_every_metric_is_in_the_table():
    assert len(METRICS) == 16
    assert {metric for _, metric in EXCEPTIONS} <= set(METRICS)
    assert {name for name, _ in EXCEPTIONS} <= set(PROPERTIES)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", PROPERTIES)
@settings(max_examples=12)
@given(data=st.data())
def test_property(name, metric, data):
    exception = EXCEPTIONS.get((name, metric), {})
    if isinstance(exception, str):
        return
    PROPERTIES[name](metric, data, {**data.draw(options_of(metric)), **exception})


@pytest.mark.parametrize(("name", "metric"), EXCEPTIONS)
def test_exceptions_are_needed(name, metric):
    """Each exception has a query on which the property fails."""
    k = {"k": 3} if "k" in METRICS[metric].options else {}
    queries = np.array([[1.0, 0, 0, 0, 0], [1.0, 1, 1, 1, 0], [0.5, 0.5, 0, 0, 0]])
    if name == NOT_ONE:
        assert any(values(metric, y, y, **k) != 1 for y in queries)
    else:
        y = queries[0, :2]
        assert values(metric, y, y, **k) != values(metric, y, y)


# ---- what columns and arrays may come as

Y = np.array([1, 0, 1, 0, 0, 1, 1, 0, 1, 0])
S = np.array([3.0, 2.0, 2.0, 0.5, -1.0, 0.25, 8.0, 0.25, 4.0, 5.0])
G = np.array([2, 0, 1, 0, 1, 1, 2, 2, 0, 1])


def read_only(values):
    copy = values.copy()
    copy.flags.writeable = False
    return copy


NUMBERS = {
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(v.tolist()),
    "list of numpy numbers": list,
    "array.array": lambda v: array.array("d", v),
    "memoryview": lambda v: memoryview(v.copy()),
    "read-only": read_only,
    "every second": lambda v: np.repeat(v, 2)[::2],
    "reversed view": lambda v: v[::-1].copy()[::-1],
    "column of a matrix": lambda v: np.column_stack([v, v])[:, 1],
    "big-endian": lambda v: v.astype(v.dtype.newbyteorder(">")),
    "float64": lambda v: v.astype(np.float64),
    "float32": lambda v: v.astype(np.float32),
    "float16": lambda v: v.astype(np.float16),
    "long double": lambda v: v.astype(np.longdouble),
    "objects": lambda v: v.astype(object),
    "decimals": lambda v: [decimal.Decimal(str(x)) for x in v.tolist()],
    "masked array": lambda v: np.ma.masked_array(v, mask=False),
    "matrix subclass": lambda v: v.view(type("Sub", (np.ndarray,), {})),
    "pandas": pd.Series,
    "pandas with another index": lambda v: pd.Series(v, index=np.arange(len(v))[::-1]),
    "pandas Index": pd.Index,
    "pandas Float64": lambda v: pd.Series(v, dtype="Float64"),
    "pandas arrow": lambda v: pd.Series(v, dtype="double[pyarrow]"),
    "pandas sparse": lambda v: pd.Series(pd.arrays.SparseArray(v)),
    "polars": pl.Series,
    "polars Float32": lambda v: pl.Series(v).cast(pl.Float32),
    "polars in chunks": lambda v: pl.concat([pl.Series(v[:4]), pl.Series(v[4:])], rechunk=False),
    "pyarrow": pa.array,
    "pyarrow in chunks": lambda v: pa.chunked_array([v[:3], v[3:]]),
}
LABELS_ONLY = {
    "bool": lambda v: v.astype(bool),
    "int8": lambda v: v.astype(np.int8),
    "uint8": lambda v: v.astype(np.uint8),
    "uint64": lambda v: v.astype(np.uint64),
    "list of bool": lambda v: v.astype(bool).tolist(),
    "pandas Int64": lambda v: pd.Series(v, dtype="Int64"),
    "pandas boolean": lambda v: pd.Series(v.astype(bool), dtype="boolean"),
    "pandas int arrow": lambda v: pd.Series(v, dtype="int64[pyarrow]"),
    "polars Boolean": lambda v: pl.Series(v.astype(bool)),
    "polars UInt8": lambda v: pl.Series(v).cast(pl.UInt8),
    "pyarrow bool": lambda v: pa.array(v.astype(bool)),
    "pyarrow int8": lambda v: pa.array(v.astype(np.int8)),
}
ALL_NAMES = list(METRICS)
PLAIN = evaluate(Y, S, ALL_NAMES, groups=G, average=None)


def assert_plain(**changed):
    call = {"y_true": Y, "y_score": S, "groups": G} | changed
    found = evaluate(**call, metrics=ALL_NAMES, average=None)
    np.testing.assert_equal(found, PLAIN)


@pytest.mark.parametrize("kind", NUMBERS)
def test_scores_as(kind):
    assert_plain(y_score=NUMBERS[kind](S))


@pytest.mark.parametrize("kind", {**NUMBERS, **LABELS_ONLY})
def test_labels_as(kind):
    assert_plain(y_true={**NUMBERS, **LABELS_ONLY}[kind](Y))


@pytest.mark.parametrize("kind", {**NUMBERS, **LABELS_ONLY})
def test_weights_as(kind):
    weights = np.array([1, 0, 1])[G]
    convert = {**NUMBERS, **LABELS_ONLY}[kind]
    expected = evaluate(Y, S, ALL_NAMES, groups=G, sample_weight=weights)
    found = evaluate(Y, S, ALL_NAMES, groups=G, sample_weight=convert(weights))
    np.testing.assert_equal(found, expected)


WORDS = ["a", "b", "ß"]
STAMPS = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="M8[ns]")
ENUM = pd.CategoricalDtype(["c", "a", "b"])
IDS = {
    "list": lambda g: g.tolist(),
    "tuple": lambda g: tuple(g.tolist()),
    "int8": lambda g: g.astype(np.int8),
    "uint64": lambda g: g.astype(np.uint64) + 2**63,
    "floats": lambda g: g / 4,
    "negative": lambda g: g - 2**40,
    "words": lambda g: [WORDS[i] for i in g],
    "array of words": lambda g: np.array(WORDS)[g],
    "variable-width words": lambda g: np.array(WORDS, dtype=np.dtypes.StringDType())[g],
    "bytes": lambda g: np.array([b"a", b"b", b"c"])[g],
    "objects": lambda g: g.astype(object),
    "tuples": lambda g: [(1, i) for i in g.tolist()],
    "timestamps": lambda g: STAMPS[g],
    "durations": lambda g: (STAMPS - STAMPS[0])[g],
    "read-only": read_only,
    "every second": lambda g: np.repeat(g, 2)[::2],
    "big-endian": lambda g: g.astype(">i8"),
    "masked array": lambda g: np.ma.masked_array(g, mask=False),
    "pandas": lambda g: pd.Series(g, index=g),
    "pandas words": lambda g: pd.Series(np.array(WORDS)[g]),
    "pandas objects": lambda g: pd.Series([WORDS[i] for i in g], dtype=object),
    "pandas Index": pd.Index,
    "pandas Int64": lambda g: pd.Series(g, dtype="Int64"),
    "pandas categories": lambda g: pd.Series(np.array(["a", "b", "c"])[g]).astype(ENUM),
    "pandas with a zone": lambda g: pd.Series(STAMPS[g]).dt.tz_localize("UTC"),
    "polars": pl.Series,
    "polars words": lambda g: pl.Series([WORDS[i] for i in g]),
    "polars Categorical": lambda g: pl.Series(["x", *np.array(WORDS)[g]]).cast(pl.Categorical)[1:],
    "polars Enum": lambda g: pl.Series(np.array(WORDS)[g], dtype=pl.Enum(WORDS[::-1])),
    "polars dates": lambda g: pl.Series(STAMPS[g]).cast(pl.Date),
    "pyarrow": pa.array,
    "pyarrow words": lambda g: pa.array([WORDS[i] for i in g]),
    "pyarrow in chunks": lambda g: pa.chunked_array([g[:4], g[4:]]),
    "pyarrow dictionary": lambda g: pa.array(np.array(WORDS)[g]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", IDS)
def test_ids_as(kind):
    assert_plain(groups=IDS[kind](G))


TWO = Y.reshape(2, 5), S.reshape(2, 5)
MATRICES = {
    "lists": lambda m: m.tolist(),
    "column-major": np.asfortranarray,
    "transposed": lambda m: m.T.copy().T,
    "read-only": read_only,
    "pandas": pd.DataFrame,
    "pandas nullable": lambda m: pd.DataFrame(m).convert_dtypes(),
    "polars": lambda m: pl.DataFrame(m, schema=list("abcde")),
    "pyarrow": lambda m: pa.table(pd.DataFrame(m, columns=list("abcde"))),
}


@pytest.mark.parametrize("kind", MATRICES)
def test_two_dimensions_as(kind):
    expected = evaluate(*TWO, ALL_NAMES, average=None)
    np.testing.assert_equal(evaluate(*map(MATRICES[kind], TWO), ALL_NAMES, average=None), expected)


@pytest.mark.parametrize("kind", ["list", "tuple", "read-only", "float32", "pandas", "polars"])
def test_gains_by_label_as(kind):
    gains = np.array([0.0, 3.0, 1.0])
    for metric in ("dcg", "ndcg", "rbp"):
        expected = values(metric, Y * 2, S, G, gain=[0, 3, 1])
        np.testing.assert_equal(values(metric, Y * 2, S, G, gain=NUMBERS[kind](gains)), expected)


# ---- bits


@pytest.mark.parametrize("documents_in_a_block", [1, 7, 64, 2**10])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize("labels", ["grades", "reals"])
def test_blocks_of_any_size_and_threads_give_the_same_bits(
    documents_in_a_block, n_jobs, labels, monkeypatch
):
    random = np.random.default_rng(0)
    n = 1500
    g, s = random.integers(0, 50, n), random.normal(size=n).round(1)
    y = random.integers(0, 2, n) if labels == "grades" else random.random(n)
    names = [*ALL_NAMES, "ndcg@3", "map@5", "err@4", "hit_rate@2"]
    before = evaluate(y, s, names, groups=g, average=None)
    monkeypatch.setattr(blocks, "BLOCK_DOCUMENTS", documents_in_a_block)
    after = evaluate(y, s, names, groups=g, average=None, n_jobs=n_jobs)
    np.testing.assert_equal(
        {name: v.tobytes() for name, v in after.items()},
        {name: v.tobytes() for name, v in before.items()},
    )
