"""Ends before it answered anything."""

import sys

from speaking import complain

complain("no configuration file")
sys.exit(3)
