"""The vault: the only rooms that see raw records. Who may enter is checked by a test."""
