"""What readers refuse: the slips of users, and the part of the message that says what is wrong."""

import math
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from frames import pl
from scipy.sparse import csr_array

from sklearn_rankscore import (
    evaluate,
    from_frames,
    from_ranked_lists,
    from_recommendations,
    from_relevance_lists,
    from_trec,
    ndcg_score,
    query_scores,
    ranking_report,
)

LOG = pd.DataFrame({"user": ["ann", "ann", "bob", "eve"], "item": ["tea", "jam", "tea", "oil"]})
TOP = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["oil", "jam", "tea"]}).assign(
    rank=[1, 2, 1], score=[0.5, 0.25, 0.125]
)
NAN, GAP = math.nan, [None, 1, 2, 3]


def frames(truth, predictions=TOP, **change):
    columns = {"groups": "user", "document": "item", "score": "score", **change}
    return from_frames(truth, predictions, **columns)


def ranks(rank, predictions=TOP):
    return frames(LOG, predictions, score=None, rank=rank)


FRAMES = [
    (lambda: frames(LOG.to_dict("list")), TypeError, "truth must be a DataFrame.*got a dict"),
    (lambda: frames(LOG, [TOP, TOP]), TypeError, "predictions must be a DataFrame.*dict of DataFr"),
    (lambda: frames(LOG.rename(columns={"item": "x"})), ValueError, "truth has no column 'item'"),
    (lambda: frames(LOG.iloc[:, [0, 1, 1]]), ValueError, "more than one column 'item'"),
    (lambda: frames(LOG, {"a": TOP, "b": TOP.drop(columns="user")}),
     ValueError, r"predictions\['b'\] has no column 'user'.*same name in all frames"),
    (lambda: frames(LOG, score=["score", "rank"]), ValueError, "one of tuples.*a dict, score="),
    (lambda: frames(LOG, groups="usr"), ValueError, "Did you mean 'user'"),
    (lambda: frames(LOG, {"a": TOP}, score={"b": "score"}), TypeError, "only one of"),
    (lambda: frames(LOG, document=None), TypeError, "document= is needed"),
    (lambda: frames(LOG, score=None), TypeError, "pass either score=.*; got neither"),
    (lambda: frames(LOG, rank="rank"), TypeError, "pass either score=.*; got both"),
    (lambda: frames(LOG.rename(columns={"user": "USER"})), ValueError, "Did you mean 'USER'"),
    (lambda: frames(LOG, exclude=TOP[:0]), ValueError, "exclude has no rows"),
    (lambda: ranks("rank", TOP.assign(rank=[1, 2, 10**9])), ValueError, "ranks up to 1000000000"),
    (lambda: frames(TOP.assign(rank=[1, 3, 1]), None, relevance="score", score=None, rank="rank"),
     ValueError, "lacks ranks of some query.* negatives as score="),
    (lambda: frames(pd.concat([LOG, LOG])), ValueError,
     r"truth, row 4: duplicate document 'tea' for query 'ann'.*duplicates\(\['user', 'item'\]"),
    (lambda: frames(LOG, pd.concat([TOP, TOP])),
     ValueError, "predictions, row 3: duplicate document 'oil'.*dict of DataFrames by name"),
    (lambda: ranks("score"), ValueError, r"must hold ranks, 1 for the best, or .*; got 0\.5\."),
    (lambda: ranks("rank", TOP.assign(rank=[7.25, 4, 2])), ValueError, r"got 7\.25\. Pass scores"),
    (lambda: frames(LOG, TOP.assign(score=[1, NAN, 2])), ValueError, "score: .* Leave out"),
    (lambda: frames(LOG.assign(y=NAN), relevance="y"), ValueError, "got nan.*unjudged=.drop"),
    *((lambda dtype=dtype, name=name: frames(LOG.assign(**{name: pd.Series(GAP, dtype=dtype)})),
       ValueError, f"truth, row 0, column {name}: an id is missing")
      for dtype in (object, "M8[s]", "m8[s]")
      for name in ("user", "item")),
    (lambda: frames(LOG.assign(user=range(4))),
     TypeError, "are 0 in one place and 'bob' in another"),
    (lambda: frames(LOG.assign(user=1), TOP.assign(user=2)),
     ValueError, "no query in common: truth has 1, predictions has 2"),
    (lambda: frames(LOG.assign(item=[["a"]] * 4)), TypeError, "must hold hashable ids"),
    (lambda: frames(LOG[:0]), ValueError, "truth has no rows"),
    (lambda: from_frames(TOP, groups=TOP["user"], relevance="rank", score="score"),
     TypeError, "columns go by their names, as groups='user'; got a Series"),
    (lambda: from_frames(TOP, groups=None, relevance="rank", score="score"),
     ValueError, "has no column None"),
    (lambda: frames(TOP, None), TypeError, "a single frame .* relevance= is needed"),
    (lambda: frames(TOP, None, relevance="rank", exclude=LOG),
     TypeError, "are options for two frames"),
    (lambda: frames(pd.concat([TOP, TOP]), None, relevance="rank"),
     ValueError, "truth, row 3: duplicate document 'oil' for query 'ann'. Remove it"),
]  # fmt: skip

