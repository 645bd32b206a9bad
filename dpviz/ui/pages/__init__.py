"""The pages of the app, one file each, found by the shell."""
