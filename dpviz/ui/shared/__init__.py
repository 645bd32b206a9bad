"""Parts shared by the pages of every kind of data."""
