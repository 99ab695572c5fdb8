"""Slow, plain-Python oracle for ranking metrics, written from their definitions only.

A query is a list of labels y and a list of scores s. A document scored -inf is not
retrieved: it holds no rank, but still counts among the relevant documents and in the
ideal order. Ties are resolved by brute force: a metric is computed for every possible
order of the tied documents, then averaged ("average"), maximised ("optimistic") or
minimised ("pessimistic"). Each `top` below holds the labels at the ranks 1, 2, ... up
to the cut-off in one such order; each `o` holds all options, with k and n = last rank.
Orders with the same labels up to the cut-off have the same value, which is computed once.
"""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Floats = list[float]
Ratio = tuple[float, float]

TIES = ("average", "optimistic", "pessimistic", "stable", "reversed")
DEFAULTS = {
    "threshold": 0,
    "gain": "linear",
    "discount": "log2",
    "denominator": "k",
    "max_grade": 4,
    "normalize": False,
    "p": 0.8,
    "decay": 0.85,
}
DISCOUNTS = {
    None: lambda rank: 1,
    "log2": lambda rank: 1 / math.log2(1 + rank),
    "log2_after_first": lambda rank: 1 / max(1, math.log2(rank)),
    "reciprocal": lambda rank: 1 / rank,
}


class Click(float):
    """A label that counts 1 / propensity times."""

    def __new__(cls, label: float, propensity: float):
        self = super().__new__(cls, label)
        self.weight = 1 / propensity
        return self

    def __eq__(self, other):
        return float(self) == float(other) and self.weight == _weight(other)

    def __hash__(self):
        return hash((float(self), self.weight))


def _weight(label: float) -> float:
    return getattr(label, "weight", 1)


def _retrieved(s: Floats) -> list[int]:
    return [i for i in range(len(s)) if s[i] != -math.inf]


def _stable_order(s: Floats) -> list[int]:
    return sorted(_retrieved(s), key=lambda i: (-s[i], i))


def _reversed_order(s: Floats) -> list[int]:
    return sorted(_retrieved(s), key=lambda i: (-s[i], -i))


def all_orders(s: Floats):
    """Yield every order of the retrieved documents, best first, ties in any order."""
    tie_groups = itertools.groupby(_stable_order(s), key=lambda i: s[i])
    permuted = [itertools.permutations(group) for _, group in tie_groups]
    for parts in itertools.product(*permuted):
        yield list(itertools.chain(*parts))


def _tops(y: Floats, s: Floats, ties: str, k: int | None) -> Counter[tuple[float, ...]]:
    """Count how many of the orders to be considered have which labels within the cut-off."""
    # there is one NaN, so that it equals itself
    y = [math.nan if math.isnan(label) else label for label in y]
    single = {"stable": _stable_order, "reversed": _reversed_order}
    if ties in single:
        return Counter([tuple(y[i] for i in single[ties](s)[:k])])
    tops = Counter([()])
    above = 0
    for _, group in itertools.groupby(_stable_order(s), key=lambda i: s[i]):
        labels = [y[i] for i in group]
        within = len(labels) if k is None else min(len(labels), max(k - above, 0))
        of_group = Counter(itertools.permutations(labels, within))
        tops = Counter({a + b: n * m for a, n in tops.items() for b, m in of_group.items()})
        above += len(labels)
    return tops


def _over_orders(ties: str, values: Floats, counts: list[int]) -> float:
    if ties in ("optimistic", "pessimistic"):
        return {"optimistic": max, "pessimistic": min}[ties](values)
    return math.fsum(v * n for v, n in zip(values, counts, strict=True)) / sum(counts)


def _options(metric: str, y: Floats, s: Floats, k: int | None, given: dict) -> dict:
    if unknown := set(given) - set(DEFAULTS):
        raise TypeError(f"unknown options: {sorted(unknown)}")
    o = {**DEFAULTS, **METRICS[metric].defaults, **given}
    cut_off = _hits(y, o) if metric == "r_precision" else k
    return o | {"k": cut_off, "n": len(_retrieved(s))}


