"""Memory that one block has freed is used by the next, instead of returned to the system."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

import numpy as np

# the largest array from which glibc learns has 32 MiB, with all that it adds to an array
LARGEST = 2**25 - 2**16


@lru_cache(maxsize=1)
def retain_freed_memory() -> None:
    """Let arrays of up to 32 MiB share one heap, in this process and from now on.

    glibc returns a large array to the system when it is freed, and the system clears the memory of
    the next one when it is first written to, which takes as long as ranking a block. After the
    first free of an array, glibc takes arrays up to that size from its heap, of which it retains up
    to twice that size; see M_MMAP_THRESHOLD in mallopt(3). Other C libraries are not affected.
    """
    with suppress(MemoryError):
        np.empty(LARGEST, dtype=np.uint8)
