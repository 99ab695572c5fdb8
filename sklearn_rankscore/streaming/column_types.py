"""The types that the columns of several files or batches have in common."""

from __future__ import annotations

from typing import Any


def common_types(files: list[tuple[str, dict[str, Any]]], ids: list[str]) -> dict[str, Any]:
    """A type for each column, to which the columns of all files can be converted exactly.

    Parameters
    ----------
    files : list of (str, dict of str to DataType)
        Path and column types of each file.
    ids : list of str
        The columns of query ids, among which 1 and 1.0 are not mixed.

    Raises
    ------
    ValueError
        If there is none; it names the column and two files.
    """
    (first, types), *others = files
    source, types = dict.fromkeys(types, first), dict(types)
    for path, theirs in others:
        for name, kind in theirs.items():
            if kind == types[name]:
                continue
            common = _common(types[name], kind, name in ids)
            if common is None:
                raise ValueError(
                    f"column {name!r} has the type {types[name]} in {source[name]} and {kind} in "
                    f"{path}. Convert them to one type."
                )
            if common != types[name]:
                source[name], types[name] = path, common
    return types


def converted(batch: Any, types: dict[str, Any], place: str) -> Any:
    """A batch with columns of these types, without any field's metadata."""
    import pyarrow as pa

    arrays = []
    for (name, kind), column in zip(types.items(), batch.columns, strict=True):
        if column.type != kind and pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        try:
            arrays.append(column if column.type == kind else column.cast(kind))
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"column {name!r} of {place} cannot be converted to {kind}, the type that all have "
                f"in common: {error}. Convert it to one type."
            ) from error
    return pa.RecordBatch.from_arrays(arrays, names=list(types))


def _common(first: Any, second: Any, is_id: bool) -> Any:
    import pyarrow as pa

    kinds = [_plain(first), _plain(second)]
    if kinds[0] == kinds[1]:
        return kinds[0]
    numbers = [pa.types.is_integer(k) or pa.types.is_floating(k) for k in kinds]
    if all(numbers) and len({pa.types.is_integer(k) for k in kinds}) == 2:
        return None if is_id else pa.float64()
    fields = [pa.schema([pa.field("", kind)]) for kind in kinds]
    try:
        unified = pa.unify_schemas(fields, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return None
    # a number never becomes text, nor a date a number
    families = {_family(kind) for kind in (*kinds, unified) if not pa.types.is_null(kind)}
    return unified if len(families) == 1 else None


def _plain(kind: Any) -> Any:
    """The type of the values of a dictionary, and one type for all text."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if str(kind) in ("string", "string_view"):
        return pa.large_string()
    return pa.large_binary() if str(kind) in ("binary", "binary_view") else kind


def _family(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_timestamp(kind):
        return f"timestamp {kind.tz}"
    return str(kind)
