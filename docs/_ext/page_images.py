"""Sphinx extension: the plots of a guide page, drawn by the code of that page."""

import contextlib
import doctest
import os
import re
import shutil
import tempfile
from pathlib import Path

PAGES = ["guide/comparing.md"]
BLOCK = re.compile(r"^```python *\n(.*?)^``` *$", re.M | re.S)


def draw(page, images):
    """Run the blocks of a page, and copy the images that they save."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    code = "\n".join(map(doctest.script_from_examples, blocks))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with contextlib.redirect_stdout(None):
            exec(compile(code, str(page), "exec"), {"__name__": "__page__"})
        images.mkdir(exist_ok=True)
        for image in Path(folder).glob("*.png"):
            shutil.copy(image, images)


def draw_all(app):
    """Draw the images of all pages in `PAGES`."""
    os.environ.setdefault("MPLBACKEND", "agg")
    for name in PAGES:
        page = Path(app.srcdir) / name
        draw(page, page.parent / "images")


def setup(app):
    """Register the event handler."""
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True}
