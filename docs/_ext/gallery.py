"""The gallery: its examples in the order of use, and in the colors of the package."""

ORDER = [
    "tune_a_ranker",
    "compare_rankers",
    "choose_by_clicks",
    "kaggle_countries",
    "cluster_search",
    "whole_queries",
    "early_stopping",
    "simplest_model",
    "more_queries",
    "two_rankers",
    "segments",
    "sample_size",
    "paper_table",
    "top_n",
    "docstring_search",
    "two_numbers",
    "ties",
    "revenue",
]


class InOrderOfUse:
    """A sort key of file names; an example that `ORDER` lacks is an error."""

    def __init__(self, folder):
        pass

    def __call__(self, file):
        """Return the place of an example."""
        return ORDER.index(file.removesuffix(".py"))


def palette(gallery_conf, example):
    """Draw the lines of an example in the colors of the systems."""
    import matplotlib as mpl

    from sklearn_rankscore.plots.style import SYSTEMS

    mpl.rcParams["axes.prop_cycle"] = mpl.cycler(color=SYSTEMS)
