"""`intelliperf.toml`, and `nightly.toml`, which has the same schema: read, checked, and found by line."""
