"""The HTTP APIs of models: each module reads a request, and writes a turn whole or as server-sent events."""
