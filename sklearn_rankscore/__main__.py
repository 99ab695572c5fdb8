"""``python -m sklearn_rankscore``, the same as the command ``rankscore``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
