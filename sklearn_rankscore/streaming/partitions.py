"""Columns in the paths of files, as Hive and Spark write them: ``country=de/part-0.parquet``."""

from __future__ import annotations

import math
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from .column_names import ColumnNames

# what Hive writes for a missing value
_NULL = "__HIVE_DEFAULT_PARTITION__"


def partition_of(path: str) -> dict[str, str | None]:
    """The values of columns in the folders of a path; None for a missing value."""
    folders = PurePosixPath(path.replace("\\", "/")).parts[:-1]
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    return {unquote(name): None if value == _NULL else unquote(value) for name, value in pairs}


def check_sources(files: list[tuple[str, dict[str, Any], dict[str, str | None]]]) -> None:
    """Refuse a column that some files hold and others have in their path only."""
    in_file = {name: path for path, types, _ in files for name in types}
    in_path = {name: path for path, _, partition in files for name in partition}
    for name in in_file.keys() & in_path.keys():
        raise ValueError(
            f"column {name!r} is in {in_file[name]} and only in the path of {in_path[name]}. Write "
            "it in the same way for all files, or rename it."
        )


def partition_types(
    files: list[tuple[str, dict[str, str | None]]], columns: ColumnNames
) -> dict[str, Any]:
    """The type of each column in paths: text, if not all files have integers there.

    An integer has no zero in front, so that the ids "01" and "1" remain two. Labels, scores and
    weights are numbers.
    """
    import pyarrow as pa

    values: dict[str, dict[str | None, str]] = {}
    for path, partition in files:
        for name, value in partition.items():
            values.setdefault(name, {}).setdefault(value, path)
    types = {}
    for name, paths in values.items():
        known = [value for value in paths if value is not None]
        if name in (columns.label, columns.score, columns.weight):
            _check_numbers(name, {value: paths[value] for value in known})
            types[name] = pa.float64()
        else:
            types[name] = pa.int64() if all(map(_is_integer, known)) else pa.large_string()
    return types


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) < 19
    return is_number and str(int(text)) == text


def _check_numbers(name: str, paths: dict[str, str]) -> None:
    for text, path in paths.items():
        try:
            is_finite = math.isfinite(float(text))
        except ValueError:
            is_finite = False
        if not is_finite:
            raise ValueError(f"column {name!r} must hold numbers; {path} has {text!r}.")
