"""Numbers in the byte order of the machine."""

from __future__ import annotations

from typing import Any

import numpy as np


def in_native_order(values: Any) -> Any:
    """An array, sparse matrix, Series or frame in the byte order of the machine.

    XGBoost would take the bytes of the other order for other numbers, and pandas cannot select rows
    of them. Anything else is returned unchanged.
    """
    dtypes: Any = getattr(values, "dtypes", None)
    if hasattr(dtypes, "items"):  # those of the columns of a frame
        foreign = {name: of.newbyteorder("=") for name, of in dtypes.items() if _is_foreign(of)}
        return values.astype(foreign) if foreign else values
    dtype: Any = getattr(values, "dtype", None)
    return values.astype(dtype.newbyteorder("=")) if _is_foreign(dtype) else values


def _is_foreign(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and not dtype.isnative
