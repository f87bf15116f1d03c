"""The kit: drives a runtime under test, judges what it shows, and says why."""
