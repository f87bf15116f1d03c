"""Answers with a hundred thousand nested lists."""

from speaking import requests, write

DEEP = "[" * 100_000 + "]" * 100_000

for request in requests():
    write(f'{{"jsonrpc": "2.0", "id": {request["id"]}, "result": {{"v": {DEEP}}}}}')
