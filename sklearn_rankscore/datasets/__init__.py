"""Data sets for learning to rank: a real one, a generator, and a reader of files."""

from .letor import load_lambdarank, load_letor
from .synthetic import make_ranking

__all__ = ["load_lambdarank", "load_letor", "make_ranking"]
