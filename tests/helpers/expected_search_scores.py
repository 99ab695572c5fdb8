"""Expected results of scikit-learn's entry points for a scoring string, from loops over the folds.

The oracle scores the predictions of each fold; no scorer of this package is involved. If a tool
draws random numbers, the same draws are repeated, or the tool runs with the oracle as its scorer.
"""

import warnings

import numpy as np
import oracle
import sklearn_entry_points
from sklearn import clone
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, train_test_split
from sklearn_entry_points import ALPHAS, ONE_LIST

D = sklearn_entry_points.make_data()
Y, RELEVANT = D.y.to_numpy(), D.relevant.to_numpy()


def ndcg(y, scores, qid=D.qid, k=3, ties="average"):
    return oracle.score("ndcg", list(map(float, y)), list(scores), list(qid), k=k, ties=ties)


def one_list(y, scores, _=None):
    """The metric that ONE_LIST names."""
    return ndcg(y, scores, qid=[0] * len(y), k=50, ties="stable")


def fold_scores(model, X=D.X, y=Y, respond="predict", folds=D.folds, score=ndcg):
    values = []
    for train, test in folds:
        fitted = clone(model).fit(X[train], y[train])
        values.append(score(y[test], getattr(fitted, respond)(X[test]), D.qid[test]))
    return values


def fold_mean(model, **kwargs):
    return np.mean(fold_scores(model, **kwargs))


def best(candidates, value):
    """The first candidate with the highest value, and that value."""
    values = [value(candidate) for candidate in candidates]
    at = int(np.argmax(values))
    return [candidates[at], values[at]]


def mrr(y, scores, qid):
    return oracle.score("mrr", list(map(float, y)), list(scores), list(qid))


def r2(y, scores, qid):
    return r2_score(y, scores)


def curve(sizes=(72, 144)):
    """Scores of models fitted on the first rows of each fold: on those rows, on the test rows."""
    train_scores, test_scores = [], []
    for n in sizes:
        seen = [(train[:n], train[:n]) for train, _ in D.folds]
        kept = [(train[:n], test) for train, test in D.folds]
        train_scores.append(fold_scores(Ridge(), folds=seen))
        test_scores.append(fold_scores(Ridge(), folds=kept))
    return [train_scores, test_scores]


def permuted_labels():
    """Fold means with the labels as permutation_test_score shuffles them."""
    random = np.random.RandomState(0)
    shuffled = [Y[random.permutation(len(Y))] for _ in range(2)]
    return [fold_mean(Ridge()), *(fold_mean(Ridge(), y=y) for y in shuffled)]


def permuted_features():
    fitted = Ridge().fit(D.X, Y)

    def scoring(estimator, X, y):
        return ndcg(y, estimator.predict(X))

    permuted = permutation_importance(fitted, D.X, Y, scoring=scoring, n_repeats=2, random_state=0)
    return permuted.importances


def selected_forward(n_features=2):
    chosen = []
    while len(chosen) < n_features:
        left = [j for j in range(D.X.shape[1]) if j not in chosen]
        chosen.append(best(left, lambda j: fold_mean(Ridge(), X=D.X[:, [*chosen, j]]))[0])
    return sorted(chosen)


def eliminate(train):
    """Sets of features, from all to one; the smallest coefficient is removed each time."""
    features = np.arange(D.X.shape[1])
    while len(features):
        yield features
        weights = Ridge().fit(D.X[train][:, features], Y[train]).coef_
        features = np.delete(features, np.argmin(weights**2))


def eliminated_backward():
    by_fold = [
        [
            fold_scores(Ridge(), X=D.X[:, kept], folds=[(train, test)])[0]
            for kept in eliminate(train)
        ]
        for train, test in D.folds
    ]
    means = np.mean(by_fold, axis=0)[::-1]
    n_best = 1 + int(np.argmax(means))
    kept = next(f for f in eliminate(np.arange(len(Y))) if len(f) == n_best)
    scores = Ridge().fit(D.X[:, kept], Y).predict(D.X[:, kept])
    return [*means, ndcg(Y, scores)]


