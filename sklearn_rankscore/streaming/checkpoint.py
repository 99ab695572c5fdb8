"""The state of a run on disk, from which an interrupted run resumes."""

from __future__ import annotations

import os
import pickle
import time
from pathlib import Path
from typing import Any

from .accumulator import RankingAccumulator


class Checkpoint:
    """A pickled accumulator on disk; without a path it does nothing.

    Parameters
    ----------
    path : str, path-like or None
        The file.
    seconds : float
        Minimum time between two writes.
    source : tuple
        Identifies the data, which must be the same when the run resumes.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, seconds: float, source: tuple[Any, ...]
    ) -> None:
        self.path = None if path is None else Path(path)
        self.seconds, self.source = seconds, source
        self._written = time.monotonic()

    def load(self, accumulator: RankingAccumulator) -> None:
        """Merge the state of an interrupted run into an empty accumulator."""
        if self.path is None or not self.path.exists():
            return
        if accumulator.n_documents:
            raise ValueError(
                f"both the accumulator and the checkpoint {self.path} hold documents. Pass a new "
                "accumulator to resume from the checkpoint, or delete the checkpoint."
            )
        state = pickle.loads(self.path.read_bytes())
        if state["source"] != self.source:
            raise ValueError(
                f"the checkpoint {self.path} belongs to other files or columns, or the files have "
                "changed. Delete it to start over."
            )
        accumulator.merge(state["accumulator"])

    def save(self, accumulator: RankingAccumulator) -> None:
        """Write if it is due; a run killed while writing leaves the previous checkpoint."""
        if self.path is None or time.monotonic() - self._written < self.seconds:
            return
        state = {"source": self.source, "accumulator": accumulator}
        temporary = self.path.with_name(self.path.name + ".new")
        temporary.write_bytes(pickle.dumps(state))
        os.replace(temporary, self.path)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Delete the file after the end of the run."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
