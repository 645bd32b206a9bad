"""Parts of the page on sequences."""
