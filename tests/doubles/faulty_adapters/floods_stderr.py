"""Writes 32 MiB on standard error around each answer; its last line is a sentence."""

import sys

from speaking import answer, complain, requests


def flood():
    for _ in range(16):
        sys.stderr.write("blah " * 200_000 + "\n")


for request in requests():
    flood()
    answer(request)
    flood()
    complain("that was all")
