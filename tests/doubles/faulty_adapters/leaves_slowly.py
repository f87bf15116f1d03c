"""Answers everything, and after `shutdown` puts a file away before it ends."""

import sys
from pathlib import Path

from speaking import answer, requests

for request in requests():
    answer(request)
Path(sys.argv[1]).write_text("put away")
