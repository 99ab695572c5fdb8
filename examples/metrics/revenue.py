"""
A metric of your own
====================

A shop wants to know which fraction of the attainable revenue is on the first screen. This is not a
standard metric, but it can be defined as a function of ranked queries, and then be used in
evaluation, searches and tests.
"""

# %%
# A metric receives a block of ranked queries. ``by_rank`` has the revenue at each rank, ``ideal``
# that of the best order.
import numpy as np

from sklearn_rankscore import Block


def revenue_on_screen(block, screen=4):
    """Revenue of the first items over that of the best ones; nan without any revenue."""
    shown = block.by_rank(np.asarray)[:, :screen].sum(axis=1)
    attainable = block.ideal(np.asarray)[:, :screen].sum(axis=1)
    return np.divide(shown, attainable, out=np.full(len(shown), np.nan), where=attainable > 0)


# %%
# Check it by hand: of the first query, the screen shows 15 of 20; the second one sells nothing.
block = Block.from_lists([[5, 10, 0, 0, 5], [0, 0]], [[5, 4, 3, 2, 1], [2, 1]])
print(revenue_on_screen(block))

# %%
# Select a model by it. The revenue of an item is its price if it is bought.
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV

from sklearn_rankscore import QueryKFold, QueryRanker, make_ranking, make_ranking_scorer

X, grade, groups = make_ranking(n_queries=150, utility="interactions", random_state=0)
price = np.random.default_rng(0).lognormal(3, 0.7, len(grade))
revenue = np.where(grade >= 2, price, 0)
X = np.column_stack([X, price])
search = GridSearchCV(
    QueryRanker(HistGradientBoostingRegressor(max_iter=30, random_state=0)),
    {"estimator__loss": ["squared_error", "absolute_error", "poisson"]},
    scoring={"revenue": make_ranking_scorer(revenue_on_screen), "ndcg@4": "ndcg@4"},
    refit="revenue",
    cv=QueryKFold(5),
).fit(X, revenue, groups=groups)
losses = [candidate["estimator__loss"] for candidate in search.cv_results_["params"]]
for row in zip(
    losses,
    search.cv_results_["mean_test_revenue"].round(3),
    search.cv_results_["mean_test_ndcg@4"].round(3),
    strict=True,
):
    print(*row)

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for shift, metric in ((-0.2, "revenue"), (0.2, "ndcg@4")):
    values = search.cv_results_[f"mean_test_{metric}"]
    axes.bar(np.arange(len(losses)) + shift, values, width=0.4, label=metric)
axes.set(xticks=range(len(losses)), xticklabels=losses, ylabel="mean over the folds")
axes.legend()
plt.show()

# %%
# Decision: take the loss that the search selected by revenue. NDCG@4 with linear gain weights the
# ranks within the screen, which the shop does not care about. See :doc:`/guide/your_own_metric`.
