"""Searches that are not repeated on an unchanged target, and regressions."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "searches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("formula", sa.String(length=64), nullable=False),
        sa.Column("ending", sa.String(length=64), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_searches_target_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_searches")),
        sa.UniqueConstraint(
            "target_id",
            "fingerprint",
            "symbol",
            "formula",
            name=op.f("uq_searches_target_id_fingerprint_symbol_formula"),
        ),
    )
    op.create_index(op.f("ix_searches_target_id"), "searches", ["target_id"], unique=False)
    op.create_table(
        "regressions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("night_id", sa.Integer(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.Column("workload", sa.String(length=255), nullable=False),
        sa.Column("device", sa.String(length=255), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("kernel", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("before", sa.Float(), nullable=False),
        sa.Column("after", sa.Float(), nullable=False),
        sa.Column("metric", sa.String(length=64), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("good_visit", sa.Integer(), nullable=False),
        sa.Column("bad_visit", sa.Integer(), nullable=False),
        sa.Column("good_commit", sa.String(length=64), nullable=True),
        sa.Column("bad_commit", sa.String(length=64), nullable=True),
        sa.Column("commits", sa.JSON(), nullable=False),
        sa.Column("lines", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["bad_visit"], ["visits.id"], name=op.f("fk_regressions_bad_visit")),
        sa.ForeignKeyConstraint(["good_visit"], ["visits.id"], name=op.f("fk_regressions_good_visit")),
        sa.ForeignKeyConstraint(["night_id"], ["nights.id"], name=op.f("fk_regressions_night_id")),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_regressions_target_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_regressions")),
        sa.UniqueConstraint("bad_visit", "symbol", name=op.f("uq_regressions_bad_visit_symbol")),
    )
    op.create_index(op.f("ix_regressions_night_id"), "regressions", ["night_id"], unique=False)
    op.create_index(op.f("ix_regressions_target_id"), "regressions", ["target_id"], unique=False)


def downgrade() -> None:
    op.drop_table("regressions")
    op.drop_table("searches")
