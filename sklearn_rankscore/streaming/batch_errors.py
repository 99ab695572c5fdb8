"""Errors that name the batch in which they occur."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Update = TypeVar("Update", bound=Callable[..., Any])


def name_batch(update: Update) -> Update:
    """An update whose errors have a note, so that a log of many batches shows which one failed."""

    @wraps(update)
    def named(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return update(self, *args, **kwargs)
        except Exception as error:
            error.add_note(f"in the batch after {self.n_documents} documents, which are unchanged")
            raise

    return cast("Update", named)
