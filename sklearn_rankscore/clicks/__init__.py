"""Estimates of the probability that a document was examined, and what weights by it cost."""

from .click_logs import estimate_propensity
from .propensities import (
    ClickSums,
    PropensitySummary,
    click_sums,
    concatenate_sums,
    position_propensity,
    propensity_summary,
)

__all__ = [
    "ClickSums",
    "PropensitySummary",
    "click_sums",
    "concatenate_sums",
    "estimate_propensity",
    "position_propensity",
    "propensity_summary",
]
