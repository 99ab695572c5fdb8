"""
Two libraries, two numbers
==========================

The training log of LightGBM and scikit-learn's function report different values of "NDCG@5" for the
same scores. This example finds out why, and which number to report.
"""

# %%
# The scores of a few trees: many of them are tied.
import lightgbm
import numpy as np
from sklearn.metrics import ndcg_score as sklearn_ndcg_score

from sklearn_rankscore import convention_report, evaluate, load_lambdarank

X, y, groups = load_lambdarank(return_X_y=True, subset="train")
X_test, y_test, groups_test = load_lambdarank(return_X_y=True, subset="test")


def dataset(X, y, groups, **options):
    """Data of LightGBM, which takes the sizes of consecutive queries."""
    return lightgbm.Dataset(X, y, group=np.unique(groups, return_counts=True)[1], **options)


train = dataset(X, y, groups)
history = {}
booster = lightgbm.train(
    {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "num_leaves": 4, "verbosity": -1},
    train,
    num_boost_round=5,
    valid_sets=[dataset(X_test, y_test, groups_test, reference=train)],
    callbacks=[lightgbm.record_evaluation(history)],
)
y_score = booster.predict(X_test)
print(f"LightGBM:     {history['valid_0']['ndcg@5'][-1]:.4f}")

# %%
each = [
    sklearn_ndcg_score([y_test[groups_test == q]], [y_score[groups_test == q]], k=5)
    for q in np.unique(groups_test)
]
print(f"scikit-learn: {np.mean(each):.4f}")

# %%
# Both values are in the table of conventions, next to those of other libraries, none of which needs
# to be installed.
report = convention_report(y_test, y_score, groups=groups_test, metrics=["ndcg@5", "map@5"])
print(report)

# %%
# Which choice causes the difference? Change one at a time.
options = {
    "scikit-learn": {},
    "gain 2^y - 1": {"gain": "exponential"},
    "and ties in input order": {"gain": "exponential", "ties": "stable"},
    "and 1 without relevant": {
        "gain": "exponential",
        "ties": "stable",
        "replace_undefined_by": 1.0,
    },
}
steps = {
    name: evaluate(y_test, y_score, "ndcg@5", groups=groups_test, **given)["ndcg@5"]
    for name, given in options.items()
}
for name, value in steps.items():
    print(f"{value:.4f}  {name}")

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(5.5, 2.6), layout="constrained")
axes.plot(list(steps.values()), list(steps), "o-")
axes.invert_yaxis()
axes.set(xlabel="NDCG@5", title="From scikit-learn's value to LightGBM's")
plt.show()

# %%
# Decision: report the linear gain with averaged ties, the default here, and name it. To continue a
# series of numbers of LightGBM, use ``"ndcg@5(like=lightgbm)"``. See :doc:`/guide/conventions`.
