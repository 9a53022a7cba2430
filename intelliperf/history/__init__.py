"""What all nights saw, in one database: kernel times, counters, findings, patches, verdicts, costs, decisions.

`opening.open_history` opens it; `store.History` writes what a night found
and answers what a reviewer asks, in the records of `history.records`. Needs the extra `[nightly]` (SQLAlchemy and
Alembic), and `[postgresql]` (psycopg) where several machines write.
"""