QRELS, RUN = {"q": {"a": 1}}, {"q": {"a": 0.5}}
TREC = [
    (lambda: from_trec(pd.DataFrame({"qid": [1], "doc": ["a"]}), RUN),
     ValueError, "no column for the document, such as doc_id, .*; it has qid, doc"),
    (lambda: from_trec(pd.DataFrame({"qid": [1], "docno": ["a"], "x": [1]}), RUN),
     ValueError, r"such as .* grade, rating; it has qid, docno, x.*from_frames"),
    (lambda: from_trec({"q": ["a"]}, RUN), TypeError,
     r"qrels, query 'q': must be a dict .*; got the list"),
    *((lambda of=of: from_trec(QRELS, {"q": of, "r": of}), TypeError,
       r"run, query 'q': must be a dict .* or a list .*; got the [^.]*\. from_ranked_lists takes")
      for of in ({"a"}, np.array(["a"]), pd.Series(["a"]))),
    *((lambda read=read, given=given: read(*given, complete="no"), TypeError,
       "complete must be True or False; got 'no'")
      for read, *given in ((from_trec, QRELS, RUN), (frames, LOG, TOP))),
    (lambda: from_trec(5, RUN), TypeError, "qrels must be a path, .*got a int"),
    (lambda: from_trec("no/such/file", RUN), FileNotFoundError, "no/such/file"),
    (lambda: from_trec({"q": {"a": 0.5}}, RUN), ValueError, "from_frames and from_ranked_lists"),
    (lambda: from_trec({"q": {"a": "1"}}, RUN), TypeError, "relevance', must hold numbers"),
    (lambda: from_trec(QRELS, {"x": {"q": {"a": "1"}}}), TypeError, "run 'x', .*hold numbers"),
    (lambda: from_trec(QRELS, {"q": ["a", "a"]}), ValueError, "duplicate document 'a'"),
    # a list of fewer results than asked for, as vector indexes pad it
    (lambda: from_trec(QRELS, {"p": ["a"], "q": ["a", None]}), ValueError,
     "run, query 'q', column document: an id is missing"),
    (lambda: from_trec(QRELS, {"bm25": {"p": {"a": 1}, "q": {"a": 2, "b": NAN}}}), ValueError,
     "run 'bm25', query 'q', column score: must be a number; got nan"),
    (lambda: from_trec({"p": {"a": 1}, "q": {"a": None}}, RUN), ValueError,
     "qrels, query 'q', column relevance: must be a number; got nan"),
    (lambda: from_trec(QRELS, {}), ValueError, "the run has no rows"),
    (lambda: from_trec(QRELS, {"": "a.run"}), TypeError, "names as keys"),
    (lambda: from_trec(QRELS, ["a.run", "b.run"]), TypeError,
     "list. Several runs are a dict by name"),
    (lambda: from_trec(QRELS, {"r": {"a": 1}}), ValueError, "qrels and run have no query"),
]  # fmt: skip


class Unhashable:
    """An item that cannot be hashed."""

    __hash__ = None


def lists(actual, predicted):
    return lambda: from_ranked_lists(actual, predicted)


