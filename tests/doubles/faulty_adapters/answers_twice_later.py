"""Answers its first request once more, in the place of the answer to the second."""

from speaking import answer, requests

first = None
for request in requests():
    first = first or request
    answer(first)