class ExpectedGrade(LogisticRegression):
    def predict(self, X):
        return self.predict_proba(X) @ self.classes_


def logistic_grid():
    model = ExpectedGrade(tol=1e-10, max_iter=10_000)
    scores = [fold_scores(clone(model).set_params(C=C)) for C in (0.01, 1.0)]
    C, _ = best([0.01, 1.0], lambda C: fold_mean(clone(model).set_params(C=C)))
    final = clone(model).set_params(C=C).fit(D.X, Y)
    return {"scores": np.transpose(scores), "C": C, "score": ndcg(Y, final.predict(D.X))}


def leave_one_out(alpha):
    scores = np.empty(len(Y))
    for row in range(len(Y)):
        rest = np.delete(np.arange(len(Y)), row)
        scores[row] = Ridge(alpha).fit(D.X[rest], Y[rest]).predict(D.X[[row]])[0]
    return scores


def ridge_classifiers(score):
    def value(alpha):
        model = RidgeClassifier(alpha)
        return fold_mean(model, y=RELEVANT, respond="decision_function", score=score)

    return best(ALPHAS, value)


def boosted(model, y, respond="staged_predict"):
    model.set_params(max_iter=4, early_stopping=False, random_state=0).fit(D.X, y)
    return [one_list(y, scores) for scores in getattr(model, respond)(D.X)]


def boosted_validation():
    """The internal split of HistGradientBoostingRegressor, repeated with the same seed."""
    model = HistGradientBoostingRegressor(
        scoring=ONE_LIST, max_iter=4, early_stopping=True, validation_fraction=0.25, random_state=0
    )
    seed = np.random.RandomState(0).randint(np.iinfo(np.uint32).max, dtype="u8")
    X_train, X_test, y_train, y_test = train_test_split(D.X, Y, test_size=0.25, random_state=seed)
    model.set_params(scoring="loss", early_stopping=False).fit(X_train, y_train)
    return [one_list(y_test, scores) for scores in model.staged_predict(X_test)]


def thresholds():
    candidates, values = [0.3, 0.5, 0.7], []
    for threshold in candidates:
        folds = []
        for train, test in D.folds:
            fitted = LogisticRegression().fit(D.X[train], RELEVANT[train])
            labels = fitted.predict_proba(D.X[test])[:, 1] >= threshold
            folds.append(ndcg(RELEVANT[test], labels.astype(float), D.qid[test]))
        values.append(np.mean(folds))
    return [candidates, values]


def nested():
    best_of_folds = []
    for train, _ in D.folds:
        inner = [(train[a], train[b]) for a, b in KFold(2).split(train)]
        best_of_folds.append(best(ALPHAS, lambda alpha: fold_mean(Ridge(alpha), folds=inner)))  # noqa: B023
    return best_of_folds


def monitored(n_iterations):
    """Scores that the callback logs: of the fitted model, then after 1, 2, ... iterations."""
    models = [LogisticRegression(max_iter=n) for n in [100, *range(1, n_iterations + 1)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations are not meant to converge
        scores = [m.fit(D.X, RELEVANT).decision_function(D.X) for m in models]
    return [one_list(RELEVANT, s) for s in scores]


def searched(model, params):
    """Candidates of a search and their mean scores over the folds."""
    models = [clone(model).set_params(**p) for p in params]
    return {"params": params, "means": [fold_mean(m) for m in models]}


def whole(metric="ndcg", alpha=1.0, **kwargs):
    """A metric of all rows, which are also the training rows."""
    scores = Ridge(alpha).fit(D.X, Y).predict(D.X)
    return oracle.score(metric, list(map(float, Y)), list(scores), list(D.qid), **kwargs)


def grid():
    return searched(Ridge(), [{"alpha": alpha} for alpha in ALPHAS])


def chosen():
    """Score of the candidate that a grid search refits."""
    alpha, _ = best(ALPHAS, lambda alpha: fold_mean(Ridge(alpha)))
    return whole(k=3, alpha=alpha)
