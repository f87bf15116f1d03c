"""Answers once, and ends without being asked to."""

from speaking import answer, requests

answer(next(requests()))
