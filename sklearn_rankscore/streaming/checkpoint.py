"""The state of a run in a file, from which an interrupted run resumes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._validation import check_number
from .accumulator import RankingAccumulator
from .checkpoint_file import file_of
from .checkpoint_format import from_bytes, to_bytes
from .local_file import LocalFile
from .remote_file import RemoteFile
from .remote_lock import LockLostError

_ADVICE = "Delete it to start over, or pass another path."


class Terminated(BaseException):
    """The process was asked to end by SIGTERM."""


class Checkpoint:
    """The state of an accumulator in a file.

    Parameters
    ----------
    file : LocalFile, RemoteFile or None
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
        file: LocalFile | RemoteFile | None,
        seconds: float,
        run: RankingAccumulator,
        source: dict[str, Any],
        wait: float = 0.0,
    ) -> None:
        self.file, self.run = file, run
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
    def check(
        cls, checkpoint: Any, seconds: float, run: RankingAccumulator
    ) -> LocalFile | RemoteFile | None:
        """Refuse what cannot be saved or resumed, before any file is read; returns the file."""
        check_number("checkpoint_seconds", seconds, 0)
        if checkpoint is None:
            return None
        file = file_of(checkpoint)
        if problem := file.problem:
            raise ValueError(f"checkpoint must be the path of a file of its own; {file} {problem}.")
        unknown = run._configuration.known_to_one_process
        if unknown:
            raise TypeError(
                f"{unknown[0]!r} cannot be identified in another process, "
                "so that a checkpoint cannot be resumed safely. Use a function, or an object that "
                "can be pickled."
            )
        return file

    @contextmanager
    def active(self) -> Iterator[None]:
        """Load the state of an interrupted run; save this one if it is interrupted too."""
        if self.file is None:
            yield
            return
        with _explained(self.file):
            self._acquire(self.file)
        try:
            self._load(self.file)
            with _explained(self.file):  # before hours have been spent
                self._write(self.file)
            yield from self._saved_when_interrupted(self.file)
            self._remove(self.file)
        finally:
            self.file.lock.release()

    def save(self) -> None:
        """Write the state if it is due; a failure is a warning, because the run can continue."""
        if self.file is None or time.monotonic() - self._written < self.seconds:
            return
        try:
            self._write(self.file)
        except OSError as error:
            self._written = time.monotonic()
            warnings.warn(
                f"the checkpoint {self.file} cannot be written ({error}); the run continues, and "
                f"tries again in {self.seconds:g} seconds.",
                RuntimeWarning,
                stacklevel=3,
            )

    def _saved_when_interrupted(self, file: LocalFile | RemoteFile) -> Iterator[None]:
        restore = _raise_on_sigterm()
        try:
            yield
        except (TypeError, ValueError, LockLostError):
            raise  # the data have to change, which no checkpoint outlives, or it is another run's
        except BaseException as error:
            restore()
            self.seconds = 0.0
            self.save()
            if isinstance(error, Terminated):
                file.lock.release()
                os.kill(os.getpid(), signal.SIGTERM)  # with the exit status of the signal
            raise
        finally:
            restore()

    def _remove(self, file: LocalFile | RemoteFile) -> None:
        try:
            file.lock.confirm()
            file.remove()
        except LockLostError:
            pass  # the other run computes the same result
        except OSError as error:
            message = f"the run is complete, but the checkpoint {file} cannot be deleted ({error})."
            warnings.warn(message, RuntimeWarning, stacklevel=5)

    def _acquire(self, file: LocalFile | RemoteFile) -> None:
        end = time.monotonic() + self.wait
        while True:
            try:
                file.lock.acquire()
                return
            except BlockingIOError as error:
                left = end - time.monotonic()
                if left <= 0:
                    raise RuntimeError(
                        f"the checkpoint {file} is in use by another run: {error}. Set "
                        "checkpoint_wait to wait for its end, or pass another checkpoint."
                    ) from None
            time.sleep(min(left, 0.1))

    def _load(self, file: LocalFile | RemoteFile) -> None:
        """Take the state of an interrupted run."""
        content = file.read()
        if content is None:
            return
        try:
            header, state = from_bytes(content)
        except ValueError as error:
            raise ValueError(f"the checkpoint {file} {error}. {_ADVICE}") from error
        reason = _difference(header, self.header)
        if reason is not None:
            raise ValueError(f"the checkpoint {file} {reason}. {_ADVICE}")
        self.run._state = state

    def _write(self, file: LocalFile | RemoteFile) -> None:
        with _deferred_signals():
            file.lock.confirm()
            file.replace(to_bytes(self.header, self.run._state))
        self._written = time.monotonic()


@contextmanager
def _explained(file: LocalFile | RemoteFile) -> Iterator[None]:
    """Name the checkpoint in what the system says about one of its files."""
    try:
        yield
    except OSError as error:
        message = f"the checkpoint cannot be written ({error.strerror or error})"
        raise OSError(error.errno, message, str(file)) from error


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
