"""The Streamlit app: one file per page under ``pages``, and the map they share.

It knows no method by name: forms follow from the registry.
"""
