"""Options by which a run of the tests leaves out what another run has tested.

CI runs most tests in the environment of a new user, and then all others with every library.
"""

from pathlib import Path


def pytest_addoption(parser):
    parser.addoption("--record-passed", type=Path, help="write the tests that pass to this file")
    parser.addoption("--leave-out", type=Path, help="leave out the tests that this file names")


def pytest_configure(config):
    path = config.getoption("--record-passed")
    if path and not hasattr(config, "workerinput"):  # the process that reports for all others
        path.unlink(missing_ok=True)
        config.pluginmanager.register(PassedTests(path))


class PassedTests:
    """Writes the tests that pass to a file, one in a line."""

    def __init__(self, path):
        self.path = path

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid!r}\n")


def pytest_collection_modifyitems(config, items):
    """Leave out tests that have passed, but for those with random examples."""
    path = config.getoption("--leave-out")
    if not (path and path.exists()):
        return
    passed = set(path.read_text(encoding="utf-8").splitlines())
    kept = [item for item in items if has_examples(item) or repr(item.nodeid) not in passed]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def has_examples(item):
    """Whether Hypothesis runs the test, with other examples each time."""
    return getattr(getattr(item, "function", None), "is_hypothesis_test", False)
