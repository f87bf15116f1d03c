"""Answers in Latin-1."""

from speaking import requests, write

for request in requests():
    write(b'{"jsonrpc": "2.0", "id": %d, "result": {"name": "caf\xe9"}}' % request["id"])
