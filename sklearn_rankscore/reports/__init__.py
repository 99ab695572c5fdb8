"""Reports on rankings, as text and HTML."""

from .convention_report import convention_report
from .render import RankingReport
from .report import ranking_report

__all__ = ["RankingReport", "convention_report", "ranking_report"]
