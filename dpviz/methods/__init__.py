"""Methods, one small file each, in a folder for each kind of data."""
