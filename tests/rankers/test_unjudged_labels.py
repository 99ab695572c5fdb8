"""Labels of NaN, which nobody judged: refused by `QueryRanker.fit`, and scored by the metrics."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from requires import requires
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score

from sklearn_rankscore import (
    QueryKFold,
    QueryRanker,
    evaluate,
    make_ranking,
    make_ranking_scorer,
)


@pytest.fixture
def data():
    X, y = make_ranking(n_queries=12, as_frame=True, random_state=0)
    y = y.astype(float)
    y[np.arange(len(y)) % 3 == 1] = np.nan
    return X, y


@pytest.mark.parametrize("dtype", ["float64", "Int64", "object"])
def test_fit_says_what_to_do(data, dtype):
    X, y = data
    labels = y.astype(dtype) if dtype != "object" else y.astype(object).where(y.notna(), None)
    with pytest.raises(ValueError, match=r"y contains NaN \(first at row 1\)") as error:
        QueryRanker(Ridge()).fit(X, labels)
    for choice in ("numpy.isnan", "nan_to_num", "unjudged=drop"):
        assert choice in str(error.value)
    judged = y.notna()
    QueryRanker(Ridge()).fit(X[judged], y[judged])


@pytest.mark.parametrize("kind", ["series", "Int64", "array", "polars"])
def test_the_advice_selects_the_judged_rows_of_an_index_of_ids(data, kind):
    X, y = data
    X, numbers = X.set_index("qid"), y.to_numpy()
    labels = {"series": y, "Int64": y.astype("Int64"), "array": numbers}.get(kind)
    labels = pl.Series(numbers).fill_nan(None) if labels is None else labels
    with pytest.raises(ValueError, match="y contains NaN") as error:
        QueryRanker(Ridge()).fit(X, labels)
    advice = str(error.value).partition("judged = ")[2].partition(";")[0]
    judged = eval(advice, {"numpy": np, "y": labels})
    assert judged.tolist() == (~np.isnan(numbers)).tolist()
    kept = labels.filter(judged) if kind == "polars" else labels[judged]
    fitted = QueryRanker(Ridge()).fit(X[judged], kept)
    expected = Ridge().fit(X[judged].to_numpy(), numbers[judged])
    np.testing.assert_allclose(fitted.predict(X), expected.predict(X.to_numpy()))


def test_evaluation_sets_are_refused_too(data):
    lightgbm = requires("lightgbm")
    X, y = data
    ranker = QueryRanker(lightgbm.LGBMRanker(n_estimators=2, verbose=-1))
    with pytest.raises(ValueError, match="y contains NaN"):
        ranker.fit(X, y.fillna(0), eval_set=[(X, y)])


class JudgedRidge(Ridge):
    """Trained on the judged documents alone."""

    def fit(self, X, y):
        return super().fit(X[y.notna()], y[y.notna()])


def test_scorers_take_the_option(data):
    X, y = data
    names = ["ndcg@5(unjudged=drop)", "ndcg@5(unjudged=irrelevant)", "bpref", "judged@5"]
    search = GridSearchCV(
        JudgedRidge(), {"alpha": [1.0, 100.0]}, cv=QueryKFold(3), scoring=names, refit="bpref"
    ).fit(X, y)
    for number, (train, test) in enumerate(QueryKFold(3).split(X, y)):
        model = JudgedRidge(alpha=1.0).fit(X.iloc[train], y.iloc[train])
        given = y.iloc[test].to_numpy(), model.predict(X.iloc[test])
        expected = evaluate(*given, names, groups=X["qid"].iloc[test])
        for name, value in expected.items():
            assert search.cv_results_[f"split{number}_test_{name}"][0] == pytest.approx(value)
    scorer = make_ranking_scorer("ndcg", k=5, unjudged="drop")
    scores = cross_val_score(JudgedRidge(), X, y, scoring=scorer, cv=QueryKFold(3))
    by_name = [search.cv_results_[f"split{i}_test_{names[0]}"][0] for i in range(3)]
    assert scores.tolist() == pytest.approx(by_name)


def test_a_scorer_without_the_option_names_the_choices(data):
    X, y = data
    model = Ridge().fit(X, y.fillna(0))
    with pytest.raises(ValueError, match="unjudged='drop'"):
        make_ranking_scorer("ndcg@5")(model, X, pd.Series(y.to_numpy(), X.index))
