"""Starts a child and never answers; the child would live on for an hour."""

import subprocess
import sys
import time

from speaking import complain, requests

for _ in requests():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    complain(f"child {child.pid}")
    time.sleep(3600)
