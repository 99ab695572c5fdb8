"""The HTML of a ranking report: complete, correct, safe and readable without network."""

import re
import shutil
import subprocess
import sys
from base64 import b64decode

import matplotlib as mpl
import numpy as np
import pytest
import sklearn
from html_structure import Structure

import sklearn_rankscore as rs
from sklearn_rankscore import evaluate, make_ranking, query_scores, ranking_report

EVIL = "new <script>document.title = 'evil'</script> & \"all\""
NAMES = ["ndcg@1", "ndcg@10", "map@1", "map@10"]


@pytest.fixture(scope="module")
def data():
    X, y, groups = make_ranking(n_queries=40, random_state=0)
    device = np.array(["desk & <b>", "phone"])[groups % 2]
    return y, {"old": X[:, 0], EVIL: X[:, 0] + X[:, 1] / 2}, groups, device


@pytest.fixture(scope="module")
def report(data):
    y, models, groups, device = data
    return ranking_report(
        y, models, groups=groups, by={"device": device}, k=(1, 10), metrics=["ndcg", "map"],
        random_state=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def html(report):
    return report.to_html(title="Old & <new>")


def table(html, corner):
    """The body of the tables with that text at the start of their first row."""
    return [rows[1:] for rows in Structure(html).tables if rows[0][0] == corner]


def test_document_needs_no_other_file(html):
    structure = Structure(html)
    local = [a for a in structure.addresses if a.startswith(("#", "data:image/"))]
    assert local == structure.addresses
    assert not re.search(r"@import|url\((?!#)", html)
    assert not {"script", "link", "iframe", "object"} & set(structure.tags)
    assert len(structure.ids) == len(set(structure.ids))
    used = {a[1:] for a in structure.addresses if a.startswith("#")}
    used |= set(re.findall(r"url\(#([^)]+)\)", html))
    assert used <= set(structure.ids)
    rows = dict(row for rows in structure.tables for row in rows if len(row) == 2)
    versions = [rs.__version__, sklearn.__version__, ".".join(map(str, sys.version_info[:3]))]
    assert [rows[of] for of in ("sklearn_rankscore", "sklearn", "python")] == versions


def test_names_are_escaped(html, report):
    for text in (html, report._repr_html_()):
        assert "<script" not in text
        assert EVIL in Structure(text).headings
        assert "desk & <b>" in {cell for rows in Structure(text).tables for r in rows for cell in r}
    assert Structure(html).headings[:2] == ["Old & <new>"] * 2


def test_each_row_of_the_first_tables_is_a_line_of_the_text(html, report):
    lines = [" ".join(line.split()) for line in report.splitlines()]
    for text in (html, report._repr_html_()):
        # facts, means and segments of two systems, and differences
        rows = [row for rows in Structure(text).tables[:6] for row in rows]
        assert len(rows) == 7 + 2 * (5 + 9) + 13
        assert {" ".join(" ".join(row).split()) for row in rows} <= {*lines}
        assert "p-values: adjusted by holm for all comparisons with old" in text
        assert "\N{EM SPACE}random order" in text  # indented below the metric


def test_worst_queries_are_the_largest_losses(data, html):
    y, models, groups, device = data
    scores = query_scores(y, models, "ndcg@10", groups=groups)
    old, new = (scores[name]["ndcg@10"] for name in models)
    worst = np.argsort(new - old)[:10]
    assert (new - old)[worst[-1]] < 0
    (rows,) = table(html, "query")
    for row, query in zip(rows, worst, strict=True):
        inside = groups == query
        assert row == [
            str(query), device[inside][0], f"{inside.sum()}", f"{(y[inside] > 0).sum()}",
            f"{old[query]:.3f}", f"{new[query]:.3f}", f"{new[query] - old[query]:+.3f}",
        ]  # fmt: skip
    single = ranking_report(y, models["old"], groups=groups, k=10, metrics="ndcg")
    (rows,) = table(single.to_html(plots=False), "query")
    assert [row[0] for row in rows] == [str(q) for q in np.argsort(old, kind="stable")[:10]]
    better = {"a": [0, 1, 0, 1], "b": [1, 0, 1, 0]}
    none = ranking_report([1, 0, 1, 0], better, groups=[0, 0, 1, 1], k=1).to_html(plots=False)
    assert table(none, "query") == [[]]
    assert "<p>none</p>" in none


LIKE_SKLEARN = {"gain": "exponential", "like": "sklearn"}


@pytest.mark.parametrize("given", [{}, {"like": "lightgbm"}, {"threshold": 1}, LIKE_SKLEARN])
def test_conventions_are_those_of_the_metrics(data, given):
    y, models, groups, _ = data
    names = ["ndcg@5"] if "like" in given else ["ndcg@5(ties=stable)", "map@5"]
    report = ranking_report(y, models["old"], groups=groups, metrics=names, **given)
    (rows,) = table(report.to_html(plots=False), "metric")
    assert [row[0] for row in rows] == [name.replace("@5", "") for name in names]
    for name, (_, text) in zip(names, rows, strict=True):
        metric = f"{name.partition('(')[0]}({text})"
        value = evaluate(y, models["old"], metric, groups=groups)[metric]
        assert value == pytest.approx(report.scores[""].mean()[name])
        assert "ties=stable" in text or "ties=stable" not in name


def test_plots_are_those_that_the_data_allow(data, html):
    titles = Structure(html).headings
    for title in (
        "Differences", "By cut-off", "Differences by cut-off", "By device",
        f"Queries on which {EVIL} wins and loses", f"Each query, old and {EVIL}",
        "By number of documents of the query", "By number of relevant documents of the query",
    ):  # fmt: skip
        assert title in titles
    assert html.count("<img") == 8
    pair = [1, 0, 1, 0], {1: [1, 2, 3, 4], 2: [2, 1, 3, 4]}  # names need not be text
    by_number = ranking_report(*pair, groups=[0, 0, 1, 1], k=5, metrics="ndcg").to_html()
    assert {"1", "2", "Queries on which 2 wins and loses"} <= {*Structure(by_number).headings}
    flat = ranking_report([1, 0, 1, 0], [2, 1, 1, 2], groups=[0, 0, 1, 1], k=1, metrics="ndcg")
    assert "<img" not in flat.to_html()


@pytest.mark.slow
def test_plots_have_the_font_of_the_user():
    report = ranking_report([1, 0, 0], [3, 2, 1], k=(1, 2), metrics="ndcg")
    with mpl.rc_context({"font.family": "DejaVu Serif", "axes.facecolor": "red"}):
        html = report.to_html()
    plots = [b64decode(plot).decode() for plot in re.findall(r"base64,([^']+)'", html)]
    for plot in plots:
        assert set(re.findall("DejaVuSerif|DejaVuSans-|red", plot)) == {"DejaVuSerif"}
    assert plots


def test_a_file_is_written(report, tmp_path):
    path = tmp_path / "r.html"
    for place, given in ((path, {"title": "Zürich"}), (str(path), {})):
        assert report.to_html(place, plots=False, **given) is None
        written = path.read_text(encoding="utf-8")
        assert written == report.to_html(plots=False, **given)
        assert f"<title>{given.get('title', 'Ranking report')}</title>" in written
        assert "<img" not in written


def test_a_page_without_matplotlib_says_so_in_place_of_the_plots(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    html = report.to_html()
    assert "The plots require matplotlib" in html
    assert "<img" not in html


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# what the browser shows, as attributes of the document
MEASURE = """<script>
const root = document.documentElement, all = (kind) => [...document.querySelectorAll(kind)];
const shown = all('img').filter(e => e.naturalWidth > 0);
root.setAttribute('sideways', root.scrollWidth - root.clientWidth);
root.setAttribute('plots', shown.length);
root.setAttribute('narrowest', Math.min(...shown.map(e => e.getBoundingClientRect().width)));
root.setAttribute('hidden', all('.scroll').filter(e => e.scrollWidth > e.clientWidth).length);
root.setAttribute('loaded', performance.getEntriesByType('resource').length);
</script>"""


def in_browser(html, width, tmp_path):
    """The attributes of the document, and what the browser writes."""
    path = tmp_path / "report.html"
    path.write_text(html.replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    command = [
        next(filter(None, map(shutil.which, BROWSERS))), "--headless", "--no-sandbox",
        "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}",
        f"--window-size={width},900", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom",
        path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, encoding="utf-8"
    )
    return dict(re.findall(r'(\w+)="([^"]*)"', done.stdout.partition("<head>")[0])), done


@pytest.mark.integration
@pytest.mark.parametrize("width", [500, 1200])
def test_a_browser_shows_it(html, width, tmp_path):
    attributes, done = in_browser(html, width, tmp_path)
    assert "CONSOLE" not in done.stderr
    assert "<title>Old &amp; &lt;new&gt;</title>" in done.stdout
    assert int(attributes["sideways"]) <= 0
    assert int(attributes["plots"]) == 8
    assert float(attributes["narrowest"]) > 0.9 * min(width - 40, 52 * 16 - 40)
    assert attributes["loaded"] == "0"


@pytest.mark.integration
def test_tables_of_long_names_fit_on_a_screen(data, tmp_path):
    y, models, groups, _ = data
    long = "a ranker, whose name has the length of a whole sentence: {}".format
    named = {long(i): score for i, score in enumerate(models.values())}
    html = ranking_report(y, named, groups=groups).to_html(plots=False)
    assert in_browser(html, 1200, tmp_path)[0]["hidden"] == "0"
