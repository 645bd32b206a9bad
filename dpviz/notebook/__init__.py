"""Releases in notebooks: a map at the end of a cell, and a widget. They read releases only."""
