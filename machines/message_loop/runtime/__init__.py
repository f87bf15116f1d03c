"""The reference message loop: asynchronous, driven by the charts, configured by the policies of the spec."""
