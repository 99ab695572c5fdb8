"""The state of a run on disk, from which an interrupted run resumes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .._validation import check_number
from .accumulator import RankingAccumulator
from .checkpoint_format import from_bytes, to_bytes
from .lock import FileLock

_ADVICE = "Delete it to start over, or pass another path."


class Terminated(BaseException):
    """The process was asked to end by SIGTERM."""


class Checkpoint:
    """The state of an accumulator on disk.

    Parameters
    ----------
    path : str, path-like or None
        The file; None for a run that is not saved.
    seconds : float
        Minimum time between two writes.
    run : RankingAccumulator
        The accumulator, empty at first.
    source : dict
        Identifies the data by JSON values, which must be the same when the run resumes.
    wait : float
        Seconds to wait while another run uses the file.
    """

    def __init__(
        self,
        path: Path | None,
        seconds: float,
        run: RankingAccumulator,
        source: dict[str, Any],
        wait: float = 0.0,
    ) -> None:
        self.path, self.run = path, run
        self.seconds = check_number("checkpoint_seconds", seconds, 0)
        self.wait = check_number("checkpoint_wait", wait, 0)
        self.header = {
            "version": sys.modules[__name__.partition(".")[0]].__version__,
            "metrics": run._configuration.metrics,
            "options": run._configuration.options,
            **source,
        }
        self._written = time.monotonic()

    @classmethod
    def check(cls, checkpoint: Any, seconds: float, run: RankingAccumulator) -> Path | None:
        """Refuse what cannot be saved or resumed, before any file is read; returns the path."""
        check_number("checkpoint_seconds", seconds, 0)
        if checkpoint is None:
            return None
        if not isinstance(checkpoint, str | os.PathLike):
            raise TypeError(
                f"checkpoint must be the path of a file; got {type(checkpoint).__name__}."
            )
        path = Path(os.path.abspath(checkpoint))
        problem = _problem_of(path)
        if problem is not None:
            raise ValueError(f"checkpoint must be the path of a file of its own; {path} {problem}.")
        unknown = run._configuration.known_to_one_process
        if unknown:
            raise TypeError(
                f"{unknown[0]!r} cannot be identified in another process, "
                "so that a checkpoint cannot be resumed safely. Use a function, or an object that "
                "can be pickled."
            )
        return path

    @contextmanager
    def active(self) -> Iterator[None]:
        """Load the state of an interrupted run; save this one if it is interrupted too."""
        if self.path is None:
            yield
            return
        lock = FileLock(beside(self.path, ".lock"))
        self._acquire(lock)
        try:
            self._load()
            self._write_first()
            yield from self._saved_when_interrupted()
        finally:
            lock.release()

    def save(self) -> None:
        """Write the state if it is due; a failure is a warning, because the run can continue."""
        if self.path is None or time.monotonic() - self._written < self.seconds:
            return
        try:
            self._write()
        except OSError as error:
            self._written = time.monotonic()
            warnings.warn(
                f"the checkpoint {self.path} cannot be written ({error}); the run continues, and "
                f"tries again in {self.seconds:g} seconds.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _saved_when_interrupted(self) -> Iterator[None]:
        restore = _raise_on_sigterm()
        try:
            yield
        except (TypeError, ValueError):
            raise  # the data have to change, and no checkpoint outlives that
        except BaseException as error:
            restore()
            self.seconds = 0.0
            self.save()
            if isinstance(error, Terminated):
                os.kill(os.getpid(), signal.SIGTERM)  # with the exit status of the signal
            raise
        finally:
            restore()
        self._remove()

    def _remove(self) -> None:
        assert self.path is not None
        for path in (self.path, beside(self.path, ".new")):
            path.unlink(missing_ok=True)

    def _acquire(self, lock: FileLock) -> None:
        end = time.monotonic() + self.wait
        while True:
            try:
                lock.acquire()
                return
            except BlockingIOError as error:
                left = end - time.monotonic()
                if left <= 0:
                    raise RuntimeError(
                        f"the checkpoint {self.path} is in use by another run: {error}. Set "
                        "checkpoint_wait to wait for its end, or pass another checkpoint."
                    ) from None
            time.sleep(min(left, 0.1))

    def _load(self) -> None:
        """Take the state of an interrupted run."""
        assert self.path is not None
        if not self.path.exists():
            return
        try:
            header, state = from_bytes(self.path.read_bytes())
        except ValueError as error:
            raise ValueError(f"the checkpoint {self.path} {error}. {_ADVICE}") from error
        reason = _difference(header, self.header)
        if reason is not None:
            raise ValueError(f"the checkpoint {self.path} {reason}. {_ADVICE}")
        self.run._state = state

    def _write_first(self) -> None:
        """Show that the file can be written before hours have been spent."""
        try:
            self._write()
        except OSError as error:
            raise type(error)(
                error.errno, f"the checkpoint cannot be written ({error.strerror})", str(self.path)
            ) from error

    def _write(self) -> None:
        """Replace the file; at no time is it incomplete, even if the power fails."""
        with _deferred_signals():
            self._replace_file()
        self._written = time.monotonic()

    def _replace_file(self) -> None:
        assert self.path is not None
        content = to_bytes(self.header, self.run._state)
        temporary = beside(self.path, ".new")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except OSError:
            with suppress(OSError):  # half a file would only keep a full disk full
                temporary.unlink()
            raise
        if os.name == "posix":
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)


def beside(path: Path, ending: str) -> Path:
    """A file next to a checkpoint."""
    return path.with_name(path.name + ending)


def _problem_of(path: Path) -> str | None:
    """Why a checkpoint cannot have a path."""
    if not path.parent.is_dir():
        return "is in a folder that does not exist"
    if path.is_dir():
        return "is a folder"
    if not path.exists():
        return None
    if not path.is_file():  # such as /dev/null, which would be replaced
        return "is not a regular file"
    with path.open("rb") as file:
        return "is a Parquet file" if file.read(4) == b"PAR1" else None


def _difference(theirs: dict[str, Any], mine: dict[str, Any]) -> str | None:
    """Why a checkpoint with the header `theirs` cannot be resumed by a run with `mine`."""
    for part, what in (("metrics", "metrics"), ("options", "options of the metrics")):
        names = sorted(theirs[part]), sorted(mine[part])
        if names[0] != names[1]:
            return f"belongs to other {what}: it has {_listed(names[0])}, not {_listed(names[1])}"
        changed = [name for name in names[0] if theirs[part][name] != mine[part][name]]
        if changed:
            return (
                f"belongs to other {what}: {_listed(changed)} had another value, or a function or "
                "a variable that it uses has changed"
            )
    old, new = (dict(header["files"]) for header in (theirs, mine))
    for path in new:
        if path in old and old[path] != new[path]:
            return f"belongs to other contents of {path}, which has changed since"
    for part in mine:
        if theirs[part] != mine[part]:
            return f"belongs to other files or columns, or to another version ({part} differ)"
    return None


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


@contextmanager
def _deferred_signals() -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM after a block that their exceptions must not interrupt.

    NumPy and zipfile would replace such an exception by an error about an archive left open.
    """
    handlers: dict[int, Any] = {}
    received: list[tuple[int, Any]] = []
    if threading.current_thread() is threading.main_thread():
        for sent in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(sent)):
                handlers[sent] = signal.signal(sent, lambda *call: received.append(call))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number, frame in received[:1]:
        handlers[number](number, frame)


def _raise_on_sigterm() -> Any:
    """Turn SIGTERM into an exception, where nothing else handles it; returns what undoes it."""
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return lambda: None

    def terminate(number: int, frame: Any) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    return lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)
