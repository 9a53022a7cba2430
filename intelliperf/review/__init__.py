"""A page for the people who decide about patches: inbox, one patch, decisions. Served locally, or written to a file."""