BY_ID = {"q": ["a"]}
LISTS = [
    (lists([["a"], ["b"]], [["a"]]), ValueError, "actual has 2 queries, predicted has 1"),
    (lists(BY_ID, {"q": ["a"], "r": ["b"]}), ValueError,
     "`actual` lacks 1 query of `predicted`; the first is 'r'.*Remove them from `predicted`, or "
     r"give them an empty list .* count 0 in most metrics .option replace_undefined_by"),
    (lists({1: ["a"]}, {"1": ["a"]}), ValueError, "first is '1', where `actual` has ids such as 1"),
    (lists(BY_ID, [["a"]]), ValueError, r"both must be dicts by query id.*series\.to_dict"),
    (lists(pd.Series({1: "a"}), pd.Series({2: ["a"]})), ValueError, "lacks 1 query .* is 2,"),
    (lists(pd.Series(["a"] * 2, index=[1, 1]), pd.Series([["a"]] * 2, index=[1, 1])),
     ValueError, "actual has an index with duplicates"),
    (lists(csr_array([[1]]), [[0]]),
     TypeError, "got a csr_array; a sparse matrix goes into from_recommendations"),
    (lists(LOG, TOP), TypeError, "actual is a DataFrame with the columns .*from_frames"),
    (lists([[["a"]]], [["a"]]), TypeError, r"query 0 of actual holds the list \['a'\]"),
    (lists([["a"], ["b"]], [["a"], [Unhashable()]]), TypeError, "query 1 of predicted holds"),
    (lists({"q": map(str, [1, 2])}, {"q": ["1"]}), TypeError, "query 'q' of actual holds the map"),
    (lists(BY_ID, {"q": [["a", 0.5]]}), TypeError, r"query 'q' .*{query: dict\(pairs\)}"),
    (lists([["a"]], [{"a"}]), TypeError, "query 0 is the set"),
    (lists(BY_ID, {"q": None}), TypeError, "an empty one if it has none; that of query 'q' is"),
    (lists(pd.Series([["a"]] * 2), pd.Series([["a"], NAN])),
     TypeError, "that of query 1 is the float nan"),
    (lists("abc", [["a"]]), TypeError, "actual must be a sequence or dict"),
    (lists([], []), ValueError, "actual is empty"),
    (lambda: from_ranked_lists([["a"]], [["a"]], exclude=[["b"], ["c"]]),
     ValueError, "actual has 1 queries, exclude has 2"),
    (lambda: from_ranked_lists([["a"]], [["a"]], exclude={0: ["b"]}),
     ValueError, "exclude has 1; both must be dicts"),
    (lambda: from_ranked_lists({7: ["a"]}, {7: ["x"]}, exclude={"7": ["x"]}),
     TypeError, "exclude has query ids such as '7', where actual has 7"),
    (lists([["a", None]], [["a"]]), ValueError, "missing; query 0 of actual holds the NoneType"),
    (lists({"u": ["a"]}, {"u": ["a", NAN]}), ValueError, "missing; query 'u' of predicted holds"),
    (lists([["a"]], {"x": [["a", pd.NA]]}),
     ValueError, "query 0 of predicted 'x' holds the NAType"),
    (lists([{"a": "high"}], [["a"]]), TypeError, "actual must hold numbers; got strings"),
    (lists([{"a": NAN}], [["a"]]), ValueError, "actual contains NaN"),
    (lambda: from_relevance_lists([]), ValueError, "relevances is empty"),
    (lambda: from_relevance_lists([1, 0]), TypeError, "hold a list .* query 0 is the int 1"),
    (lambda: from_relevance_lists([["yes"]]), TypeError, "must hold numbers; got strings"),
    (lambda: from_relevance_lists([[[1], [0]]]), ValueError, "got nested lists"),
    (lambda: from_relevance_lists({"a": [[1]], "b": [[0], [1]]}), ValueError, "'b'. has 2"),
    (lambda: from_relevance_lists({"a": [[1]], "b": {"q": [0]}}), ValueError, "must be dicts by q"),
    (lambda: from_relevance_lists({"a": [[1]], "b": [0]}), TypeError, r"relevances\['b'\] must"),
]  # fmt: skip

SQUARE = csr_array(np.eye(2))


def matrix(recommended, scores=None, interactions=SQUARE):
    return lambda: from_recommendations(interactions, recommended, scores)


