"""Parts of page Sequences."""
