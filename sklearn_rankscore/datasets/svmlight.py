"""What scikit-learn's reader of SVMlight files leaves out: any query ids, sizes, unsorted features.

`load_svmlight_file(query_id=True)` takes integer ids only, and its time grows with the square of
the number of lines.
"""

from __future__ import annotations

import bz2
import gzip
import math
import os
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from .._typing import Array
from ..io.text import damage_named

RepeatedFeatures: TypeAlias = Literal["error", "first", "last"]
Line: TypeAlias = tuple[int, list[bytes]]

# the largest number of a feature that scikit-learn reads
LARGEST_FEATURE = 2**31 - 1

# the files of query sizes that LightGBM and XGBoost expect beside the data
SIZE_FILES = (".query", ".group")
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}


def ids_of_files(paths: list[Path]) -> list[Array]:
    """The query ids of each file; queries of files of sizes get numbers that no other one has."""
    files = _of_one_type([_query_ids(path) for path in paths])
    integers = [ids for ids, numbered in files if not numbered and ids.dtype.kind == "i"]
    start = 1 + max((int(ids.max()) for ids in integers), default=-1)
    result = []
    for ids, numbered in files:
        result.append(ids + max(start, 0) if numbered else ids)
        if numbered:
            start = 1 + int(result[-1].max())
    return result


def _of_one_type(files: list[tuple[Array, bool]]) -> list[tuple[Any, bool]]:
    """Ids as integers if those of all files are, so that a query of two files has one id."""
    integers = [ids if numbered else _as_integers(ids) for ids, numbered in files]
    if any(ids is None for ids in integers):
        return files
    return [(ids, numbered) for ids, (_, numbered) in zip(integers, files, strict=True)]


def _query_ids(path: Path) -> tuple[Array, bool]:
    """The query id of each line, and whether they are numbers given to a file of query sizes."""
    numbers, fields = [], []
    for number, line in numbered_lines(path, fields=2):
        numbers.append(number)
        fields.append(line[1] if len(line) > 1 else b"")
    if not fields:
        raise ValueError(f"{path} is empty: it has no line of a document.")
    has_id = np.array([field.startswith(b"qid:") for field in fields], dtype=bool)
    if has_id.any() and not has_id.all():
        number = numbers[int(np.argmin(has_id))]
        raise ValueError(f"{path}, line {number}: there is no qid:ID, which other lines have.")
    if b"qid:" in fields:
        number = numbers[fields.index(b"qid:")]
        raise ValueError(f"{path}, line {number}: there is no ID directly after qid:.")
    from_sizes = _ids_of_sizes(path, len(fields))
    if not has_id.any():
        return _present(path, from_sizes), True
    ids = np.array([_decoded(path, *line) for line in zip(numbers, fields, strict=True)])
    if from_sizes is not None and not _same_queries(ids, from_sizes):
        raise ValueError(
            f"The qid: of {path} and the query sizes in the file beside it describe different "
            "queries. Remove one of them."
        )
    return ids, False


def _present(path: Path, ids: Array | None) -> Array:
    if ids is None:
        raise ValueError(
            f"{path} has no query ids: its lines have no qid:ID after the label, and there is no "
            f"file of query sizes {path.name}.query or {path.name}.group beside it."
        )
    return ids


def _ids_of_sizes(path: Path, n_lines: int) -> Array | None:
    files = [beside for end in SIZE_FILES if (beside := Path(f"{path}{end}")).exists()]
    if not files:
        return None
    try:
        sizes = np.loadtxt(files[0], dtype=np.int64, ndmin=1)
    except ValueError as error:
        raise ValueError(
            f"{files[0]} must hold the size of one query per line, an integer ({error})."
        ) from error
    if sizes.ndim > 1 or sizes.min(initial=0) < 0:
        got = f"{sizes.shape[1]} columns" if sizes.ndim > 1 else f"the size {sizes.min()}"
        raise ValueError(f"{files[0]} must hold the size of one query per line; got {got}.")
    if sizes.sum() != n_lines:
        raise ValueError(
            f"The query sizes in {files[0]} add up to {sizes.sum()}, "
            f"but {path} has {n_lines} lines."
        )
    return np.repeat(np.arange(len(sizes)), sizes)


def _decoded(path: Path, number: int, field: bytes) -> str:
    try:
        return field[4:].decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, line {number}: the query id {field[4:]!r} is not UTF-8."
        ) from error


def _as_integers(text: Array) -> Array | None:
    """Ids as integers if this keeps all of them apart and their text unchanged, else None."""
    try:
        integers = text.astype(np.int64)
    except (ValueError, OverflowError):
        return None
    return integers if (integers.astype(str) == text).all() else None


def _same_queries(ids: Array, others: Array) -> bool:
    return np.array_equal(ids[1:] != ids[:-1], others[1:] != others[:-1])


def numbered_lines(path: Path, fields: int = -1) -> Iterator[Line]:
    """Number and fields of each line that is not blank or a comment."""
    opener = OPENERS.get(path.suffix, open)
    with damage_named(str(path)), opener(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if number == 1:
                line = line.removeprefix(BOM_UTF8)
            parts = line.partition(b"#")[0].split(None, fields)
            if parts:
                yield number, parts


def has_byte_order_mark(path: Path) -> bool:
    """Whether a file starts with the mark of UTF-8, which scikit-learn's reader does not skip."""
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        return bool(file.read(len(BOM_UTF8)) == BOM_UTF8)


def sorted_features(path: Path, repeated: RepeatedFeatures) -> BytesIO:
    """The file without query ids, and with each line's features unique and in ascending order."""
    result = BytesIO()
    for number, (label, *pairs) in numbered_lines(path):
        features: dict[int, bytes] = {}
        for pair in _without_id(pairs):
            name, _, value = pair.partition(b":")
            index = int(name)
            if index in features and repeated == "error":
                raise ValueError(
                    f"{path}, line {number}: feature {index} occurs more than once. Choose one "
                    "of the values with repeated_features='first' or 'last'."
                )
            if index not in features or repeated == "last":
                features[index] = value
        result.write(label)
        result.writelines(b" %d:%b" % item for item in sorted(features.items()))
        result.write(b"\n")
    result.seek(0)
    return result


def _without_id(pairs: list[bytes]) -> list[bytes]:
    return pairs[1:] if pairs and pairs[0].startswith(b"qid:") else pairs


def check_lines(path: Path) -> None:
    """Name the first line whose label or features are no numbers, which scikit-learn does not."""
    for number, (label, *pairs) in numbered_lines(path):
        field = label
        try:
            _check_finite(label)
            for field in _without_id(pairs):
                index, _, value = field.partition(b":")
                if not 0 <= int(index) <= LARGEST_FEATURE:
                    raise ValueError("no number of a feature")
                _check_finite(value)
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number}: got {field.decode(errors='replace')!r}, but a line must "
                "be 'label qid:ID feature:value ...' with finite numbers for label, feature and "
                f"value, the feature from 0 to {LARGEST_FEATURE}."
            ) from error


def _check_finite(number: bytes) -> None:
    """Refuse infinity, as which a number beyond the range of floats is read."""
    if math.isinf(float(number)):
        raise ValueError("infinite")


def as_path(path: str | os.PathLike[str]) -> Path:
    """The path, refused if there is no such file, which scikit-learn's reader reports late."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            "path must be the path of a file, or a list of paths; got an object of "
            f"{type(path).__name__}. Content in memory is read from a temporary file."
        )
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {os.fspath(path)}.")
    return Path(path)
