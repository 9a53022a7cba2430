"""What each search tried, the refused candidates included."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "candidates",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.Column("night_id", sa.Integer(), nullable=True),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kernel", sa.Text(), nullable=False),
        sa.Column("formula", sa.String(length=64), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("diff", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_candidates_target_id")),
        sa.ForeignKeyConstraint(["night_id"], ["nights.id"], name=op.f("fk_candidates_night_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidates")),
        sa.UniqueConstraint("directory", "number", name=op.f("uq_candidates_directory_number")),
    )
    op.create_index(op.f("ix_candidates_target_id"), "candidates", ["target_id"], unique=False)
    op.create_index(op.f("ix_candidates_night_id"), "candidates", ["night_id"], unique=False)


def downgrade() -> None:
    op.drop_table("candidates")
