"""
Evaluate a recommender
======================

A log of purchases, two recommenders that return lists, and the question which of them to deploy.
"""

# %%
# The log has one row per purchase. Users like items that match their taste; the last purchases of
# each user are held out.
import numpy as np
import pandas as pd

random = np.random.default_rng(0)
n_users, n_items = 300, 120
taste, kind = random.normal(size=(n_users, 4)), random.normal(size=(n_items, 4))
popularity = random.exponential(size=n_items)
appeal = taste @ kind.T + 1.5 * np.log(popularity) + random.gumbel(size=(n_users, n_items))
bought = np.argsort(-appeal, axis=1)[:, :12]
order = random.permuted(bought, axis=1)
train, test = order[:, :8], order[:, 8:]
log = pd.DataFrame({"user": np.repeat(np.arange(n_users), 4), "item": test.ravel()})
print(log.head(3))

# %%
# Two recommenders: the most popular items, and items that are bought together.
purchases = np.zeros((n_users, n_items))
np.put_along_axis(purchases, train, 1, axis=1)
together = purchases.T @ purchases
np.fill_diagonal(together, 0)
scores = {
    "popular": np.tile(purchases.sum(axis=0), (n_users, 1)),
    "together": purchases @ (together / np.sqrt(together.sum(axis=0) + 1)),
}


def top(score, n=20):
    """The best items of each user that the user does not have, as a recommender returns them."""
    items = np.argsort(-np.where(purchases > 0, -np.inf, score), axis=1, kind="stable")[:, :n]
    users = np.repeat(np.arange(n_users), n)
    return pd.DataFrame(
        {"user": users, "item": items.ravel(), "rank": np.tile(np.arange(n), n_users) + 1}
    )


lists = {name: top(score) for name, score in scores.items()}

# %%
# One call converts the log and both lists: items that were bought but not recommended count as
# missed.
from sklearn_rankscore import compare, from_frames, query_scores

documents = from_frames(log, lists, groups="user", document="item", rank="rank")
systems = query_scores(metrics=["recall@20", "ndcg@20", "hit_rate@5"], **documents)
comparison = compare(systems, baseline="popular", random_state=0)
print(comparison)

# %%
import matplotlib.pyplot as plt

cutoffs = [1, 2, 5, 10, 20]
figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for name, result in query_scores(metrics=[f"recall@{k}" for k in cutoffs], **documents).items():
    axes.plot(cutoffs, list(result.mean().values()), "o-", label=name)
axes.set(xlabel="length of the list", ylabel="recall", title="Recall of the held-out purchases")
axes.legend()
plt.show()

# %%
# Decision: deploy the items that are bought together. See :doc:`/guide/inputs` for other formats of
# lists.
