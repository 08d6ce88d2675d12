"""`python -m syntagm` is `syntagm`."""

import sys

from syntagm.cli import main

if __name__ == "__main__":
    sys.exit(main())
