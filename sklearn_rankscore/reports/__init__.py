"""Reports on rankings, as text and HTML."""

from .convention_report import convention_report
from .report import ranking_report
from .report_object import RankingReport

__all__ = ["RankingReport", "convention_report", "ranking_report"]
