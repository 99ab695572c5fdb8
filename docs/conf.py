"""How the pages are built: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``."""

import ast
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("MPLBACKEND", "agg")
# the examples are small: threads would wait for each other longer than they compute
os.environ.setdefault("OMP_NUM_THREADS", "1")

from docutils import nodes  # noqa: E402

import sklearn_rankscore  # noqa: E402

project = "sklearn-rankscore"
author = "The sklearn-rankscore developers"
copyright = author
version = release = sklearn_rankscore.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
# the gallery's settings hold a function, which cannot be kept for the next build
suppress_warnings = ["config.cache"]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "code"
highlight_language = "none"
smartquotes = False

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
html_sidebars = {"start": [], "api": [], "gallery/**": [], "index": []}
html_show_sourcelink = False

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_validation_checks = {
    "GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL10",
    "SS01", "SS02", "SS04",
    "PR01", "PR02", "PR03", "PR05", "PR06", "PR07", "PR10",
    "RT01", "RT03", "YD01",
}  # fmt: skip

# a block is handed to metrics, and made by none; the rest is what every tuple has
numpydoc_validation_exclude = {r"ranking\.Block$", r"\.(index|count)$"}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True


def _arguments(gallery, script):
    """None: examples run as they are. They keep their docstring, and pictures go to a folder."""
    code = Path(script["src_file"]).read_text(encoding="utf-8")
    script["example_globals"]["__doc__"] = ast.get_docstring(ast.parse(code))
    return ["--out", tempfile.mkdtemp()] if '"--out"' in code else []


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "reset_argv": _arguments,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "default_thumb_file": str(ROOT / "docs" / "_static" / "ranking.png"),
    "show_memory": False,
    "notebook_extensions": set(),
    "min_reported_time": 10**6,
    "write_computation_times": False,
}


def _entitle(app, docname, source):
    """Head an example's page by the name of its file; its docstring, made for --help, follows."""
    if not docname.startswith("gallery/"):
        return
    label = re.compile(r"^(\.\. _sphx_glr_gallery_(\w+)\.py:\n\n)(.*?)(?=^\.\. )", re.M | re.S)

    def head(match):
        words = match[2].replace("_", " ").capitalize()
        # commands of the shell stand in the docstring as they are
        text = re.sub(r"((?:^ *python .*\n)+)", r"::\n\n\1", match[3], flags=re.M)
        text = re.sub(r"^ *python ", "    python ", text, flags=re.M)
        return f"{match[1]}{words}\n{'=' * len(words)}\n\n{text}"

    source[0] = label.sub(head, source[0], count=1)


def _no_mail(app, document):
    """Leave text as it is: "ndcg@10" is no address, whatever reStructuredText takes it for."""
    for link in list(document.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(nodes.Text(link.astext()))


def setup(app):
    """Connect what Sphinx calls by name."""
    app.connect("doctree-read", _no_mail)
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="sphinx_gallery")
    app.connect("source-read", _entitle)
