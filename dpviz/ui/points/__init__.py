"""Parts of the pages on points."""
