"""Begins its second answer, and ends."""

from speaking import answer, requests, write

waiting = requests()
answer(next(waiting))
next(waiting)
write('{"jsonrpc": "2.0", "id"', end="")
