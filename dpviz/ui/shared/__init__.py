"""What pages of every kind of data share."""
