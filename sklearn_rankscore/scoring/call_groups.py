"""The argument `groups` of a call of cross-validation or of a search, for any splitter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._sklearn_calls import groups_of_call
from .._sklearn_compat import num_samples
from .._typing import Array
from ..query_ids import find_query_ids, group_rows
from ..query_ids.lookup import source_or_ids
from ..query_ids.row_order import check_same_order


class CallGroups:
    """The query ids that the running call of scikit-learn was given as `groups`.

    scikit-learn hands them to the splitter alone. Splitters of this package pass them on; here they
    are read for all others, such as `GroupKFold` or splits that were made before.

    Attributes
    ----------
    given, without : estimator or None
        A candidate of the call whose fit needs the query ids that it was given, and one whose fit
        takes none.
    optional : str
        The parameter by which a fit was given query ids that it does not need; "" if none was.
    """

    def __init__(self, groups: Any) -> None:
        self._groups = groups
        self._ids: Any = None
        self._codes: Array | None = None
        self.given: Any = None
        self.without: Any = None
        self.optional = ""

    @classmethod
    def read(cls) -> CallGroups:
        """Those of the call that runs now."""
        return cls(groups_of_call())

    def are(self, carried: Any) -> bool:
        """Whether the call was given what its splitter has passed on, or nothing."""
        return self._groups is None or self._groups is carried

    def ids(self, X: Any, carried: Any) -> Any:
        """The id of each row of `X`; `carried`, the ids of the splitter, if they are equal."""
        if self._ids is None:
            source, ids = source_or_ids(self._groups, X)
            check_same_order(X=X, groups=ids)
            self._ids = find_query_ids(X, groups=ids, id_source=source) if source else ids
        is_same = carried is not None and np.array_equal(np.asarray(carried), self._ids)
        return carried if is_same else self._ids

    def are_divided(self, X: Any, test: Any) -> bool:
        """Whether a test fold holds only some documents of a query."""
        if self._codes is None:
            self._codes = group_rows(self._ids, num_samples(X)).codes
        in_test = np.bincount(self._codes[test], minlength=int(self._codes.max()) + 1)
        return bool(((in_test > 0) & (in_test < np.bincount(self._codes))).any())
