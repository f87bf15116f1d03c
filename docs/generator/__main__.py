"""`python -m docs.generator FOLDER` writes the site as a folder that any builder can render."""

import sys
from pathlib import Path

from .site import write

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m docs.generator FOLDER")
    print(f"{write(Path(sys.argv[1]))} files in {sys.argv[1]}")
