"""The greatest NDCG over all integer labels of unjudged documents.

A gain is a sum of steps, one for each label that it reaches, so that DCG and ideal DCG are sums
over the steps of what they would be if the documents that reach the step had a gain of 1. The best
labels do not rise along the ranks: the first of the unjudged documents reach a step, and no more of
them than reach the step below. Dinkelbach's method (Management Science 13(7), 1967) maximizes the
ratio of the two sums by maximizing DCG - t * ideal DCG for increasing t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import Array, ArrayFunction

# DCG and ideal DCG of rows of labels, of which each is its own gain
Ratio = Callable[[Array], tuple[Array, Array]]


@dataclass
class Steps:
    """DCG and ideal DCG by the number of unjudged documents that reach each step.

    Parameters
    ----------
    dcg, ideal : array of shape (max_label, n_unjudged + 1)
        Of the steps up to each label.
    fixed_dcg, fixed_ideal : float
        Of the steps that all or none of the unjudged documents reach.
    """

    dcg: Array
    ideal: Array
    fixed_dcg: float = 0.0
    fixed_ideal: float = 0.0

    @classmethod
    def of(
        cls, labels: Array, order: Array, gain: ArrayFunction, max_label: int, ratio: Ratio
    ) -> Steps:
        """The steps of a query; `order` is -1 for judged documents, else 0, 1, … by rank."""
        counts = np.arange(order.max() + 2)[:, None]
        empty = (max_label, len(counts))
        steps = cls(np.zeros(empty), np.zeros(empty))
        reached = np.unique([*labels[order < 0], *range(max_label + 1)])
        heights = np.diff(np.asarray(gain(reached), dtype=np.float64), prepend=0.0)
        for label, height in zip(reached.tolist(), heights, strict=True):
            reaches = np.where(order >= 0, order < counts, labels >= label)
            dcg, ideal = (height * values for values in ratio(reaches.astype(np.float64)))
            # an unjudged document with an integer label reaches one between integers by the next
            if 0 < label <= max_label:
                steps.dcg[math.ceil(label) - 1] += dcg
                steps.ideal[math.ceil(label) - 1] += ideal
            else:
                chosen = -1 if label <= 0 else 0
                steps.fixed_dcg += dcg[chosen]
                steps.fixed_ideal += ideal[chosen]
        return steps

    def highest_ratio(self) -> float:
        """The greatest DCG / ideal DCG; 0 if no label has a gain."""
        best, at = 0.0, np.arange(len(self.dcg))
        while True:
            counts = _best_counts(self.dcg - best * self.ideal)
            ideal = self.fixed_ideal + self.ideal[at, counts].sum()
            dcg = self.fixed_dcg + self.dcg[at, counts].sum()
            if ideal <= 0 or dcg / ideal <= best * (1 + 1e-15):
                return best
            best = float(dcg / ideal)


def _best_counts(values: Array) -> Array:
    """For each row a column, not after that of the row before, such that the sum is greatest."""
    total, best_after = np.empty_like(values), np.zeros(values.shape[1])
    for row in range(len(values) - 1, -1, -1):
        total[row] = values[row] + best_after
        best_after = np.maximum.accumulate(total[row])
    counts, last = [], values.shape[1] - 1
    for row in total:
        last = int(row[: last + 1].argmax())
        counts.append(last)
    return np.array(counts, dtype=np.intp)
