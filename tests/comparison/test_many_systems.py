"""All pairs of several systems: tests, corrections, and the table of a paper."""

from itertools import permutations, product

import numpy as np
import pytest
from query_values import scores_of
from scipy import stats

from sklearn_rankscore import compare


def systems(values, metrics=("ndcg",), weights=None):
    """`values` has shape (n_systems, n_queries, n_metrics)."""
    return {f"s{i}": scores_of(of, metrics, weights) for i, of in enumerate(values)}


def drawn(n_systems=4, n_queries=40, n_metrics=2, step=0.05):
    random = np.random.default_rng(0)
    easy = random.random((1, n_queries, n_metrics))
    noise = random.normal(size=(n_systems, n_queries, n_metrics)) * 0.1
    return easy + noise + step * np.arange(n_systems)[:, None, None]


def tukey_of(values, weights=None, **given):
    """All pairs of systems with Tukey's correction, and the numbers of the systems of each."""
    options = {"pairs": "all", "correction": "tukey", "random_state": 0, **given}
    return [
        (one, int(one.model[1]), int(one.baseline[1]))
        for one in compare(systems(values, weights=weights), **options)
    ]


def p_values(values, **given):
    return [one.adjusted_p_value for one, *_ in tukey_of(values, **given)]


@pytest.mark.parametrize("weights", [(1, 1, 1, 1, 1), (1, 2, 1, 3, 1)])
@pytest.mark.parametrize(("n_others", "n_resamples"), [(0, 20_000), (1700, 1000)])
def test_tukey_is_all_permutations_within_queries(weights, n_others, n_resamples):
    """Of the few queries that decide, however many others differ by next to nothing."""
    random = np.random.default_rng(2)
    values = random.random((3, 5, 1)) + np.array([0, 0.1, 0.5])[:, None, None]
    others = 1e-9 * random.random((3, n_others, 1))
    observed = np.average(values[..., 0], axis=1, weights=weights)
    ranges = [
        np.ptp(np.average(np.array(rows).T, axis=1, weights=weights))
        for rows in product(*(permutations(values[:, q, 0]) for q in range(5)))
    ]
    given = np.append(values, others, axis=1), np.append(weights, np.ones(n_others))
    for one, i, j in tukey_of(*given, n_resamples=n_resamples):
        exact = np.mean(np.array(ranges) >= abs(observed[i] - observed[j]) - 1e-12)
        error = np.sqrt(exact * (1 - exact) / n_resamples)
        assert one.adjusted_p_value == pytest.approx(exact, abs=4 * error + 1 / n_resamples)


def test_tukey_does_not_count_queries_without_a_difference():
    values = drawn(3, 12, 1)
    assert p_values(np.append(values, np.ones((3, 2000, 1)), axis=1)) == p_values(values)
    # with one query that differs, each of three systems is the outlying one equally often
    outlier = np.zeros((3, 2000, 1))
    outlier[0, 7] = 0.5
    assert set(p_values(outlier)) == {1}


@pytest.mark.parametrize(("n", "n_resamples"), [(400, 3000), (2000, 1)])
def test_tukey_without_differences_of_queries_is_scipys(n, n_resamples):
    """As in ranx, whose test is not paired; more than 5,000 values are not permuted."""
    means = np.array([0, 0.03, 0.07]) * np.sqrt(400 / n)
    samples = np.random.default_rng(3).normal(means, 0.5, size=(n, 3))
    expected = stats.tukey_hsd(*samples.T).pvalue
    for one, i, j in tukey_of(samples.T[..., None], n_resamples=n_resamples):
        assert one.adjusted_p_value == pytest.approx(expected[i, j], abs=0.03)


def test_tukey_takes_queries_that_are_defined_for_all_systems():
    random = np.random.default_rng(2)
    values = np.full((3, 40, 1), 0.5)
    values[1, :12, 0] = 0.8 + random.normal(0, 0.02, 12)
    values[1, 12:, 0] = 0.3 + random.normal(0, 0.02, 28)
    values[2, :12, 0] += random.normal(0, 0.02, 12)
    values[2, 12:] = np.nan
    options = {"pairs": "all", "correction": "tukey", "random_state": 0, "margin": 0.001}
    compared = compare(systems(values), **options)
    common = compare(systems(values[:, :12]), **options)
    for one, expected in zip(compared, common, strict=True):
        assert (one.queries, one.wins, one.losses) == (12, expected.wins, expected.losses)
        assert one.difference == pytest.approx(expected.difference)
        assert one.adjusted_p_value == expected.adjusted_p_value
        assert one.verdict == expected.verdict
    assert compared.means["s1"]["ndcg"] == pytest.approx(values[1].mean())


