"""
How many queries does an experiment need?
=========================================

A pilot with few queries shows how many the experiment needs, and whether a new model can be called
no worse than the old one.
"""

# %%
# The pilot has sixty queries; the new model has a few more features.
from sklearn.linear_model import Ridge

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    compare,
    cross_val_query_scores,
    make_ranking,
)


def experiment(n_queries):
    """Scores of each query for the old model with two features and the new one with five."""
    X, y, groups = make_ranking(n_queries=n_queries, random_state=1)
    return {
        name: cross_val_query_scores(
            QueryRanker(Ridge()), X[:, :n], y, groups=groups, metrics="ndcg@10", cv=QueryKFold(5)
        )
        for name, n in {"old": 2, "new": 5}.items()
    }


pilot = compare(experiment(60), random_state=0)
print(pilot)

# %%
import matplotlib.pyplot as plt
import numpy as np

powers = np.linspace(0.5, 0.95, 10)
figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for difference in (0.01, 0.02, 0.03):
    needed = [
        pilot.queries_needed(difference=difference, power=power)["ndcg@10", "new"]
        for power in powers
    ]
    axes.plot(powers, needed, label=f"a difference of {difference}")
axes.set(
    xlabel="power",
    ylabel="queries",
    yscale="log",
    title="Half the effect needs four times the queries",
)
axes.legend()
plt.show()

# %%
# Run the experiment with as many queries as a difference of 0.02 needs, and state the margin below
# which a loss would not matter.
needed = pilot.queries_needed(difference=0.02, power=0.8)["ndcg@10", "new"]
print(needed, "queries")
print(compare(experiment(needed), margin=0.01, random_state=0))

# %%
# Decision: follow the verdict in the last column. See :doc:`/guide/comparing`.
