"""The command line, ``rankscore``: evaluate and compare run files."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .arguments import parse
from .commands import COMMANDS

__all__ = ["main"]

FAILED, INTERRUPTED = 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, as ``rankscore`` does.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments without the name of the program; None means those of this process.

    Returns
    -------
    int
        Exit status: 0 on success, 1 if the data are invalid or cannot be read, 2 if an argument is
        invalid (raised as SystemExit), 130 if interrupted.
    """
    arguments = parse(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            _write(COMMANDS[arguments.command](arguments))
    except BrokenPipeError:  # the reader, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, ValueError, TypeError, ImportError) as error:
        print(f"rankscore: error: {_one_line(error)}", file=sys.stderr)
        return FAILED
    return 0


def _write(text: str) -> None:
    """Print the output in the encoding of standard output, which on Windows may lack our ≤."""
    if sys.stdout is None:
        raise OSError("standard output is closed.")
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = text.replace("≤", "<=")
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the output has the character {error.object[error.start]!r}, which {error.encoding}, "
            "the encoding of standard output, does not have. Set the environment variable "
            "PYTHONUTF8=1, or rename runs by NAME=PATH."
        ) from error
    sys.stdout.flush()


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning like an error, without the line of code that it would point to."""
    print(f"rankscore: warning: {message}", file=sys.stderr)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, FileNotFoundError) and error.strerror is None:  # of PyArrow
        return f"{error}: {os.strerror(errno.ENOENT)}"
    return str(error)
