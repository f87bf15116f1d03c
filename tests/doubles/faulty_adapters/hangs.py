"""Never answers, and ignores every polite signal."""

import signal

for polite in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(polite, signal.SIG_IGN)
while True:
    signal.pause()
