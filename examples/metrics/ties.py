"""
The score that depends on the order of the rows
===============================================

A model with few distinct scores ties many documents. A library that breaks ties by the order of the
rows then reports a different value for each order. This example shows the distribution of these
values, and that the exact expectation is their mean.
"""

# %%
# The model rounds its scores to a few values, as trees of depth two do.
import numpy as np

from sklearn_rankscore import evaluate, load_lambdarank

X, y, groups = load_lambdarank(return_X_y=True)
y_score = np.round(X.mean(axis=1) * 40)
print(f"{len(np.unique(y_score))} distinct scores of {len(y)} documents")

# %%
# Five hundred shuffles of the rows, with ties in the order of the rows:
random = np.random.default_rng(0)
shuffled = []
for _ in range(500):
    order = random.permutation(len(y))
    values = evaluate(y[order], y_score[order], "ndcg@5", groups=groups[order], ties="stable")
    shuffled.append(values["ndcg@5"])
exact = evaluate(y, y_score, "ndcg@5", groups=groups)["ndcg@5"]
print(f"from {min(shuffled):.4f} to {max(shuffled):.4f}, mean {np.mean(shuffled):.4f}")
print(f"exact expectation: {exact:.4f}")

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
axes.hist(shuffled, bins=25, color="C0", alpha=0.6)
axes.axvline(exact, color="black", label="exact expectation")
axes.set(xlabel="NDCG@5 of the same scores", ylabel="orders of the rows")
axes.legend()
plt.show()

# %%
# Decision: keep ``ties="average"``, the default. A difference between two models that is smaller
# than the width of this histogram may be due to the order of the rows. See :doc:`/guide/ties`.
