"""The command line, for `python -m syntagm`."""

import sys

from syntagm.cli import main

if __name__ == "__main__":
    sys.exit(main())
