"""The Streamlit app: one file per page under ``pages``, and the map they share. Knows no method by name."""
