"""The check of the built pages in a browser reports each kind of fault, and nothing else."""

import runpy
import shutil
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "browse.py"
ICON = Path(__file__).resolve().parents[2] / "docs" / "_static" / "favicon.svg"

PAGES = {
    "fine": '<p>About $5 and $6, <code>\\frac</code></p><img src="icon.svg" loading="lazy">',
    "outside": '<script src="https://example.org/x.js"></script>',
    "missing": '<script src="missing.js"></script>',
    "console": '<script>console.error("fault")</script>',
    "exception": "<script>undefined_name()</script>",
    "image": '<img src="missing.svg">',
    "tex": "<p>the sum $x_i + y$</p>",
    "command": r"<p>\frac 1 2</p>",
    "wide": '<p style="width: 600px">x</p>',
    "pale": '<p style="color: #ddd">x</p>',
    "dark": '<style>[data-theme="dark"] {background: #000}</style><p style="color: #222">x</p>',
}
EXPECTED = {
    "outside": ["ERR_NAME_NOT_RESOLVED"],
    "missing": ["404"],
    "console": ["console: fault"],
    "exception": ["undefined_name is not defined"],
    "image": ["image not shown", "404"],
    "tex": ["TeX: $x_i + y$"],
    "command": [r"TeX: \frac"],
    "wide": ["420 pixels, light: 6", "420 pixels, dark: 6"],
    "pale": [f"{width} pixels, {theme}: contrast" for width in (1400, 420)
             for theme in ("light", "dark")],
    "dark": ["1400 pixels, dark: contrast", "420 pixels, dark: contrast"],
}  # fmt: skip
LINKS = {
    "other.html": False,
    "other.html#here": False,
    "#top": False,
    "folder/": False,
    "folder/#here": True,
    "other%2Ehtml": False,
    "other.html?highlight=x#here": False,
    "https://example.org/missing.html": False,
    "mailto:someone": False,
    "/en/latest/other.html#here": False,
    "/en/latest/missing.html": True,
    "/other.html": True,
    "missing.html": True,
    "other.html#there": True,
    "#here": True,
}


@pytest.fixture(scope="module")
def browse():
    return runpy.run_path(str(SCRIPT))


def write(folder, name, body):
    head = '<meta charset="utf-8"><link rel="icon" href="/en/latest/icon.svg">'
    (folder / name).write_text(f"<!DOCTYPE html>{head}<main>{body}</main>", "utf-8")


def test_each_fault_is_reported(tmp_path, browse):
    shutil.copy(ICON, tmp_path / "icon.svg")
    for name, body in PAGES.items():
        write(tmp_path, f"{name}.html", body)
    faults = browse["visit"](tmp_path, [f"{name}.html" for name in PAGES])
    for name in PAGES:
        reported = [fault for fault in faults if fault.startswith(f"{name}.html: ")]
        expected = EXPECTED.get(name, [])
        assert len(reported) == len(expected), reported
        assert all(part in fault for part, fault in zip(expected, reported, strict=True)), reported


def test_broken_links_are_reported(tmp_path, browse):
    shutil.copy(ICON, tmp_path / "icon.svg")
    (tmp_path / "folder").mkdir()
    write(tmp_path, "folder/index.html", "<p>x</p>")
    write(tmp_path, "other.html", '<p id="here">x</p>')
    for number, link in enumerate(LINKS):
        write(tmp_path, f"{number}.html", f'<a href="{link}">x</a>')
    pages = [f"{number}.html" for number in range(len(LINKS))]
    faults = browse["visit"](tmp_path, [*pages, "folder/index.html", "other.html"])
    with_fault = {fault.partition(":")[0] for fault in faults}
    assert with_fault == {page for page, bad in zip(pages, LINKS.values(), strict=True) if bad}


def test_a_folder_without_pages_is_an_error(tmp_path, browse):
    with pytest.raises(SystemExit, match="has no HTML files"):
        browse["main"]([str(tmp_path)])
