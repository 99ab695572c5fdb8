"""Names and numbers in plots: shortened where they have no room, and never all the same."""

import re
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from sklearn_rankscore import (
    FeatureImportanceDisplay,
    ForestDisplay,
    QueryDeltaDisplay,
    QueryPropertyDisplay,
    RankChangeDisplay,
    make_ranking,
)
from sklearn_rankscore.plots.text import fit_names

mpl.use("Agg")


FEATURE = "user_item_interactions_in_the_last_{}_days_per_category".format


def forest(n_rows, name, **options):
    values = np.linspace(-1, 1, n_rows)
    return ForestDisplay(
        labels=[name(i) for i in range(n_rows)], values=values, intervals=np.c_[values, values + 1]
    ).plot(**options)


def texts(labels):
    return [label.get_text() for label in labels]


def test_long_features_keep_where_they_differ():
    _, ax = plt.subplots(figsize=(5, 2.5))
    zeros = np.zeros(12)
    FeatureImportanceDisplay(
        features=[FEATURE(i) for i in range(12)], importances=zeros,
        intervals=np.c_[zeros, zeros], metric="ndcg",
    ).plot(ax)  # fmt: skip
    for i, name in enumerate(texts(ax.get_yticklabels())):
        assert name.startswith("user")
        assert f"_{i}_" in name
        assert name.endswith("ry")


@pytest.mark.parametrize("name", [FEATURE, "lightgbm_lambdarank_with_31_leaves_and_seed_{}".format])
def test_rows_of_long_names_in_small_axes_differ(name):
    figure, axes = plt.subplots(2, 3, figsize=(9, 5), layout="constrained")
    for ax in axes.flat:
        forest(12, name, ax=ax)
    figure.canvas.draw()
    for ax in axes.flat:
        assert len({*texts(ax.get_yticklabels())}) == 12
        boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
        for upper, lower in pairwise(boxes):
            assert upper.y0 >= lower.y1 - 1
        assert ax.get_window_extent().width > 72


@pytest.mark.parametrize("size", [None, (5, 2.5)])
def test_long_categories_keep_where_they_differ(size):
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    values = np.array([0.1, 0.2, 0.3])
    display = QueryPropertyDisplay(
        bins=[f"https://shop.example.com/category/shoes/{i}" for i in range(3)], queries=[7, 7, 6],
        means={"model": values}, intervals={"model": np.c_[values, values]}, metric="ndcg",
        property="link",
    ).plot(ax)  # fmt: skip
    display.figure_.canvas.draw()
    names = texts(display.ax_.get_xticklabels())
    for i, name in enumerate(names):
        assert name.startswith("https")
        assert name.endswith((f"s/{i}\n7", "s/2\n6"))
    assert len({*names}) == 3
    assert display.ax_.get_window_extent().height > 36


def test_dollars_of_shortened_names_are_literal():
    _, ax = plt.subplots(figsize=(3, 2))
    forest(12, ("$" * 60 + "{}").format, ax=ax)
    for name in texts(ax.get_yticklabels()):
        assert name.count(r"\$") == name.count("$") > 0


def test_names_that_fit_are_not_changed():
    names = ["ndcg@10", "a name of several words", "another_name"]
    assert fit_names(names, 30) == names
    assert fit_names(names, 12, 2) == ["ndcg@10", "a name of\ns…eral words", "another_name"]


@pytest.mark.parametrize("n_lines", [1, 2])
@pytest.mark.parametrize("n_characters", [1, 8, 14, 30])
@pytest.mark.parametrize(
    "name",
    [
        FEATURE, "{} items of some features with a long name of several words".format,
        lambda i: f"first_{i // 4}_of_the_places_where_names_differ_and_{i % 4}_the_second_of_them",
    ],
)  # fmt: skip
def test_shortened_names_fit_and_differ(name, n_characters, n_lines):
    names = [name(i) for i in range(16)] * 2
    fitted = fit_names(names, n_characters, n_lines)
    assert fitted[:16] == fitted[16:]
    assert len({*fitted}) == 16
    for text in fitted:
        lines = text.split("\n")
        assert len(lines) <= n_lines
        assert max(map(len, lines)) <= max(n_characters, 8)


@pytest.mark.parametrize(
    ("name", "first", "end"),
    [
        ("https://shop.example.com/product/with/a/long/name/{}", "https", "e/0 (0)  1"),
        ("https://shop.example.com/item{}/with/the/same/end.html", "https", "tml (0)  1"),
        ("product {} with a long name of which no blank is lost", "produ", "st (0)  1"),
    ],
)
def test_documents_that_differ_anywhere_keep_their_labels(name, first, end):
    documents = [name.format(i) for i in range(4)]
    scores = {"a": [3, 2, 1, 0], "b": [0, 1, 2, 3]}
    display = RankChangeDisplay.from_predictions(
        [0, 1, 2, 3], scores, groups=[0] * 4, query=0, names=documents
    )
    names = texts(display.ax_.texts)
    assert len({text.partition(" (")[0] for text in names[:4]}) == 4
    assert names[0].startswith(first)
    assert names[0].endswith(end)


def interval_of(value):
    return ForestDisplay(
        labels=["m"], values=[value], intervals=[(value - abs(value) / 2, value + abs(value) / 2)]
    ).plot()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-1e-7, "-1e-07 [-1.5e-07, -5e-08]"),
        (2e-4, "+0.0002 [+0.0001, +0.0003]"),
        (4e-4, "+0.000 [+0.000, +0.001]"),
        (0.25, "+0.250 [+0.125, +0.375]"),
        (1e-14, "+0.000 [+0.000, +0.000]"),
        (np.nan, "nan [nan, nan]"),
    ],
)
def test_numbers_of_rows_are_not_all_zero(value, written):
    assert texts(interval_of(value).texts_) == [written]


def test_small_means_have_digits():
    display = ForestDisplay(labels=["m"], values=[2e-7], intervals=[(1e-7, 3e-7)], systems=[0])
    assert texts(display.plot().texts_) == ["2e-07 [1e-07, 3e-07]"]


def test_the_legend_of_small_differences_has_digits():
    X, y, groups = make_ranking(n_queries=40, random_state=0)
    scores = {"old": X[:, 0], "new": X[:, 1]}
    display = QueryDeltaDisplay.from_predictions(1e-7 * y, scores, groups=groups, metric="dcg")
    numbers = re.findall(r"[+-][\d.]+e-0\d", display.mean_line_.get_label())
    assert len(numbers) == 3
    assert float(numbers[1]) < float(numbers[0]) < float(numbers[2])
