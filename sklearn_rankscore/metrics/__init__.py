"""Ranking metrics: formulas, public functions, names, and the conventions of other libraries."""

from . import binary_relevance, graded_relevance, incomplete_judgments, pairs
from .binary_relevance import *
from .evaluate import evaluate
from .graded_relevance import *
from .incomplete_judgments import *
from .names import metric_names
from .own_metrics import register_metric
from .pairs import *

__all__ = ["evaluate", "metric_names", "register_metric"]
__all__ += graded_relevance.__all__
__all__ += binary_relevance.__all__
__all__ += pairs.__all__
__all__ += incomplete_judgments.__all__
__all__.sort()  # pyright: ignore[reportUnsupportedDunderAll]
