"""Synthetic scenes that post-processing is trained on: nobody's locations."""
