"""
A table for a paper
===================

Four systems, three metrics, and letters that mark significant differences, with a correction for
the number of tests; as text, Markdown and LaTeX.
"""

# %%
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    compare,
    cross_val_query_scores,
    make_ranking,
)

X, y, groups = make_ranking(n_queries=150, utility="interactions", random_state=0)
models = {
    "ridge": Ridge(),
    "neighbors": KNeighborsRegressor(10),
    "one tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "boosting": LGBMRanker(n_estimators=40, num_leaves=15, n_jobs=1, verbose=-1),
}
scores = {
    name: cross_val_query_scores(
        QueryRanker(model),
        X,
        y,
        groups=groups,
        metrics=["ndcg@5", "ndcg@10", "mrr"],
        cv=QueryKFold(5),
    )
    for name, model in models.items()
}

# %%
# All pairs are compared, so that the correction matters: with six pairs and three metrics, one of
# eighteen tests at the level of 0.05 is expected to be significant by chance.
table = compare(scores, pairs="all", random_state=0).system_table()
print(table)

# %%
print(table.to_markdown())

# %%
print(table.to_latex())

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
for place, result in enumerate(scores.values()):
    low, high = result.interval()["ndcg@10"]
    axes.plot([place, place], [low, high], color="C0")
    axes.plot(place, result.mean()["ndcg@10"], "o", color="C0")
axes.set(xticks=range(len(scores)), xticklabels=scores, ylabel="NDCG@10")
axes.set_title("Intervals of single systems overlap more than the pairs")
plt.show()

# %%
# Decision: report the table. The figure is a reminder of why overlapping intervals of single
# systems do not replace the paired tests.
# See :doc:`/guide/comparing`.
