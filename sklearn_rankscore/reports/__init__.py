"""Reports on rankings, as text and HTML."""

from .convention_report import convention_report
from .report import ranking_report

__all__ = ["convention_report", "ranking_report"]
