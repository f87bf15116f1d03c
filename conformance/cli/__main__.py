"""`python -m runlock.conformance.cli` is the command `runlock`."""

import os
import sys

# Unless the kit itself lies in the current folder, that folder leaves the path of modules: a file in it may
# have the name of a module of Python.
if (
    __name__ == "__main__"
    and not sys.flags.safe_path
    and os.path.abspath(sys.path[0]) != __file__.rsplit(os.sep, 4)[0]
):
    del sys.path[0]

from runlock.conformance.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
