"""Methods on trips along roads: each file is one method, found by name."""
