"""Estimates of the probability that a document was examined, and what weights by it cost."""

from .click_logs import estimate_propensity
from .propensities import PropensitySummary, position_propensity, propensity_summary

__all__ = ["PropensitySummary", "estimate_propensity", "position_propensity", "propensity_summary"]
