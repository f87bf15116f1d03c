"""Ends without an answer, but a child of its own keeps standard output open for an hour."""

import os
import time

from speaking import requests

next(requests())
if os.fork() == 0:
    time.sleep(3600)
os._exit(0)
