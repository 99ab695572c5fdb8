"""A Spark session on this machine."""

from spark_session import session  # noqa: F401 - a fixture
