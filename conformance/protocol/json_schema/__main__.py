"""Writes the schemas of a family: those of the default one next to this file, if no other is named."""

import sys
from pathlib import Path
from pkgutil import resolve_name

from runlock.conformance.protocol.json_schema import write_schemas

DEFAULT = "runlock.conformance.families.lifecycle.family:FAMILY"

if __name__ == "__main__":
    folder, family = [*sys.argv[1:], *(str(Path(__file__).parent), DEFAULT)[len(sys.argv) - 1 :]]
    for path in write_schemas(Path(folder), resolve_name(family).vocabulary):
        print(path.name)
