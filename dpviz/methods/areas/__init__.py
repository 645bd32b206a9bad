"""Methods on the areas of a public partition, one file each."""
