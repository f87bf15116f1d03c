"""The reference message loop: asynchronous, moved by the charts, chosen by every policy of the spec."""
