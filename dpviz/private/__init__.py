"""The vault: the only rooms that see raw records. A test checks their importers."""