def _divide(a: float, b: float) -> float:
    return a / b if b else 0.0


def _hits(labels: Floats, o: dict) -> int:
    """Count the relevant documents."""
    return sum(_weight(label) for label in labels if label > o["threshold"])


def _gain(label: float, o: dict) -> float:
    return _weight(label) * _gain_of_label(float(label), o)


def _gain_of_label(label: float, o: dict) -> float:
    gain = o["gain"]
    if callable(gain):
        return gain(label)
    if isinstance(gain, list | tuple):
        return gain[int(label)]
    if gain == "exponential":
        return 2**label - 1
    return {"linear": label, "binary": int(label > o["threshold"])}[gain]


def _discounted_sum(gains: Floats, o: dict) -> float:
    discount = o["discount"] if callable(o["discount"]) else DISCOUNTS[o["discount"]]
    return math.fsum(g * discount(rank) for rank, g in enumerate(gains, start=1))


def _dcg(top: Floats, y: Floats, o: dict) -> float:
    return _discounted_sum([_gain(label, o) for label in top], o)


def _ideal_dcg(y: Floats, o: dict) -> float:
    gains = sorted((_gain(label, o) for label in y), reverse=True)
    return _discounted_sum(gains[: o["k"]], o)


def _ndcg(top: Floats, y: Floats, o: dict) -> Ratio:
    return _dcg(top, y, o), _ideal_dcg(y, o)


def _precision_sum(top: Floats, o: dict) -> float:
    """Sum the precisions at the ranks of the relevant documents."""
    ranks = [r for r, label in enumerate(top, start=1) if label > o["threshold"]]
    return math.fsum(_hits(top[:r], o) / r for r in ranks)


def _map_denominator(top: Floats, y: Floats, o: dict) -> int:
    relevant = _hits(y, o)
    smaller = relevant if o["k"] is None else min(relevant, o["k"])
    choices = {"min": smaller, "relevant": relevant, "hits": _hits(top, o)}
    return choices[o["denominator"]]


def _average_precision(top: Floats, y: Floats, o: dict) -> Ratio:
    return _precision_sum(top, o), _map_denominator(top, y, o)


def _mrr(top: Floats, y: Floats, o: dict) -> float:
    ranks = [r for r, label in enumerate(top, start=1) if label > o["threshold"]]
    return 1 / ranks[0] if ranks else 0.0


def _precision_denominator(y: Floats, o: dict) -> int:
    k = o["n"] if o["k"] is None else o["k"]
    attainable = _hits(y, o) if o["k"] is None else min(k, _hits(y, o))
    return {"k": k, "min": min(k, o["n"]), "attainable": attainable}[o["denominator"]]


def _precision(top: Floats, y: Floats, o: dict) -> Ratio:
    return _hits(top, o), _precision_denominator(y, o)


def _recall(top: Floats, y: Floats, o: dict) -> Ratio:
    """Proportion of the relevant documents that are retrieved."""
    is_capped = o["denominator"] == "min" and o["k"] is not None
    return _hits(top, o), min(_hits(y, o), o["k"]) if is_capped else _hits(y, o)


def _r_precision(top: Floats, y: Floats, o: dict) -> Ratio:
    """Recall with the cut-off R."""
    return _hits(top, o), _hits(y, o)


def _f1(top: Floats, y: Floats, o: dict) -> Ratio:
    """2 / (1 / precision + 1 / recall), of which both have the hits as the numerator."""
    return 2 * _hits(top, o), _precision_denominator(y, o) + _hits(y, o)


def _err(top: Floats, y: Floats, o: dict) -> float:
    grades = o["max_grade"]
    stop = top if grades is None else [(2**label - 1) / 2**grades for label in top]
    reach = [math.prod(1 - p for p in stop[:i]) for i in range(len(top))]
    return math.fsum(reach[i] * stop[i] / (i + 1) for i in range(len(top)))


