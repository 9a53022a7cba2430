"""Run by Alembic: upgrades over the connection that `history.store` hands it."""

from alembic import context

from intelliperf.history.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
