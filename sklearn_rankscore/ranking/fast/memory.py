"""Memory that one block has freed is used by the next, instead of returned to the system."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from functools import lru_cache

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
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):  # an interpreter without a shared C library
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        libc.free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(LARGEST))))
