"""Ends before it answered anything, with these last words."""

import sys

from speaking import complain

for line in sys.argv[1:] or ["no configuration file"]:
    complain(line)
sys.exit(3)