MATRICES = [
    (matrix([[0]]), ValueError, r"2 users, recommended has shape \(1, 1\), .*Of some users only"),
    (matrix([0, 1]), ValueError, r"recommended has shape \(2,\)"),
    (matrix([[], []]), ValueError, "recommended is empty"),
    (matrix([[True], [False]]), ValueError, "-1 for no recommendation; got True"),
    (matrix([[0], [2]]), ValueError, "0 to 1, or -1 for no recommendation; got 2"),
    (matrix([[0.0], [NAN]]), ValueError, "-1 for no recommendation; got nan"),
    (matrix([[0.5, 0.1], [1, 2]]), ValueError, r"evaluate\(interactions.toarray\(\), scores"),
    (matrix([["a"], ["b"]]), TypeError, "must hold numbers; got strings.* from_ranked_lists"),
    (matrix(SQUARE, interactions=[[0, 1], [1, 0]]), TypeError, "recommended is a sparse matrix"),
    (matrix([[0], [1]], [1, 2]), ValueError, r"scores \(2,\)"),
    (matrix([[0], [1]], [[1], [NAN]]), ValueError, "scores contains NaN"),
    (matrix({"a": [[0], [1]]}, {"b": [[0], [1]]}), TypeError, "dicts with the same names"),
    (lambda: from_recommendations(SQUARE, [[0], [1]], exclude=np.eye(3)),
     ValueError, r"exclude has shape \(3, 3\), interactions \(2, 2\)"),
    (matrix([[0]], interactions=csr_array([[NAN]])), ValueError, "interactions contains NaN"),
    (matrix([[0]], interactions=None), TypeError, "interactions must be an array of numbers"),
    (matrix([[0]], interactions=[1, 0]), ValueError, "must be a sparse matrix or a two-dim"),
]  # fmt: skip


OTHERS = [
    *((lambda of=of: of([1, 0], {"": [1, 2], "b": [2, 1]}, metrics="mrr"), ValueError,
       r"the names are \['', 'b'\]\. Give it another name")
      for of in (evaluate, query_scores, ranking_report)),
    (matrix([[0, -1], [1, 0]], np.ma.masked_equal([[1, 2], [3, 4]], 4)),
     ValueError, "scores has masked values"),
    *((matrix(pd.DataFrame([[0, 1], [0, None]], dtype=dtype)), ValueError, "-1 for no rec.*got nan")
      for dtype in ("Int64", object, *(["int32[pyarrow]"] if pl else []))),
    (lambda: evaluate([1, 0], {}, "mrr"), ValueError, "at least one model; got an empty dict"),
    (lambda: ndcg_score([1, 0], {"a": [1, 2]}), TypeError, "one per document; got a dict"),
    *((lambda read=read, given=given: read(*given, unjudged="pool"), ValueError,
       "unjudged must be one of 'irrelevant', 'drop', 'nan'")
      for read, *given in ((from_trec, QRELS, RUN), (frames, LOG, TOP), (from_ranked_lists, [], []),
                           (from_recommendations, [], []))),
    (lambda: ndcg_score(**from_relevance_lists([[NAN, 1]])), ValueError, "unjudged='drop'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), [*FRAMES, *TREC, *LISTS, *MATRICES, *OTHERS])
def test_each_is_one_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("names", [[], [""], [1], ["a", ""]], ids=str)
@pytest.mark.parametrize("read", [
    lambda of: frames(LOG, of(TOP)),
    lambda of: frames(LOG, score=of("score")),
    lambda of: frames(TOP, None, relevance="rank", score=of("score")),
    lambda of: from_ranked_lists([["a"]], of([["a"]])),
    lambda of: from_recommendations(SQUARE, of([[0], [1]])),
])  # fmt: skip
def test_names_of_systems(read, names):
    with pytest.raises(TypeError, match=r"at least one system with names as keys.*; got \["):
        read(lambda form: dict.fromkeys(names, form))


@pytest.mark.integration
def test_a_tensor_is_no_item():
    item = import_module("torch").tensor(1)
    with pytest.raises(TypeError, match=r"holds the Tensor tensor\(1\)"):
        from_ranked_lists([[1]], [[item]])
