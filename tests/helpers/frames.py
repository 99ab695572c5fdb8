"""Libraries of the extra `test-frames`: a test that is named after one needs it.

Without them, `Absent` stands in the tables from which the cases of such tests are made.
"""

from importlib import import_module


class Absent:
    """A library that is not installed, or anything of it."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def __bool__(self):
        return False

    def __getitem__(self, key):
        return self

    def __call__(self, *args, **kwargs):
        return self


def library(name):
    try:
        return import_module(name)
    except ImportError:
        return Absent()


pl, pa, duckdb = (library(name) for name in ("polars", "pyarrow", "duckdb"))