def _rbp(top: Floats, y: Floats, o: dict) -> float:
    terms = [_gain(label, o) * o["p"] ** i for i, label in enumerate(top)]
    full_gain = max([1, *(_gain(label, o) for label in y)]) if o["normalize"] else 1
    return (1 - o["p"]) * math.fsum(terms) / full_gain


def _pfound(top: Floats, y: Floats, o: dict) -> float:
    reach = [math.prod(1 - label for label in top[:i]) for i in range(len(top))]
    return math.fsum(o["decay"] ** i * reach[i] * top[i] for i in range(len(top)))


def _is_judged(label: float) -> bool:
    return label >= 0  # neither NaN nor negative


def _judged(top: Floats, y: Floats, o: dict) -> Ratio:
    return sum(map(_is_judged, top)), o["n"] if o["k"] is None else min(o["k"], o["n"])


def _judged_counts(labels: Floats, o: dict) -> tuple[int, int]:
    """Count the relevant and the irrelevant documents among those judged."""
    judged = [label for label in labels if _is_judged(label)]
    relevant = sum(label > o["threshold"] for label in judged)
    return relevant, len(judged) - relevant


def _bpref(top: Floats, y: Floats, o: dict) -> float:
    (r, n), total = _judged_counts(y, o), 0.0
    for i, label in enumerate(top):
        if _is_judged(label) and label > o["threshold"]:
            above = _judged_counts(top[:i], o)[1]
            total += 1 - min(above, r) / min(n, r) if above else 1
    return total / r


def _infap(top: Floats, y: Floats, o: dict) -> float:
    """As m_infap.c of trec_eval: NaN is outside of the pool, negative is in it but not judged."""
    total, eps = 0.0, 0.00001
    for i, label in enumerate(top):
        if not (_is_judged(label) and label > o["threshold"]):
            continue
        relevant, irrelevant = _judged_counts(top[:i], o)
        pool = relevant + irrelevant + sum(other < 0 for other in top[:i])
        share = (relevant + eps) / (relevant + irrelevant + 2 * eps)
        total += 1 / (i + 1) + i / (i + 1) * (pool / i) * share if i else 1
    return total / _judged_counts(y, o)[0]


def _pair_win(i: int, j: int, s: Floats, ties: str) -> float:
    """Tell whether relevant document i ranks above irrelevant document j."""
    if s[i] != s[j]:
        return float(s[i] > s[j])
    if ties in ("stable", "reversed"):
        return float(i < j if ties == "stable" else i > j)
    return {"average": 0.5, "optimistic": 1.0, "pessimistic": 0.0}[ties]


def _auc(y: Floats, s: Floats, ties: str, o: dict) -> Ratio:
    relevant = [i for i in range(len(y)) if y[i] > o["threshold"]]
    others = [j for j in range(len(y)) if not y[j] > o["threshold"]]
    wins = [_pair_win(i, j, s, ties) for i in relevant for j in others]
    return math.fsum(wins), float(len(wins))


def _pair_accuracy(y: Floats, s: Floats, ties: str, o: dict) -> Ratio:
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    return math.fsum(_pair_win(i, j, s, ties) for i, j in pairs), float(len(pairs))


def _signs(values: Floats) -> list[int]:
    return [(a > b) - (a < b) for a, b in itertools.combinations(values, 2)]


def _kendall_tau(y: Floats, s: Floats) -> float:
    by_label, by_score = _signs(y), _signs(s)
    balance = sum(a * b for a, b in zip(by_label, by_score, strict=True))
    return balance / math.sqrt(sum(map(abs, by_label)) * sum(map(abs, by_score)))


def _average_ranks(values: Floats) -> Floats:
    return [sum(w < v for w in values) + (values.count(v) + 1) / 2 for v in values]


def _spearman(y: Floats, s: Floats) -> float:
    return statistics.correlation(_average_ranks(y), _average_ranks(s))


def _has_relevant(y: Floats, o: dict) -> bool:
    return _hits(y, o) > 0


def _has_gain(y: Floats, o: dict) -> bool:
    return any(_gain(label, o) > 0 for label in y)


