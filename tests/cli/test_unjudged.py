"""Documents without a judgment on the command line."""

import json

import pandas as pd
import pytest

from sklearn_rankscore import evaluate, from_trec
from sklearn_rankscore.cli import main

QRELS = "".join(f"{q} 0 d{d} {(q + d) % 4 - 1}\n" for q in range(9) for d in range(0, 9, 2))
RUN = "".join(f"{q} Q0 d{d} 1 {(d * 7 + q) % 5} t\n" for q in range(9) for d in range(9))


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)


def run(capsys, *arguments):
    assert main(["evaluate", "qrels.txt", "a.run", "--format", "json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)["runs"]["a"]


def labels_of_zero():
    labels = from_trec("qrels.txt", "a.run", unjudged="nan")
    return labels | {"y_true": [label if label > 0 else 0 for label in labels["y_true"]]}


def test_the_option_and_names(capsys):
    labels = from_trec("qrels.txt", "a.run", unjudged="nan")
    names = ["ndcg@5", "map(unjudged=drop)", "judged@5", "bpref"]
    given = [word for name in names for word in ("-m", name)]
    expected = evaluate(metrics=names, **labels, unjudged="irrelevant")
    assert run(capsys, *given) == pytest.approx(expected)
    dropped = evaluate(metrics=names, **labels, unjudged="drop")
    assert run(capsys, *given, "--unjudged", "drop") == pytest.approx(dropped)
    assert dropped["ndcg@5"] != expected["ndcg@5"]
    plain = evaluate(metrics=["ndcg@5"], **from_trec("qrels.txt", "a.run"))
    assert run(capsys, "-m", "ndcg@5") == pytest.approx(plain)


def test_infap_beside_other_metrics(capsys):
    labels = from_trec("qrels.txt", "a.run")
    expected = evaluate(metrics=["infap", "judged@5"], **labels)
    assert run(capsys, "-m", "infAP", "-m", "judged@5") == {
        "infAP": pytest.approx(expected["infap"]),
        "judged@5": pytest.approx(expected["judged@5"]),
    }
    both = evaluate(metrics=["infap", "map"], **from_trec("qrels.txt", "a.run"))
    assert run(capsys, "-m", "infap", "-m", "map") == pytest.approx(both)
    assert both["infap"] == expected["infap"]
    assert both["map"] == evaluate(metrics="map", **labels_of_zero())["map"]


def test_tables(capsys, tmp_path):
    rows = ["query_id,doc_id,score"] + [f"{q},d{d},{d}" for q in range(3) for d in range(5)]
    (tmp_path / "run.csv").write_text("\n".join(rows))
    truth = ["query_id,doc_id,relevance"] + [f"{q},d{d},{d % 2}" for q in range(3) for d in (0, 3)]
    (tmp_path / "qrels.csv").write_text("\n".join(truth))
    arguments = ["evaluate", "qrels.csv", "run.csv", "-m", "mrr", "--unjudged", "drop"]
    assert main([*arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"]["run"] == {"mrr": 1}


@pytest.mark.parametrize("rule", ["irrelevant", "drop"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "mixed"])
@pytest.mark.parametrize(
    "names", [["ndcg@5"], ["map", "mrr", "query_auc", "recall@3"], ["bpref", "judged@5"], ["infap"]]
)
@pytest.mark.parametrize("step", [1, 2])
def test_negative_labels_of_tables_mean_not_judged(names, suffix, rule, step, capsys, tmp_path):
    """As in TREC files, whether or not the run has documents that the judgments lack."""
    lines = [line for line in RUN.splitlines() if int(line.split()[2][1:]) % step == 0]
    (tmp_path / "a.run").write_text("\n".join(lines))
    options = [word for name in names for word in ("-m", name)] + ["--unjudged", rule]
    expected = run(capsys, *options)
    qrels = pd.DataFrame([line.split() for line in QRELS.splitlines()])[[0, 2, 3]]
    qrels = qrels.set_axis(["query_id", "doc_id", "relevance"], axis=1)
    scores = pd.DataFrame([line.split() for line in lines])[[0, 2, 4]]
    scores = scores.set_axis(["query_id", "doc_id", "score"], axis=1)
    paths = {"qrels": qrels, "a": scores}
    for name, frame in paths.items():
        if suffix == "parquet":  # text of programs that write no annotation of its type
            encoded = {column: frame[column].map(str.encode) for column in ("query_id", "doc_id")}
            frame.assign(**encoded).to_parquet(tmp_path / f"{name}.parquet")
        else:
            separator = "\t" if suffix == "tsv" else ","
            ending = suffix if suffix == "tsv" else "csv"
            frame.to_csv(tmp_path / f"{name}.{ending}", sep=separator, index=False)
    ending = "csv" if suffix == "mixed" else suffix
    files = [f"qrels.{ending}", "a.run" if suffix == "mixed" else f"a.{ending}"]
    assert main(["evaluate", *files, "--format", "json", *options]) == 0
    assert json.loads(capsys.readouterr().out)["runs"]["a"] == pytest.approx(expected, rel=1e-12)


def test_a_table_of_judgments_may_have_fractions_beside_a_run_of_trec(capsys, tmp_path):
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\n0,d1,0.5\n0,d2,0.25\n")
    assert main(["evaluate", "qrels.csv", "a.run", "--format", "json", "-m", "dcg@2"]) == 0
    ranked = from_trec("qrels.txt", "a.run")
    scores = ranked["y_score"][ranked["groups"] == "0"]
    labels = [0.5 if d == 1 else 0.25 if d == 2 else 0 for d in range(9)]
    expected = evaluate(labels, scores, "dcg@2")
    assert json.loads(capsys.readouterr().out)["runs"]["a"] == pytest.approx(expected)


def test_a_wrong_rule(capsys):
    with pytest.raises(SystemExit):
        main(["evaluate", "qrels.txt", "a.run", "--unjudged", "dropp"])
    assert "--unjudged: must be one of irrelevant, drop" in capsys.readouterr().err
