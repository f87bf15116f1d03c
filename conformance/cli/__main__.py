"""`python -m runlock.conformance.cli` is the command `runlock`."""

import sys

from runlock.conformance.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
