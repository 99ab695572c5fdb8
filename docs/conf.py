"""Sphinx configuration: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``."""

import ast
import importlib
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]
os.environ.setdefault("MPLBACKEND", "agg")
# the examples are small: synchronizing threads would take longer than computing
os.environ.setdefault("OMP_NUM_THREADS", "1")

from docutils import nodes  # noqa: E402

import sklearn_rankscore  # noqa: E402
from sklearn_rankscore.metrics.names import METRICS  # noqa: E402

project = "sklearn-rankscore"
author = "The sklearn-rankscore developers"
copyright = author
version = release = sklearn_rankscore.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "mathml",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "notfound.extension",
    "page_images",
]
# sphinx_gallery_conf contains a function, which Sphinx cannot pickle into its cache
suppress_warnings = ["config.cache"]
# the functions of all metrics on the page of the API
LISTED = "".join(f"   {metric.function.__name__}\n" for metric in METRICS.values())
(ROOT / "docs" / "metric_functions.rst").write_text(
    ".. currentmodule:: sklearn_rankscore\n\n"
    f".. autosummary::\n   :toctree: api\n   :caption: Metrics\n\n{LISTED}",
    "utf-8",
)
autosummary_generate = ["api.rst", "metric_functions.rst"]
exclude_patterns = [
    "metric_functions.rst",
    "_build",
    "gallery/**/*.ipynb",
    "sg_execution_times.rst",
]


def _is_builtin(fullname, method):
    """Whether a class has a method from str, tuple or another built-in type."""
    module, _, name = fullname.rpartition(".")
    owners = getattr(importlib.import_module(module), name).__mro__
    return next(owner for owner in owners if method in vars(owner)).__module__ == "builtins"


# the guide page of what no page names
PAGE_OF_MODULE = {
    "clicks": "clicks",
    "dask": "scale",
    "comparison": "comparing",
    "reports": "comparing",
    "spark": "scale",
    "large": "scale",
}


def _pages_of(name):
    """The guide pages that name a public object, those that do so most often first."""
    mention = re.compile(rf"\b{name}(?:\.\w+)?[(`]")
    pages = sorted((ROOT / "docs" / "guide").glob("*.md"))
    counts = {page.stem: len(mention.findall(page.read_text("utf-8"))) for page in pages}
    pages = sorted(filter(counts.get, counts), key=counts.get, reverse=True)
    module = name.split(".")[0]
    if not pages and module in PAGE_OF_MODULE:
        pages = [PAGE_OF_MODULE[module]]
    return [f"/guide/{page}" for page in pages[:3]]


# a search for a metric by its name leads to the function
autosummary_context = {
    "pages_of": _pages_of,
    "is_builtin": _is_builtin,
    "index_entries": {
        metric.function.__name__: f"! {name}, ! {name}@10" for name, metric in METRICS.items()
    },
}
templates_path = ["_templates"]
default_role = "code"
highlight_language = "none"
smartquotes = False

html_math_renderer = "mathml"
# links to other libraries' documentation need their inventories, and so the network
intersphinx_mapping = (
    {
        "numpy": ("https://numpy.org/doc/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }
    if "READTHEDOCS" in os.environ
    else {}
)

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "github_url": "https://github.com/sklearn-rankscore/sklearn-rankscore",
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["version-menu", "theme-switcher", "navbar-icon-links"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "logo": {"text": project},
}
html_sidebars = {
    name: []
    for name in (
        "start",
        "api",
        "gallery/**",
        "index",
        "changelog",
        "versions",
        "faq",
    )
}
# names and addresses of the versions in the menu; the host sets READTHEDOCS_VERSION
VERSIONS = {"development": "latest", f"{release} (stable)": "stable"}
FOLDER = os.environ.get("READTHEDOCS_VERSION", "latest")
html_context = {
    "default_mode": "auto",
    "host": "https://sklearn-rankscore.readthedocs.io/en/",
    "versions_by_name": VERSIONS,
    "shown_version": next((name for name in VERSIONS if VERSIONS[name] == FOLDER), release),
}

html_show_sourcelink = False

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "substitution"]
myst_substitutions = {"release": release}
myst_heading_anchors = 3

autodoc_typehints = "none"  # docstrings document the types
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_validation_checks = {
    "GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL10",
    "SS01", "SS02", "SS04",
    "PR01", "PR02", "PR03", "PR05", "PR06", "PR07", "PR10",
    "RT01", "RT03", "YD01",
}  # fmt: skip

# blocks are built by `Block.from_lists`, so that the parameters of the class are not documented;
# `index` and `count` are methods of every tuple
numpydoc_validation_exclude = {r"\bBlock$", r"\.(index|count)$"}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True


def _arguments(gallery, script):
    """Run each example without arguments, except that plots are saved to a temporary directory."""
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
    "subsection_order": [
        f"../examples/{folder}"
        for folder in ("model_selection", "comparing", "recommending", "metrics")
    ],
    "within_subsection_order": "gallery.InOrderOfUse",
    "reset_modules": ("matplotlib", "gallery.palette"),
    # examples on the pages of the objects that they use, and links from code to those pages
    "backreferences_dir": "api/backreferences",
    "doc_module": ("sklearn_rankscore",),
    "reference_url": {"sklearn_rankscore": None},
    "prefer_full_module": {r"sklearn_rankscore"},
    "show_signature": False,
    "remove_config_comments": True,
    "default_thumb_file": str(ROOT / "docs" / "_static" / "ranking.png"),
    "show_memory": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
}


def _entitle(app, docname, source):
    """Insert a title, made from the file name, before the docstring of an example."""
    if not re.fullmatch(r"gallery/\w+", docname):
        return  # narrative examples, in folders, have a title
    label = re.compile(r"^(\.\. _sphx_glr_gallery_(\w+)\.py:\n\n)(.*?)(?=^\.\. )", re.M | re.S)

    def head(match):
        words = match[2].replace("_", " ").capitalize()
        # render the shell commands of the docstring as a literal block
        text = re.sub(r"((?:^ *python .*\n)+)", r"::\n\n\1", match[3], flags=re.M)
        text = re.sub(r"^ *python ", "    python ", text, flags=re.M)
        return f"{match[1]}{words}\n{'=' * len(words)}\n\n{text}"

    source[0] = label.sub(head, source[0], count=1)


def _no_mail(app, document):
    """Undo mail links: reStructuredText parses "ndcg@10" as an e-mail address."""
    for link in list(document.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(nodes.Text(link.astext()))


def _hide_constructor(app, what, name, obj, options, signature, return_annotation):
    """Show `Block` without the parameters of its constructor, which is not public."""
    return ("", None) if name == "sklearn_rankscore.Block" else None


def _skip_methods_of_text(app, what, name, obj, skip, options):
    """Leave out the methods that a report has because it is a string."""
    return True if not name.startswith("_") and getattr(str, name, None) is obj else None


def setup(app):
    """Register the event handlers."""
    app.connect("autodoc-skip-member", _skip_methods_of_text)
    app.connect("autodoc-process-signature", _hide_constructor)
    app.connect("doctree-read", _no_mail)
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="sphinx_gallery")
    app.connect("source-read", _entitle)
