"""Parts shared by the pages of all kinds of data."""
