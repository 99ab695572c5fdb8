"""What comparing models gives: differences, their table, and one of systems for a paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from .._table import Number, PValue, Table, number_text
from .._typing import IntervalMethod, SignificanceTest
from .._validation import check_count, check_number
from .intervals import TOLERANCE, Interval
from .segments import ALL_QUERIES, Segment, no_test_note
from .significance import detectable_effect, queries_for_power, significance_level
from .tabular import Columns, Record, Records, Tabular

Correction: TypeAlias = Literal["holm", "tukey"] | None
Pairs: TypeAlias = Literal["baseline", "all"]
Family: TypeAlias = Literal["metric", "metrics", "all"]
Verdict: TypeAlias = Literal["better", "no worse", "equivalent", "worse", "undecided"]
Margin: TypeAlias = float | Mapping[str, float] | None

LABELS = {"metric", "model", "versus", "column", "segment"}
FEW_DISTINCT = (
    "* effectively fewer than six queries differ from the most common value, or all by next to "
    "nothing beside the range of the metric; "
)
BOUND = "the interval is a bound that follows from the range of the metric"


@dataclass(frozen=True)
class Difference(Record):
    """Difference between a model and the baseline in the mean of one metric.

    Parameters
    ----------
    metric, model, baseline : str
        Names of the metric and of the two models.
    segment : Segment
        Column and value of the segment; ``("", "all queries")`` for all queries.
    queries : int
        Number of queries for which the metric is defined for both models.
    share : float
        Their share of the total weight of these queries in all segments.
    baseline_mean, model_mean : float
        Means over these queries.
    difference : float
        ``model_mean - baseline_mean``.
    standard_error : float
        Standard error of the difference.
    interval : Interval
        Confidence interval of the difference.
    few_distinct : bool
        Whether fewer than six queries differ from the most common difference, by their effective
        number if weights are unequal, or all by so little that a single unseen one at an end of the
        range of the metric could move the mean by 15 standard errors. The interval of
        ``method="auto"`` is then a bound that follows from this range, and nan without a known one.
    p_value, adjusted_p_value : float
        Two-sided p-value, and the same adjusted for multiple testing. One of random flips of signs
        is at least ``1 / (n_resamples + 1)``.
    direction : int
        1 if the test speaks for the model, -1 if for the baseline, 0 for neither. It is the sign of
        `difference`, but the sign of the rank sum with ``test="wilcoxon"``, which may differ; then
        neither model is called better. It is 0 where `few_distinct`, unless the bound excludes 0.
    rest_p_value : float or None
        Adjusted p-value of Welch's t-test that the difference is the same for all other queries;
        None for all queries, and nan if fewer than six queries of the segment, or of all others,
        differ from the most common difference, or if one of these queries has more than 99.9 % of
        the weight.
    noninferiority_p_value, equivalence_p_value : float or None
        Adjusted p-values of a difference of at most -margin, and of one outside of ±margin; None
        without a margin.
    wins, ties, losses : int
        Number of queries for which the value of the model is higher, equal and lower.
    verdict : {"equivalent", "better", "worse", "no worse", "undecided"} or None
        The conclusion with a margin, of which the first that applies is stated: the difference is
        within ±margin, above 0, below 0, or above -margin. "better" and "worse" require a
        significant p-value and an interval without 0.
    """

    metric: str
    model: str
    baseline: str
    segment: Segment
    queries: int
    share: float
    baseline_mean: float
    model_mean: float
    difference: float
    standard_error: float
    interval: Interval
    few_distinct: bool
    p_value: float
    adjusted_p_value: float
    direction: int
    rest_p_value: float | None
    noninferiority_p_value: float | None
    equivalence_p_value: float | None
    wins: int
    ties: int
    losses: int
    verdict: Verdict | None = None


def agreed_sign(difference: Difference) -> int:
    """The sign of a difference if the test speaks for the same model, 0 otherwise."""
    direction = difference.direction
    return direction if direction * difference.difference > 0 else 0


@dataclass(frozen=True, repr=False)
class Comparison(Records[Difference]):
    """What `compare` returns: one `Difference` for each metric and model.

    Iteration yields the differences; ``comparison["ndcg@10", "tuned"]`` selects one, and
    ``comparison["ndcg@10", "tuned", ("device", "phone")]`` that of a segment. If all pairs are
    compared, the baseline of the pair is the third entry.

    Parameters
    ----------
    baseline : str or None
        Name of the model that all others are compared with; None if all pairs are compared.
    differences : tuple of Difference
        By metric, then by model.
    confidence : float
        Confidence level of the intervals.
    test : {"permutation", "t", "wilcoxon"}
        Significance test of the p-values.
    correction : {"holm", "tukey", None}
        Correction of the p-values for multiple testing.
    means : dict of str to dict of str to float
        Mean of each metric by system.
    margin : float, mapping or None
        Largest difference that is considered negligible.
    method : {"auto", "t", "bootstrap"}
        How the intervals were computed.
    family : {"metric", "metrics", "all"}
        The tests that the p-values were adjusted for together.

    Notes
    -----
    `to_frame` has one row per difference, with the attributes of `Difference` as columns, the
    segment as "segment" and "value" and the interval as "low" and "high".
    """

    baseline: str | None
    differences: tuple[Difference, ...]
    confidence: float
    test: SignificanceTest
    correction: Correction
    means: Mapping[str, Mapping[str, float]]
    margin: Margin = None
    method: IntervalMethod = "auto"
    family: Family = "metric"

    _kind, _attribute = "comparison", "differences"

    def queries_needed(
        self, difference: float | None = None, power: float = 0.8
    ) -> dict[tuple[Any, ...], float]:
        """Number of queries with which a paired test detects a difference.

        The standard deviation of the differences is estimated from these queries, which may be a
        pilot.

        Parameters
        ----------
        difference : float, default=None
            Difference of the means to detect; None means the observed one.
        power : float, default=0.8
            Probability of detecting it.

        Returns
        -------
        dict of tuple to float
            An integer for each comparison, by the key that selects it, for a two-sided t-test at
            the level ``1 - confidence``, without correction for multiple testing; infinite for a
            difference of 0, and nan if all queries differ by the same amount, from which no
            standard deviation can be estimated.

        Raises
        ------
        ValueError
            If `power` is not between 0 and 1, or `difference` is not finite.
        TypeError
            If `difference` is not a number.

        Notes
        -----
        Unequal weights are assumed to have the same distribution in the larger sample.
        """
        if difference is not None:
            difference = check_number("difference", difference)
        return {
            self._key(d): queries_for_power(
                _in_deviations(d.difference if difference is None else difference, _deviation(d)),
                power, significance_level(self.confidence),
            )
            for d in self
        }  # fmt: skip

    def detectable_difference(
        self, power: float = 0.8, n_queries: int | None = None
    ) -> dict[tuple[Any, ...], float]:
        """Smallest difference that a paired test detects.

        Parameters
        ----------
        power : float, default=0.8
            Probability of detecting it.
        n_queries : int, default=None
            Number of queries, at least 2; None means the number of queries in the comparison.

        Returns
        -------
        dict of tuple to float
            The difference of the means for each comparison, by the key that selects it, for a
            two-sided t-test at the level ``1 - confidence``, without correction for multiple
            testing; nan if all queries differ by the same amount.

        Raises
        ------
        ValueError
            If `power` is not between 0 and 1, or `n_queries` is not an integer of at least 2.
        """
        level = significance_level(self.confidence)
        if n_queries is not None:
            n_queries = check_count("n_queries", n_queries, 2)
        return {
            self._key(d): detectable_effect(n_queries or d.queries, power, level) * _deviation(d)
            for d in self
        }

    def system_table(self, *, digits: int = 4) -> SystemTable:
        """Tabulate systems and metrics, with marks of significance as in papers.

        Parameters
        ----------
        digits : int, default=4
            Number of decimals of the means.

        Returns
        -------
        SystemTable
            Means over all queries; significance is determined by the adjusted p-values at the level
            ``1 - confidence``.
        """
        level, order = significance_level(self.confidence), list(self.means)
        worse: dict[tuple[str, str], list[str]] = {}
        for d in self:
            is_significant = d.adjusted_p_value <= level
            if is_significant and agreed_sign(d) and d.segment == ALL_QUERIES:
                pair = (d.model, d.baseline) if d.difference > 0 else (d.baseline, d.model)
                worse.setdefault((pair[0], d.metric), []).append(pair[1])
        ordered = {key: tuple(sorted(names, key=order.index)) for key, names in worse.items()}
        family = self.family_note(with_segments=False)
        caption = f"{self._test_name} at the level of {level:.3g}{family and ', '}{family}"
        if self.baseline is not None and len(order) > 2:
            caption += f"; others were compared with {self.baseline} alone"
        return SystemTable(self.means, ordered, caption, check_count("digits", digits, 0))

    def family_note(self, *, with_segments: bool) -> str:
        """State which tests the p-values were adjusted for together.

        Parameters
        ----------
        with_segments : bool
            Whether p-values of segments are shown.

        Returns
        -------
        str
            A part of a sentence; empty without a correction.
        """
        if self.correction is None:
            return ""
        if self.correction == "tukey":
            return "adjusted by tukey for the pairs of each metric"
        if self.family == "all":
            return "adjusted by holm for all tests"
        pairs = "all pairs" if self.baseline is None else f"all comparisons with {self.baseline}"
        each = "each metric by itself" if self.family == "metric" else "all metrics together"
        segments = "; those of segments, for the segments of a column" if with_segments else ""
        return f"adjusted by holm for {pairs}, {each}{segments}"

    def _key(self, record: Difference) -> tuple[Any, ...]:
        """Metric and model, then the baseline unless it is the same for all, and the segment."""
        key = (
            record.metric,
            record.model,
            *([] if self.baseline is not None else [record.baseline]),
        )
        return key if record.segment == ALL_QUERIES else (*key, tuple(record.segment))

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns()
        return {"segment" if name == "column" else name: of for name, of in columns.items()}

    def _table(self) -> Table:
        p = "p" if self.correction is None else f"p ({self.correction})"
        interval = f"{self.confidence * 100:g} % interval"
        cells: dict[str, Callable[[Difference], Any]] = {
            "metric": lambda d: d.metric,
            "model": lambda d: d.model,
            "versus": lambda d: d.baseline,
            "column": lambda d: d.segment.column,
            "segment": lambda d: str(d.segment.value),
            "queries": lambda d: int(d.queries),
            "share": lambda d: f"{d.share:.1%}",
            "baseline": lambda d: d.baseline_mean,
            "mean": lambda d: d.model_mean,
            "difference": lambda d: Number(d.difference, "+.4f"),
            interval: lambda d: Number(d.interval, "+.4f", mark="*" if d.few_distinct else ""),
            p: lambda d: PValue(d.adjusted_p_value),
            "p (differs from the rest)": lambda d: _of_segment(d.rest_p_value),
            "wins/ties/losses": lambda d: f"{d.wins}/{d.ties}/{d.losses}",
            "verdict": lambda d: d.verdict or "",
        }
        if all(d.segment == ALL_QUERIES for d in self):
            for name in ("column", "segment", "queries", "share", "p (differs from the rest)"):
                del cells[name]
        if self.baseline is not None:
            del cells["versus"]
        if self.margin is None:
            del cells["verdict"]
        n_labels = len(LABELS & cells.keys())
        rows = [[cell(d) for cell in cells.values()] for d in self]
        rest = no_test_note(d.rest_p_value for d in self if d.rest_p_value is not None)
        family = self.family_note(with_segments=any(d.segment != ALL_QUERIES for d in self))
        stated = [family and f"p-values: {family}", few_distinct_note(self, self.method), rest]
        note = list(filter(None, stated))
        return Table(self._title(), list(cells), rows, n_labels=n_labels, note=note)

    def _title(self) -> str:
        margin = "" if self.margin is None else f", with a margin of {self.margin}"
        compared = "All pairs" if self.baseline is None else f"Compared with {self.baseline!r}"
        return f"{compared} by the {self._test_name}{margin}"

    @property
    def _test_name(self) -> str:
        """The test of the adjusted p-values."""
        return "randomized Tukey HSD test" if self.correction == "tukey" else f"{self.test} test"


def few_distinct_note(entries: Iterable[Any], method: IntervalMethod) -> str:
    """What the asterisk of some intervals means; empty if none has one."""
    few = [entry.interval for entry in entries if entry.few_distinct]
    if not few:
        return ""
    if method != "auto":
        return f"{FEW_DISTINCT}the coverage of intervals by method={method!r} is then too low"
    is_unknown = any(math.isnan(interval.low) for interval in few)
    return f"{FEW_DISTINCT}{BOUND}{', and nan if this range is not known' if is_unknown else ''}"


def _deviation(difference: Difference) -> float:
    """Standard deviation of the differences, from the standard error; nan without variation."""
    deviation = difference.standard_error * math.sqrt(difference.queries)
    return deviation if deviation > TOLERANCE else math.nan


def _in_deviations(difference: float, deviation: float) -> float:
    return difference / deviation if difference else 0.0


def _of_segment(p_value: float | None) -> PValue | str:
    return "" if p_value is None else PValue(p_value)


@dataclass(frozen=True, repr=False)
class SystemTable(Tabular):
    """Means of all systems and metrics, as `Comparison.system_table` returns them.

    Parameters
    ----------
    means : dict of str to dict of str to float
        Mean of each metric by system.
    better_than : dict of tuple of str to tuple of str
        For a system and a metric, the systems that it significantly exceeds.
    caption : str
        How significance was tested.
    digits : int, default=4
        Number of decimals of the means in the printed table.

    Notes
    -----
    Each system has a letter, which marks the means that are significantly higher than its own. The
    best mean of each metric is bold in HTML, Markdown and LaTeX. `to_frame` has the columns
    "system" and, for each metric, its name with the mean and "better than" with the letters.
    """

    means: Mapping[str, Mapping[str, float]]
    better_than: Mapping[tuple[str, str], tuple[str, ...]]
    caption: str
    digits: int = 4

    def _letters(self) -> dict[str, str]:
        """a, b, …, z, then numbers."""
        alphabet = "abcdefghijklmnopqrstuvwxyz"
        return {
            name: alphabet[i] if i < len(alphabet) else f"({i + 1})"
            for i, name in enumerate(self.means)
        }

    def _mark(self, system: str, metric: str) -> str:
        letters = self._letters()
        return "".join(letters[worse] for worse in self.better_than.get((system, metric), ()))

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"system": list(self.means)}
        for metric in next(iter(self.means.values())):
            columns[metric] = [means[metric] for means in self.means.values()]
            columns[f"{metric} better than"] = [self._mark(s, metric) for s in self.means]
        return columns

    def _shown(self, columns: Columns, digits: int | None) -> Table:
        digits = self.digits if digits is None else check_count("digits", digits, 0)
        return replace(self, digits=digits)._table().narrowed(columns)

    def _table(self) -> Table:
        metrics = list(next(iter(self.means.values())))
        # the best of the rounded numbers, so that equal ones are both bold
        spec, letters = f".{self.digits}f", self._letters()
        shown = {m: [number_text(of[m], spec) for of in self.means.values()] for m in metrics}
        defined = {m: [n for n in numbers if n != "nan"] for m, numbers in shown.items()}
        best = {m: max(numbers, key=float, default="") for m, numbers in defined.items()}
        rows: list[list[Any]] = [
            [letters[system], system]
            + [
                Number(means[m], spec, None, self._mark(system, m), shown[m][i] == best[m])
                for m in metrics
            ]
            for i, (system, means) in enumerate(self.means.items())
        ]
        note = f"Letters: significantly better than these systems, {self.caption}"
        return Table("", ["", "system", *metrics], rows, n_labels=2, note=note)
