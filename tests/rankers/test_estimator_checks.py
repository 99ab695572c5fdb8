"""QueryRanker passes scikit-learn's own checks of an estimator."""

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_rankscore import QueryRanker


@parametrize_with_checks([QueryRanker(Ridge()), QueryRanker(LogisticRegression())])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
