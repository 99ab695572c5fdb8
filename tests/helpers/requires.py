"""What not every machine has: libraries of other extras, Java, a browser, data from elsewhere.

A test that needs one of them is skipped where it is absent, and the reason says how to get it.
The environment variable SKLEARN_RANKSCORE_REQUIRE turns absence into a failure: a comma-separated
list of `libraries` (with Java), `data` and `browser`. `.ci/run` sets all, hosted CI only
`libraries`.
"""

import ast
import functools
import importlib
import os
import shutil
import subprocess
import sys

import pytest

PEERS, CLUSTERS = "test-peers", "test-clusters"

#: the extra that installs each library which the extra `test` leaves out
EXTRAS = {
    "array_api_strict": PEERS,
    "catboost": PEERS,
    "ir_measures": PEERS,
    "optuna": PEERS,
    "optuna_integration": PEERS,
    "pytrec_eval": PEERS,
    "ranx": PEERS,
    "skops": PEERS,
    "statsmodels": PEERS,
    "dask": CLUSTERS,
    "distributed": CLUSTERS,
    "pyspark": CLUSTERS,
    "playwright": "browser",
}
#: how to install what no extra can name
COMMANDS = {
    **dict.fromkeys(
        ("beir", "cwl", "implicit", "recommenders", "rectools", "torchmetrics"),
        "pip install --no-deps -r tests/peers.txt",
    ),
    "torch": "pip install torch --index-url https://download.pytorch.org/whl/cpu",
}
KINDS = {"libraries", "data", "browser"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = {kind for kind in os.environ.get("SKLEARN_RANKSCORE_REQUIRE", "").split(",") if kind}
if unknown := REQUIRED - KINDS:
    raise ValueError(f"SKLEARN_RANKSCORE_REQUIRE knows {sorted(KINDS)}, got {sorted(unknown)}")


def absent(kind, reason):
    """Skip the running test or the whole file, unless this kind of thing is required."""
    __tracebackhide__ = True
    if kind in REQUIRED:
        pytest.fail(f"{reason}; SKLEARN_RANKSCORE_REQUIRE asks for {kind}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@functools.cache
def java_runs():
    """Whether there is a Java that starts: the `java` of macOS may only offer to install one."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if java is None:
        return False
    return subprocess.run([java, "-version"], capture_output=True).returncode == 0


def requires(module):
    """Return a module of an optional library, or skip the test or file where it is absent."""
    __tracebackhide__ = True
    library = module.partition(".")[0]
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        imported = None
    if imported is None:
        extra = f"pip install -e '.[{EXTRAS.get(library, 'test')}]'"
        absent("libraries", f"needs {library}: {COMMANDS.get(library, extra)}")
    if library == "pyspark" and not java_runs():
        absent("libraries", "needs Java 17 or newer, which Spark runs on")
    return imported


def requires_program(name, extra):
    """Return the path of a program of this environment, or skip the test where it is absent."""
    __tracebackhide__ = True
    program = shutil.which(name, path=os.path.dirname(sys.executable))
    if program is None:
        absent("libraries", f"needs {name}: pip install -e '.[{extra}]'")
    return program


def requires_browser():
    """Return the path of Chromium, or skip the test where it is absent."""
    __tracebackhide__ = True
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        absent("browser", "needs Chromium: apt-get install chromium")
    return browser


def requires_imports(code):
    """Skip the test unless each optional library that the code imports is installed."""
    __tracebackhide__ = True
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module]
        else:
            continue
        for module in modules:
            if module.partition(".")[0] in EXTRAS:
                requires(module)


def requires_data(folder):
    """Return the folder of real data, or skip the test where it is absent."""
    __tracebackhide__ = True
    if not folder.is_dir():
        absent("data", f"needs the real data, which is not at {folder}")
    return folder
