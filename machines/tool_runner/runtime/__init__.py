"""The reference tool runner: a minimal implementation of the charts under the given policies."""
