"""Answers each request with the lines of its command line; {id} stands for the request's id."""

import sys

from speaking import complain, requests, write

for request in requests():
    complain("about to answer")
    for line in sys.argv[1:]:
        write(line.replace("{id}", str(request["id"])))
