"""Parts of page Every day."""
