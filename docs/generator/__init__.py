"""Writes the pages of the site that are facts of the spec and of the kit, when the site is built."""
