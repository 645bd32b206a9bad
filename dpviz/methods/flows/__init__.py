"""Methods on pairs of areas, one file each."""
