"""Systems against metrics, with marks of significance as in papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._table import Number, Table, number_text
from .._validation import check_count
from .tabular import Columns, Tabular


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

    def _table(self) -> Table:
        metrics = list(next(iter(self.means.values())))
        return self._rounded(metrics, self.digits)

    def _shown(self, columns: Columns, digits: int | None) -> Table:
        digits = self.digits if digits is None else check_count("digits", digits, 0)
        return self._rounded(list(next(iter(self.means.values()))), digits).narrowed(columns)

    def _rounded(self, metrics: list[str], digits: int) -> Table:
        # the best of the rounded numbers, so that equal ones are both bold
        spec, letters = f".{digits}f", self._letters()
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
        return Table("", ["", "", *metrics], rows, n_labels=2, note=note)