def _has_positive(y: Floats, o: dict) -> bool:
    return any(label > 0 for label in y)


def _has_judged_relevant(y: Floats, o: dict) -> bool:
    return _judged_counts(y, o)[0] > 0


class OfOrders(NamedTuple):
    """A metric of the labels in rank order, `top`, of all labels and of the options.

    It returns a value, or numerator and denominator if it is a ratio of sums.
    """

    of_order: Callable[[Floats, Floats, dict], Any]
    is_ratio: bool = False
    is_defined: Callable[[Floats, dict], bool] = _has_relevant
    defaults: Mapping[str, Any] = MappingProxyType({})
    undefined, is_adjusted = 0.0, False

    def value(self, y: Floats, s: Floats, ties: str, o: dict) -> float | None:
        if not self.is_defined(y, o):
            return None
        tops = _tops(y, s, ties, o["k"])
        values = [self.of_order(top, y, o) for top in tops]
        values = [_divide(*v) for v in values] if self.is_ratio else values
        return _over_orders(ties, values, list(tops.values()))

    def ratio(self, y: Floats, s: Floats, ties: str, o: dict) -> Ratio:
        """Numerator and denominator, which is the same in all orders."""
        tops = _tops(y, s, ties, o["k"])
        parts = [self.of_order(top, y, o) for top in tops]
        numerator = _over_orders(ties, [a for a, _ in parts], list(tops.values()))
        return numerator, float(parts[0][1])


class OfPairs(NamedTuple):
    """A metric of pairs of documents, those in the right order over all."""

    ratio: Callable[[Floats, Floats, str, dict], Ratio]
    defaults: Mapping[str, Any] = MappingProxyType({})
    is_ratio, undefined, is_adjusted = True, math.nan, False

    def value(self, y: Floats, s: Floats, ties: str, o: dict) -> float | None:
        right, pairs = self.ratio(y, s, ties, o)
        return right / pairs if pairs else None


class Correlation(NamedTuple):
    """A correlation of labels and scores, which random orders have an expectation of 0 of."""

    of_values: Callable[[Floats, Floats], float]
    defaults: Mapping[str, Any] = MappingProxyType({})
    is_ratio, undefined, is_adjusted = False, math.nan, True

    def value(self, y: Floats, s: Floats, ties: str, o: dict) -> float | None:
        constant = len(set(y)) < 2 or len(set(s)) < 2
        return None if constant else self.of_values(y, s)


class Definitions(dict[str, OfOrders | OfPairs | Correlation]):
    """The metrics by name."""

    def __missing__(self, name):
        raise KeyError(f"{name} needs a definition in tests/helpers/oracle.py")


METRICS = Definitions()
METRICS |= {
    "dcg": OfOrders(_dcg, is_defined=_has_gain),
    "ndcg": OfOrders(_ndcg, is_ratio=True, is_defined=_has_gain),
    "map": OfOrders(_average_precision, is_ratio=True, defaults={"denominator": "min"}),
    "mrr": OfOrders(_mrr),
    "precision": OfOrders(_precision, is_ratio=True),
    "recall": OfOrders(_recall, is_ratio=True, defaults={"denominator": "relevant"}),
    "f1": OfOrders(_f1, is_ratio=True),
    "hits": OfOrders(lambda top, y, o: float(_hits(top, o))),
    "hit_rate": OfOrders(lambda top, y, o: float(_hits(top, o) > 0)),
    "r_precision": OfOrders(_r_precision, is_ratio=True),
    "err": OfOrders(_err, is_defined=_has_positive),
    "rbp": OfOrders(_rbp, is_defined=_has_gain, defaults={"gain": "binary"}),
    "pfound": OfOrders(_pfound, is_defined=_has_positive),
    "judged": OfOrders(_judged, is_ratio=True, is_defined=lambda y, o: o["n"] > 0),
    "bpref": OfOrders(_bpref, is_defined=_has_judged_relevant),
    "infap": OfOrders(_infap, is_defined=_has_judged_relevant),
    "query_auc": OfPairs(_auc),
    "pair_accuracy": OfPairs(_pair_accuracy),
    "kendall_tau": Correlation(_kendall_tau),
    "spearman": Correlation(_spearman),
}


