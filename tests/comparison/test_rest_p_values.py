"""Segments compared with all other queries, and those for which this is impossible."""

import numpy as np
import pytest
from scipy import stats

from sklearn_rankscore import QueryScores, compare
from sklearn_rankscore.comparison import intervals
from sklearn_rankscore.comparison.intervals import has_few_distinct
from sklearn_rankscore.comparison.segments import bin_segments, segment_parts


def raw_p_values(scores, segments):
    (column,) = bin_segments({"s": np.asarray(segments)})
    return np.array([part.rest_p_values for part in segment_parts(scores, column)])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("some", [8, 1000])
def test_p_values_are_nan_exactly_where_either_side_has_few_distinct_values(
    seed, some, monkeypatch
):
    """Against the definition, one segment and its rest after the other."""
    monkeypatch.setattr(intervals, "SOME", some)
    random = np.random.default_rng(seed)
    n = 60
    segments = random.choice(4, n, p=[0.7, 0.15, 0.1, 0.05])
    columns = [
        random.random(n),
        random.choice([0, 1], n, p=[0.1, 0.9]),
        random.choice([0, 0.5, 1], n),
        np.where(segments == 0, random.random(n), random.integers(2)),
        np.where(random.random(n) < 0.3, np.nan, random.random(n).round(1)),
    ]
    scores = QueryScores(range(n), np.column_stack(columns), list("abcde"))
    p_values = raw_p_values(scores, segments)
    for row, segment in zip(p_values, np.unique(segments), strict=True):
        for p_value, values in zip(row, scores.values.T, strict=True):
            sides = [
                v[~np.isnan(v)] for v in (values[segments == segment], values[segments != segment])
            ]
            if any(not len(side) or has_few_distinct(side[:, None], 1.0)[0] for side in sides):
                assert np.isnan(p_value)
            else:
                expected = stats.ttest_ind(*sides, equal_var=False).pvalue
                assert p_value == pytest.approx(expected)
    assert 0 < np.isnan(p_values).mean() < 1


@pytest.mark.parametrize("offset", [0, 1e8, 1e9])
def test_values_far_from_zero(offset):
    random = np.random.default_rng(0)
    values, segments = random.normal(size=400) + offset, np.repeat(["a", "b"], [150, 250])
    scores = QueryScores(range(400), values[:, None], ["own"])
    expected = stats.ttest_ind(values[:150], values[150:], equal_var=False).pvalue
    assert raw_p_values(scores, segments) == pytest.approx(expected, rel=1e-5)


def welch_by_matrices(values, weights, own):
    """With the quadratic form of each squared error as a matrix, scaled to be unbiased."""
    means, errors, dfs = [], [], []
    for side in (own, ~own):
        share = weights[side] / weights[side].sum()
        residuals = np.eye(len(share)) - share
        form = residuals.T @ np.diag(share**2) @ residuals
        form *= (share**2).sum() / np.trace(form)
        means.append(share @ values[side])
        errors.append(values[side] @ form @ values[side])
        dfs.append(np.trace(form) ** 2 / np.trace(form @ form))
    df = sum(errors) ** 2 / sum(e**2 / d for e, d in zip(errors, dfs, strict=True))
    return 2 * stats.t.sf(abs(means[0] - means[1]) / sum(errors) ** 0.5, df)


@pytest.mark.parametrize("scale", [1, 1e-6])
def test_weighted_tests_are_unbiased_quadratic_forms(scale):
    """Also where one segment has almost all of the weight."""
    random = np.random.default_rng(0)
    values, weights = random.random(60), random.lognormal(0, 1, 60)
    segments = np.repeat(["a", "b", "c"], [20, 15, 25])
    weights[segments != "b"] *= scale
    measured = raw_p_values(QueryScores(range(60), values[:, None], ["own"], weights), segments)
    expected = [welch_by_matrices(values, weights, segments == one) for one in "abc"]
    assert measured.ravel() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("sigma", [1, 2])
