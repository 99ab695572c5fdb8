"""The checker of internal links finds each kind of broken link, and no others."""

import runpy
from pathlib import Path

import pytest

main = runpy.run_path(str(Path(__file__).resolve().parents[1] / "tools" / "links.py"))["main"]


@pytest.mark.parametrize(
    ("link", "is_broken"),
    [
        ("other.html", False),
        ("other.html#here", False),
        ("#top", False),
        ("folder/", False),
        ("folder/#here", True),
        ("other%2Ehtml", False),
        ("other.html?highlight=x#here", False),
        ("https://example.org/missing.html", False),
        ("mailto:someone", False),
        ("/en/latest/other.html#here", False),
        ("/en/latest/missing.html", True),
        ("/other.html", True),
        ("missing.html", True),
        ("other.html#there", True),
        ("#here", True),
        ("missing.png", True),
    ],
)
def test_links(tmp_path, capsys, link, is_broken):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text("<p>")
    (tmp_path / "other.html").write_text('<p id="here">')
    (tmp_path / "index.html").write_text(f'<a href="{link}">x</a><img src="folder/">')
    assert main([str(tmp_path)]) == is_broken
    assert (f"index.html: {link}" in capsys.readouterr().out) == is_broken


def test_templates_of_the_theme_are_left_out(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "macros.html").write_text('<script src="{{ path }}">')
    (tmp_path / "index.html").write_text('<a href="#top">x</a>')
    assert main([str(tmp_path)]) == 0


def test_a_site_without_links_is_an_error(tmp_path):
    """The folder may be the wrong one."""
    assert main([str(tmp_path)]) == 1
