"""Writes the schemas of the lifecycle family: next to this file, or into the folder that is named."""

import sys
from pathlib import Path

from runlock.conformance.protocol import LISTED, METHODS, OUTCOMES_BY_GATE, Handshake, Scenario
from runlock.conformance.protocol.json_schema import write_schemas

if __name__ == "__main__":
    named = sys.argv[1:2]
    for path in write_schemas(
        Path(named[0]) if named else Path(__file__).parent,
        methods=METHODS,
        observations=LISTED,
        outcomes=OUTCOMES_BY_GATE,
        scenario=Scenario,
        handshake=Handshake,
    ):
        print(path.name)
