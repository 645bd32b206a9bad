"""Releases in notebooks: the map at the end of a cell, and a widget. They see releases alone."""
