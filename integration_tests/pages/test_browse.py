"""The check of the built pages in a browser reports each kind of fault, and nothing else."""

import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ICON = ROOT / "docs" / "_static" / "favicon.svg"
BROWSE = runpy.run_path(str(ROOT / "tools" / "browse.py"))

PAGES = {  # what is on a page, and what is reported of it
    "fine": ('<p>About $5 and $6, <code>\\frac</code></p><img src="icon.svg" loading="lazy">', []),
    "outside": ('<script src="https://example.org/x.js"></script>', ["ERR_NAME_NOT_RESOLVED"]),
    "missing": ('<script src="missing.js"></script>', ["404"]),
    "console": ('<script>console.error("fault")</script>', ["console: fault"]),
    "exception": ("<script>undefined_name()</script>", ["undefined_name is not defined"]),
    "image": ('<img src="missing.svg">', ["image not shown", "404"]),
    "tex": ("<p>the sum $x_i + y$</p>", ["TeX: $x_i + y$"]),
    "command": (r"<p>\frac 1 2</p>", [r"TeX: \frac"]),
    "wide": ('<p style="width: 600px">x</p>', ["pixels wide in a window of 420"]),
    "pale": ('<p style="color: #ddd">x</p>', ["light: contrast", "dark: contrast"]),
    "dark": (
        '<style>[data-theme="dark"] {background: #000}</style><p style="color: #222">x</p>',
        ["dark: contrast"],
    ),
    "other": ('<p id="here">x</p>', []),
    "folder/index": ("<p>x</p>", []),
}
WHOLE = [
    *("other.html", "other.html#here", "#top", "folder/", "other%2Ehtml"),
    *("other.html?highlight=x#here", "/en/latest/other.html#here"),
    *("https://example.org/nowhere.html", "mailto:someone"),
]
BROKEN = [
    *("nowhere.html", "other.html#there", "#here", "folder/#here"),
    *("/en/latest/nowhere.html", "/other.html"),
]
PAGES |= {
    f"link{i}": (f'<a href="{link}">x</a>', ["link to"] * (link in BROKEN))
    for i, link in enumerate([*WHOLE, *BROKEN])
}


def test_each_fault_is_reported(tmp_path):
    shutil.copy(ICON, tmp_path / "icon.svg")
    (tmp_path / "folder").mkdir()
    head = '<meta charset="utf-8"><link rel="icon" href="/en/latest/icon.svg">'
    for name, (body, _) in PAGES.items():
        text = f"<!DOCTYPE html>{head}<main>{body}</main>"
        (tmp_path / f"{name}.html").write_text(text, "utf-8")
    faults = BROWSE["visit"](tmp_path, [f"{name}.html" for name in PAGES])
    for name, (_, expected) in PAGES.items():
        reported = [fault for fault in faults if fault.startswith(f"{name}.html: ")]
        assert len(reported) == len(expected), (name, reported)
        assert all(part in fault for part, fault in zip(expected, reported, strict=True)), reported


def test_a_folder_without_pages_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match="has no HTML files"):
        BROWSE["main"]([str(tmp_path)])
