"""Methods on points: each file is one method, found by name."""
