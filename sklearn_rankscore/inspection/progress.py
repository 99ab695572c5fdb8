"""Progress of long work, shown where tqdm is installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

# seconds before a bar appears
DELAY = 2.0


def with_progress(items: Iterable[T], total: int, unit: str) -> Iterable[T]:
    """The items, with a progress bar on a terminal if they take long; it disappears at the end."""
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    bar: Iterable[T] = tqdm(
        items, total=total, unit=f" {unit}", delay=DELAY, disable=None, leave=False
    )
    return bar
