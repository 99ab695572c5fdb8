"""Propensities, and the effective sample size of clicks weighted by them."""

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
