"""Answers with a line that is longer than the protocol allows."""

from speaking import requests, write

LONG = "x" * 5 * 1024 * 1024

for request in requests():
    write(f'{{"jsonrpc": "2.0", "id": {request["id"]}, "result": {{"text": "{LONG}"}}}}')
