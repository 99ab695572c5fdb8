"""A batch that one thread adds while another one does is counted, or refused."""

from functools import partial
from threading import Event, Thread

import pytest

from sklearn_rankscore import RankingAccumulator

CHANGED = "another thread changed the accumulator during this call, which has no effect"
LABELS, SCORES, QUERIES = [1, 0, 1], [1, 2, 3], ["b", "c", "d"]


class Slow:
    """The number of documents of a query; the first call lasts until another batch was added."""

    __name__ = "slow"

    def __init__(self):
        self.begun, self.added = Event(), Event()

    def __call__(self, block):
        if not self.begun.is_set():
            self.begun.set()
            assert self.added.wait(60)
        return block.sizes * 1.0


@pytest.mark.parametrize("method", ["update", "update_sorted"])
def test_a_batch_that_another_thread_overtakes(method):
    slow, errors = Slow(), []
    accumulator = RankingAccumulator(slow)
    add = partial(getattr(accumulator, method), LABELS, SCORES, QUERIES)

    def overtaken():
        try:
            add()
        except RuntimeError as error:
            errors.append(str(error))

    thread = Thread(target=overtaken)
    thread.start()
    assert slow.begun.wait(60)
    accumulator.update([1], [1], ["a"])
    slow.added.set()
    thread.join()
    assert [error.partition(".")[0] for error in errors] == [CHANGED]
    assert accumulator.result()["slow"].n_queries == accumulator.n_documents == 1
    add()
    assert accumulator.result()["slow"].n_queries == 4