def test_the_system_table_marks_significant_and_best_means():
    values = drawn(3, 50, 2, step=0.0)
    values[1, :, 0] += 0.3
    values[0, :, 1] += 0.3
    given = systems(values, ["ndcg", "map_x"])
    table = compare(given, pairs="all", test="t").system_table()
    frame, means = table.to_frame(), values.mean(axis=1)
    assert frame["ndcg better than"].tolist() == ["", "ac", ""]
    assert frame["map_x better than"].tolist() == ["bc", "", ""]
    np.testing.assert_allclose(frame[["ndcg", "map_x"]], means)
    best = f"{means[1, 0]:.4f}"
    header, _, second, *_, note = repr(table).splitlines()
    assert header.split() == ["system", "ndcg", "map_x"]
    assert second.split() == ["b", "s1", best, "ac", f"{means[1, 1]:.4f}"]
    assert note.startswith("Letters: significantly better than these systems, t test at")
    assert f"| b | s1 | **{best}**<sup>ac</sup> |" in table.to_markdown()
    assert f"<b>{best}</b><sup>ac</sup>" in table._repr_html_()
    latex = table.to_latex()
    assert rf"\textbf{{{best}}}$^{{ac}}$" in latex
    assert r"map\_x" in latex
    assert [latex.count(rule) for rule in (r"\toprule", r"\midrule", r"\\")] == [1, 1, 4]
    of_baseline = compare(given, test="t").system_table()
    assert of_baseline.caption.endswith("; others were compared with s0 alone")
    assert "alone" not in table.caption
    assert of_baseline.to_frame()["ndcg better than"].tolist() == ["", "a", ""]


@pytest.mark.parametrize(("confidence", "n_resamples"), [(0.95, 19), (0.9, 9), (0.8, 4), (0.7, 9)])
def test_a_p_value_equal_to_the_level_is_significant(confidence, n_resamples):
    values = drawn(2, step=0.5)
    given = {"n_resamples": n_resamples, "confidence": confidence, "random_state": 0}
    compared = compare(systems(values, ["ndcg", "map"]), **given, correction=None)
    smallest = 1 / (n_resamples + 1)
    assert [one.adjusted_p_value for one in compared] == [smallest, smallest]
    assert all(one.interval.low > 0 for one in compared)
    marks = compared.system_table().to_frame()["ndcg better than"].tolist()
    assert marks == ["", "a" if smallest <= 1.0001 - confidence else ""]


def test_latex_with_caption_and_label():
    compared = compare(systems(drawn(2), ["ndcg", "map"]), test="t")
    lines = compared.to_latex(caption=r"Systems~\cite{x}", label="tab:x").splitlines()
    assert lines[2:4] == [r"  \caption{Systems~\cite{x}}", r"  \label{tab:x}"]
    assert r"  \caption{Compared with `s0' by the t test}" in compared.to_latex(label="tab:x")
    table = compared.system_table()
    assert "caption" not in table.to_latex()
    with pytest.raises(ValueError, match="label='tab:x' refers to a caption, and the table has no"):
        table.to_latex(label="tab:x")


def test_all_pairs_are_those_of_two_systems_each():
    given = systems(drawn(), ["ndcg", "map"])
    compared = compare(given, pairs="all", test="t", correction=None)
    assert len(compared) == 2 * 6
    for one in compared:
        pair = {name: given[name] for name in (one.baseline, one.model)}
        assert compare(pair, test="t", correction=None)[one.metric, one.model] == one
        assert compared[one.metric, one.model, one.baseline] is one


def test_means_that_are_equal_as_shown_are_both_the_best():
    compared = compare(systems([[[0.26]], [[0.5]], [[0.51]], [[np.nan]]], ["ndcg"]), test="t")
    table = compared.system_table(digits=1)
    last = [line.split()[-1] for line in repr(table).splitlines()[1:5]]
    assert last == ["0.3", "0.5", "0.5", "nan"]
    assert table.to_markdown().count("**") == 2 * table.to_markdown().count("**0.5**") == 4
    assert table.to_frame()["ndcg"].tolist()[:3] == [0.26, 0.5, 0.51]
    for digits in (-1, 1.5):
        with pytest.raises((ValueError, TypeError), match="digits must be an integer"):
            compared.system_table(digits=digits)
