"""The pages of the documentation name all that there is, and nothing else."""

import re
import runpy
from pathlib import Path

import sklearn_rankscore
from sklearn_rankscore.metrics.names import METRICS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]
    if not {"_build", "gallery"} & set(page.relative_to(ROOT).parts)
)


def test_every_public_name_is_on_the_api_page():
    """The functions of metrics by `docs/conf.py`, which lists them."""
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text("utf-8"), re.M)
    listed += [metric.function.__name__ for metric in METRICS.values()]
    assert len(listed) == len(set(listed))
    flat = {name for name in listed if "." not in name}
    assert flat == set(sklearn_rankscore.__all__)


def test_every_metric_has_a_section_of_the_guide():
    text = (DOCS / "guide" / "metrics.md").read_text("utf-8")
    sections = re.split(r"^### ", text, flags=re.M)[1:]
    for name, metric in METRICS.items():
        function = metric.function.__name__
        about = [s for s in sections if f"`{name}`" in s.split("\n")[0]]
        assert len(about) == 1, f"{name} needs a section in docs/guide/metrics.md"
        assert f"{{func}}`~sklearn_rankscore.{function}`" in about[0], function
        assert "$$" in about[0] or "```{math}" in about[0], f"{name} has no formula"


def test_calls_of_the_cheat_sheet_exist():
    """Each call names a public function, a method of one's result, or a class of scikit-learn."""
    text = (DOCS / "cheat_sheet.md").read_text("utf-8")
    calls = [re.match(r"[\w.]*", call)[0] for call in re.findall(r"`([\w.]+)\(", text)]
    assert len(calls) > 30
    other = {
        "cross_val_score",
        "GridSearchCV",
        "HalvingGridSearchCV",
        "scores.by",
        "scores.interval",
    }
    for call in sorted(set(calls) - other):
        value = sklearn_rankscore
        for name in call.removeprefix("sklearn_rankscore.").split("."):
            if name in ("spark", "dask"):
                break  # optional libraries
            value = getattr(value, name)


def test_every_metric_is_worked_by_hand():
    """On the page of all of them, or in its section of the guide."""
    pages = (DOCS / "by_hand.md", DOCS / "guide" / "metrics.md")
    text = "".join(page.read_text("utf-8").split("## Notation")[-1] for page in pages)
    for name in METRICS:
        assert re.search(rf'"{name}[@("]', text), (
            f"{name} needs an example in docs/guide/metrics.md"
        )


def test_every_page_is_in_the_contents():
    for page in PAGES:
        if page.parent == DOCS / "guide" and page.name != "index.md":
            contents = (DOCS / "guide" / "index.md").read_text("utf-8")
            assert re.search(rf"^{page.stem}$", contents, re.M), page.name


def test_pages_can_be_read():
    """In a few minutes each; metrics have a section each on theirs."""
    for page in PAGES:
        n_words = len(re.findall(r"\S*\w\S*", page.read_text("utf-8")))
        assert n_words <= 1_500 or page.stem == "metrics", page


def test_every_metric_that_is_a_ratio_of_sums_is_listed():
    text = (DOCS / "guide" / "metrics.md").read_text("utf-8")
    (line,) = re.findall(r'^\| `"micro"` .*$', text, re.M)
    listed = set(re.findall(r"`(\w+)`", line))
    missing = {name for name, metric in METRICS.items() if metric.ratio} ^ listed
    assert not missing, f'{missing}: the line on "micro" in docs/guide/metrics.md differs'


def test_the_gallery_has_a_place_for_each_example():
    order = runpy.run_path(str(DOCS / "_ext" / "gallery.py"))["ORDER"]
    assert sorted(order) == sorted(path.stem for path in (ROOT / "examples").rglob("*.py"))


def test_guide_and_examples_are_linked_in_both_directions():
    """Each example is linked from a page, and each narrative example links to the guide."""
    pages = [page for page in PAGES if page.parent in (DOCS, DOCS / "guide")]
    link = re.compile(r"\{doc\}`(?:[^`<]*<)?([./\w]*gallery/[\w/]+)>?`")
    linked = {
        (page.parent / name).resolve().relative_to(DOCS / "gallery").as_posix()
        for page in pages
        for name in link.findall(page.read_text("utf-8"))
    }
    examples = {path.relative_to(ROOT / "examples") for path in (ROOT / "examples").rglob("*.py")}
    expected = {path.with_suffix("").as_posix() for path in examples}
    assert linked | {"index"} == expected | {"index"}
    for path in examples:
        if path.parent.name:
            guide = re.findall(
                r":doc:`/(guide/\w+)`", (ROOT / "examples" / path).read_text("utf-8")
            )
            assert guide, path
            assert all((DOCS / f"{page}.md").exists() for page in guide)