def under_rule(y: Floats, s: Floats, unjudged: str) -> tuple[Floats, Floats]:
    """Labels and scores when documents with the label NaN count 0, or are removed."""
    if unjudged == "drop":
        judged = [i for i in range(len(y)) if not math.isnan(y[i])]
        return [y[i] for i in judged], [s[i] for i in judged]
    return [0 if unjudged == "irrelevant" and math.isnan(label) else label for label in y], s


def query_value(
    metric: str,
    y: Floats,
    s: Floats,
    *,
    k=None,
    ties="average",
    unjudged="error",
    adjusted=False,
    **options,
) -> float | None:
    """Value of the metric on one query, None if it is undefined."""
    if ties not in TIES:
        raise ValueError(f"unknown ties: {ties!r}")
    y, s = under_rule(y, s, unjudged)
    if adjusted and not METRICS[metric].is_adjusted:
        return _adjusted_value(metric, y, s, ties, {"k": k, **options})
    return METRICS[metric].value(y, s, ties, _options(metric, y, s, k, options))


def _adjusted_value(metric: str, y: Floats, s: Floats, ties: str, given: dict) -> float | None:
    """(value - mean) / (maximum - mean) over all orders of the documents; None if undefined."""
    value = query_value(metric, y, s, ties=ties, **given)
    if value is None:
        return None
    all_tied = [0.0] * len(y)
    mean = query_value(metric, y, all_tied, ties="average", **given)
    best = query_value(metric, y, all_tied, ties="optimistic", **given)
    return None if best - mean < 1e-12 else (value - mean) / (best - mean)


def query_ratio(
    metric: str, y: Floats, s: Floats, *, k=None, ties="average", unjudged="error", **options
) -> Ratio:
    """Numerator and denominator of a ratio of sums on one query."""
    y, s = under_rule(y, s, unjudged)
    return METRICS[metric].ratio(y, s, ties, _options(metric, y, s, k, options))


def score(
    metric: str,
    y_true: Floats,
    y_score: Floats,
    groups: list,
    *,
    average: str | None = "macro",
    sample_weight: Floats | None = None,
    replace_undefined_by: float | None = None,
    propensity: Floats | None = None,
    clip: float | None = None,
    **options,
) -> float | Floats:
    """Average of the metric over the queries; the list of its values if average=None.

    replace_undefined_by=None is the default of the metric. Options as in query_value (k, ...).
    """
    if replace_undefined_by is None:
        replace_undefined_by = METRICS[metric].undefined
    if propensity is not None:
        seen = [max(p, clip or 0) for p in propensity]
        y_true = [Click(y, p) for y, p in zip(y_true, seen, strict=True)]
    rows = [[i for i, g in enumerate(groups) if g == q] for q in sorted(set(groups))]
    queries = [([y_true[i] for i in r], [y_score[i] for i in r]) for r in rows]
    weights = [1.0 if sample_weight is None else sample_weight[r[0]] for r in rows]
    defined = [query_value(metric, y, s, **options) for y, s in queries]
    values = [replace_undefined_by if v is None else v for v in defined]
    if average is None:
        return values
    if average == "macro":
        ratios, otherwise = [(v, 1.0) for v in values], math.nan
    elif average == "micro" and METRICS[metric].is_ratio:
        ratios = [query_ratio(metric, y, s, **options) for y, s in queries]
        otherwise = replace_undefined_by
    else:
        raise ValueError(f"no average {average!r} for {metric}")
    kept = [i for i in range(len(rows)) if not math.isnan(values[i])]
    numerator = math.fsum(weights[i] * ratios[i][0] for i in kept)
    denominator = math.fsum(weights[i] * ratios[i][1] for i in kept)
    return numerator / denominator if denominator else otherwise
