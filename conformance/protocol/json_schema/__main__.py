"""Writes the schemas anew: beside this file, or into the folder that is named."""

import sys
from pathlib import Path

from runlock.conformance.protocol.json_schema import write_schemas

if __name__ == "__main__":
    named = sys.argv[1:2]
    for path in write_schemas(Path(named[0]) if named else Path(__file__).parent):
        print(path.name)
