"""Generates the pages of the site that come from the specification and the kit, when the site is built."""