def test_unequal_weights_do_not_reject_more_often(sigma):
    random = np.random.default_rng(1)
    segments, names = np.repeat(["a", "b"], [10, 40]), [str(i) for i in range(50)]
    rejected = [
        raw_p_values(QueryScores(range(50), values, names, weights), segments)[0] <= 0.05
        for values, weights in (
            (random.normal(size=(50, 50)), random.lognormal(0, sigma, 50)) for _ in range(40)
        )
    ]
    assert np.mean(rejected) <= 0.055


def test_two_queries_do_not_differ_from_the_rest():
    values = np.r_[0.0, 0.0, np.random.default_rng(0).random(100)][:, None]
    scores = QueryScores(range(102), values, ["mrr"])
    segments = ["two"] * 2 + ["many"] * 100
    assert all(np.isnan(one.rest_p_value) for one in scores.by(segments))
    assert "nan" in repr(scores.by(segments))
    other = QueryScores(range(102), np.zeros((102, 1)), ["mrr"])
    compared = compare({"a": other, "b": scores}, by=segments)
    assert np.isnan(compared["mrr", "b", ("segment", "two")].rest_p_value)


def test_a_segment_of_all_queries_has_no_rest():
    scores = QueryScores(range(20), np.random.default_rng(0).random((20, 1)), ["mrr"])
    assert np.isnan(raw_p_values(scores, ["all"] * 20)).all()


def test_a_segment_of_weight_zero_has_no_mean():
    random = np.random.default_rng(0)
    weights, device = np.repeat([1.0, 0.0], 20), np.repeat(["desk", "phone"], 20)
    systems = {
        name: QueryScores(np.arange(40), values, ["mrr"], weights, device)
        for name, values in zip("ab", random.random((2, 40, 1)), strict=True)
    }
    desk, phone = systems["a"].by()
    assert (phone.queries, phone.share, desk.share) == (0, 0, 1)
    assert np.isnan([phone.mean, *phone.interval, phone.rest_p_value]).all()
    assert desk.mean == pytest.approx(systems["a"]["mrr"][:20].mean())
    compared = compare(systems, by="segment")
    none = compared["mrr", "b", ("segment", "phone")]
    assert (none.queries, none.wins) == (0, 0)
    assert np.isnan([none.difference, none.baseline_mean, none.p_value, *none.interval]).all()
    overall, alone = (
        c["mrr", "b", *rest] for c, rest in ((compared, ()), (compared, [("segment", "desk")]))
    )
    assert overall.difference == alone.difference


def test_a_query_with_nearly_all_the_weight_permits_no_test():
    random, groups = np.random.default_rng(0), {"s": ["x"] * 30 + ["y"] * 30}
    for head, is_tested in ((100.0, True), (1e7, False), (1e10, False)):
        weights = np.append(head, np.ones(59))
        by = QueryScores(range(60), random.random((60, 1)), ["own"], weights).by(groups)
        assert [np.isfinite(segment.rest_p_value) for segment in by] == [is_tested] * 2
        assert ("or one of these queries has nearly all the weight" in str(by)) != is_tested


def test_tables_state_why_a_segment_is_not_compared():
    random = np.random.default_rng(0)
    groups = {"few": np.repeat(["a", "b"], [3, 37]), "enough": np.repeat(["a", "b"], [20, 20])}
    first, second = (QueryScores(range(40), random.random((40, 1)), ["own"]) for _ in range(2))
    reason = "nan: no test, because fewer than six queries of the segment"
    for name, segments in groups.items():
        by_query = dict(enumerate(segments))
        one = first.by({"s": by_query})
        both = compare({"first": first, "second": second}, by={"s": by_query})
        assert all((reason in text) == (name == "few") for text in (str(one), one._repr_html_()))
        assert (reason in str(both)) == (name == "few")
