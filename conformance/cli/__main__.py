"""`python -m runlock.conformance.cli` is the command `runlock`."""

import os
import sys

if __name__ == "__main__" and not sys.flags.safe_path and not os.path.isdir("runlock"):
    del sys.path[0]  # the current folder, in which a file may have the name of a module of Python

from runlock.conformance.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
