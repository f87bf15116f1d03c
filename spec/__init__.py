"""The words: what must hold of an agent run, and why, as data that checks itself."""
