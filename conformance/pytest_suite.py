"""What a test file imports: `ConformanceSuite`, with one test for each clause."""

from runlock.conformance.pytest_plugin.suite import ConformanceSuite

__all__ = ["ConformanceSuite"]
