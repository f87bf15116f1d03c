"""Dies of a segmentation fault."""

import os
import signal

from speaking import complain, requests

for _ in requests():
    complain("oh no")
    os.kill(os.getpid(), signal.SIGSEGV)
