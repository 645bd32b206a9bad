"""The loading room: from files, folders and tables to records inside the vault."""
