"""Metadata of the package agree wherever they are repeated."""

import re
import tomllib
from pathlib import Path

import pytest

import sklearn_rankscore

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.mark.parametrize("path", ["CITATION.cff", "tools/conda/recipe.yaml"])
def test_version(path):
    (version,) = re.findall(r'^ *version: "?([\d.]+)"?$', (ROOT / path).read_text("utf-8"), re.M)
    assert version == sklearn_rankscore.__version__


def test_the_conda_recipe_requires_what_the_package_requires():
    recipe = (ROOT / "tools" / "conda" / "recipe.yaml").read_text("utf-8")
    run = re.findall(r"- ([\w-]+) (>=[\d.]+)$", recipe.partition("  run:\n")[2], re.M)
    expected = {"python": PROJECT["requires-python"]}
    expected |= dict(re.match(r"([\w-]+)(.*)", need).groups() for need in PROJECT["dependencies"])
    assert dict(run) == expected


def test_the_extra_all_installs_the_extras_of_features():
    features = {name for name in PROJECT["optional-dependencies"] if f"`{name}`" in README} - {
        "all"
    }
    assert features == {"plot", "parquet", "spark", "dask"}
    (all_of_them,) = PROJECT["optional-dependencies"]["all"]
    assert set(re.search(r"\[(.*)\]", all_of_them)[1].split(",")) == features


def test_badges_of_the_readme_are_true():
    badges = dict(re.findall(r"img\.shields\.io/badge/((?:[\w.]|--)+)-([\w.%-]+)-\w+\)", README))
    oldest = {name: version.removesuffix("%2B") for name, version in badges.items()}
    assert PROJECT["requires-python"] == f">={oldest['python']}"
    assert f"scikit-learn>={oldest['scikit--learn']}" in PROJECT["dependencies"]
    assert PROJECT["license"].startswith(oldest["license"].replace("--", "-"))
    workflow = re.search(r"actions/workflows/([\w.]+)/badge\.svg", README)[1]
    assert (ROOT / ".github" / "workflows" / workflow).exists() or not (ROOT / ".github").exists()


def test_the_readme_works_away_from_the_repository():
    """On the package index, relative links and pictures are broken."""
    targets = re.findall(r"\]\(([^)]*)\)", README)
    assert len(targets) > 8
    assert [target for target in targets if not target.startswith("https://")] == []
    for path in re.findall(r"/sklearn-rankscore/(?:blob/)?main/([\w./-]+)", README):
        assert (ROOT / path).exists(), path
    for page in re.findall(r"readthedocs\.io/en/latest/([\w/]+)\.html", README):
        sources = [ROOT / "docs" / f"{page}{end}" for end in (".md", ".rst")]
        assert page == "gallery/index" or any(source.exists() for source in sources), page


def test_the_readme_is_short():
    assert len(README.split()) <= 700
