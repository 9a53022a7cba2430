"""What stands first on the PYTHONPATH of a watched program. Nothing here imports the rest of the product."""
