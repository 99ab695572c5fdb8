"""The plots of a ranking report, as SVG that takes the text color of its surroundings."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..inspection.compare import paired_differences
from ..inspection.query_scores import QueryScores
from ..metrics.segment import ALL_QUERIES
from ..plots import (
    CutoffCurveDisplay,
    DifferenceCurveDisplay,
    ForestDisplay,
    QueryDeltaDisplay,
    QueryPropertyDisplay,
    QueryScatterDisplay,
)
from ..plots.query_property import LABELS
from ..plots.rows import size_of_rows
from .cells import main_metrics
from .measurements import Measurements

# inches, for windows from 700 pixels on and for narrower ones
WIDE, NARROW = 8.0, 3.4
FONTS = r"^font\.(family|sans-serif|serif|monospace)$"
# replaced by the color of the surrounding text
TEXT_COLOR = "#010203"
STYLE: dict[str, Any] = {
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"),
        TEXT_COLOR,
    ),
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "svg.fonttype": "path", "savefig.bbox": None,
}  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A display with its title, and its height in inches."""

    title: str
    display: Any
    height: float = 3.8

    def svg(self, width: float, name: str) -> str:
        """The display at one width; `name` makes its ids unique."""
        from matplotlib import rcParams, style
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

        # names in other scripts than the default font has need one that the user has chosen
        fonts: Any = rcParams.find_all(FONTS)
        with style.context(["default", {**STYLE, **fonts, "svg.hashsalt": name}]):
            height = self.height + (0.6 if width < WIDE else 0)
            figure = Canvas(figsize=(width, height), layout="constrained")
            FigureCanvasAgg(figure)
            self.display.plot(figure.subplots())
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
        return _inline(text.getvalue(), self.title, name)


def _inline(svg: str, title: str, name: str) -> str:
    """An SVG image for HTML, without header, comments, fixed size and text color."""
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
    body = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    opening, rest = body.split(">", 1)
    opening = re.sub(r' (width|height)="[^"]*"', "", opening)
    label = f' role="img" aria-label="{escape(title)}"'
    return f"{opening}{label}>{rest}".replace(TEXT_COLOR, "currentColor").strip()


def report_figures(measured: Measurements) -> Iterator[Figure]:
    """The plots that these measurements allow."""
    main = main_metrics(measured.cells)
    if measured.comparison is not None:
        yield from _comparison_figures(measured, main)
    yield from _cutoff_figures(measured, main[0])
    if any(s.segments is not None for s in measured.systems.values()):
        yield _segment_figure(measured, main[0])
    yield from _property_figures(measured, main[0])


def _comparison_figures(measured: Measurements, main: list[str]) -> Iterator[Figure]:
    comparison = measured.comparison
    assert comparison is not None
    has_segments = any(d.segment != ALL_QUERIES for d in comparison)
    forest = ForestDisplay._of_comparison(comparison, main[:1] if has_segments else main)
    yield Figure("Differences", forest, size_of_rows(forest.labels)[1])
    scores = {name: system.scores for name, system in measured.systems.items()}
    first = next(iter(scores.values()))
    for model in [name for name in scores if name != comparison.baseline]:
        paired = paired_differences(first, scores[model])
        included = paired.included()[:, paired.column(main[0])]
        weights = None if paired.weights is None else paired.weights[included]
        names: Any = {"metric": main[0], "baseline": comparison.baseline, "model": model}
        if included.any():
            delta = QueryDeltaDisplay(
                deltas=paired[main[0]][included], weights=weights,
                interval=comparison[main[0], model].interval, confidence=comparison.confidence,
                **names,
            )  # fmt: skip
            yield Figure(f"Queries on which {model} wins and loses", delta)
            scatter = QueryScatterDisplay(
                baseline_values=first[main[0]][included],
                model_values=scores[model][main[0]][included], **names,
            )  # fmt: skip
            yield Figure(f"Each query, {comparison.baseline} and {model}", scatter, 5.0)


def _cutoff_figures(measured: Measurements, main: str) -> Iterator[Figure]:
    """Curves over the cut-offs of the first row of the table."""
    label = measured.cells[main].label
    columns = {c.k: m for m, c in measured.cells.items() if c.label == label and c.k is not None}
    k = np.array(sorted(columns))
    if len(k) < 2:
        return
    metrics = [columns[cutoff] for cutoff in k.tolist()]
    means, intervals = (
        {
            name: np.array([values[metric] for metric in metrics])
            for name, values in by_system.items()
        }
        for by_system in (
            {name or label: s.scores.mean() for name, s in measured.systems.items()},
            {name or label: s.intervals for name, s in measured.systems.items()},
        )
    )
    given: Any = {"k": k, "metric": label, "confidence": measured.confidence}
    yield Figure("By cut-off", CutoffCurveDisplay(means=means, intervals=intervals, **given))
    if (comparison := measured.comparison) is not None:
        models = [name for name in measured.systems if name != comparison.baseline]
        rows = {model: [comparison[metric, model] for metric in metrics] for model in models}
        curve = DifferenceCurveDisplay(
            differences={m: np.array([d.difference for d in own]) for m, own in rows.items()},
            intervals={m: np.array([d.interval for d in own]) for m, own in rows.items()},
            baseline=str(comparison.baseline), **given,
        )  # fmt: skip
        yield Figure("Differences by cut-off", curve)


def _segment_figure(measured: Measurements, main: str) -> Figure:
    forest = ForestDisplay._of_means(
        {name or main: system.scores for name, system in measured.systems.items()},
        [main], None, measured.inference,
    )  # fmt: skip
    return Figure("Means by segment", forest, size_of_rows(forest.labels)[1])


def _of_one(scores: QueryScores, metric: str) -> QueryScores:
    stored = scores.metrics[scores.column(metric)]  # which may tell its range
    return QueryScores(scores.ids, scores[metric][:, None], [stored], scores.weights)


def _property_figures(measured: Measurements, main: str) -> Iterator[Figure]:
    scores = {name or main: _of_one(s.scores, main) for name, s in measured.systems.items()}
    facts = next(iter(measured.systems.values())).facts
    for name, values in (
        (LABELS["documents"], facts.sizes),
        (LABELS["relevant"], facts.relevant.astype(int)),
    ):
        if values.min() < values.max():
            display = QueryPropertyDisplay._of_scores(
                scores, {name: values}, main, measured.inference
            )
            yield Figure(f"By number of {name}", display)
