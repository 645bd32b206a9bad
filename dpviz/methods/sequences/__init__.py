"""Methods on sequences: each file is one method, found by name."""
