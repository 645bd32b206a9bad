"""The map's program in the browser: one map for two hosts, the app and a file that travels."""
