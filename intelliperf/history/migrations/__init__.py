"""Alembic's revisions of the database, oldest first by their numbers."""
