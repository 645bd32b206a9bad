"""Parts of page Roads."""
