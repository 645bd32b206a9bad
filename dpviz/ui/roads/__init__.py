"""Parts of the page on roads."""
