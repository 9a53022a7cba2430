"""Nights, targets, visits with their kernels, lines and findings; patches, verdicts, decisions and costs."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "nights",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("started_at", sa.String(length=32), nullable=False),
        sa.Column("ended_at", sa.String(length=32), nullable=True),
        sa.Column("tool_version", sa.String(length=64), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("exit_status", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_nights")),
    )
    op.create_table(
        "targets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("owners", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_targets")),
        sa.UniqueConstraint("name", name=op.f("uq_targets_name")),
    )
    op.create_table(
        "costs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("night_id", sa.Integer(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.Column("task", sa.String(length=255), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("usd", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("device_seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["night_id"], ["nights.id"], name=op.f("fk_costs_night_id")),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_costs_target_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_costs")),
        sa.UniqueConstraint("night_id", "task", name=op.f("uq_costs_night_id_task")),
    )
    op.create_index(op.f("ix_costs_night_id"), "costs", ["night_id"], unique=False)
    op.create_index(op.f("ix_costs_target_id"), "costs", ["target_id"], unique=False)
    op.create_table(
        "patches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.String(length=64), nullable=False),
        sa.Column("formula", sa.String(length=64), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("kernel", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("diff", sa.JSON(), nullable=False),
        sa.Column("base", sa.String(length=64), nullable=True),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("standing", sa.String(length=20), nullable=False),
        sa.Column("found_at", sa.String(length=32), nullable=False),
        sa.Column("night_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["night_id"], ["nights.id"], name=op.f("fk_patches_night_id")),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_patches_target_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_patches")),
        sa.UniqueConstraint("target_id", "identity", name=op.f("uq_patches_target_id_identity")),
    )
    op.create_index(op.f("ix_patches_night_id"), "patches", ["night_id"], unique=False)
    op.create_index(op.f("ix_patches_standing"), "patches", ["standing"], unique=False)
    op.create_index(op.f("ix_patches_target_id"), "patches", ["target_id"], unique=False)
    op.create_table(
        "visits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("night_id", sa.Integer(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.Column("workload", sa.String(length=255), nullable=False),
        sa.Column("device", sa.String(length=255), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("parts", sa.JSON(), nullable=False),
        sa.Column("commit", sa.String(length=64), nullable=True),
        sa.Column("dirty", sa.Boolean(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("tool_version", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("same_as", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["night_id"], ["nights.id"], name=op.f("fk_visits_night_id")),
        sa.ForeignKeyConstraint(["same_as"], ["visits.id"], name=op.f("fk_visits_same_as")),
        sa.ForeignKeyConstraint(["target_id"], ["targets.id"], name=op.f("fk_visits_target_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_visits")),
        sa.UniqueConstraint(
            "night_id", "target_id", "workload", "device", name=op.f("uq_visits_night_id_target_id_workload_device")
        ),
    )
    op.create_index(op.f("ix_visits_fingerprint"), "visits", ["fingerprint"], unique=False)
    op.create_index(op.f("ix_visits_night_id"), "visits", ["night_id"], unique=False)
    op.create_index(op.f("ix_visits_target_id"), "visits", ["target_id"], unique=False)
    op.create_table(
        "decisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("patch_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.String(length=255), nullable=False),
        sa.Column("choice", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["patch_id"], ["patches.id"], name=op.f("fk_decisions_patch_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
        sa.UniqueConstraint("patch_id", "sequence", name=op.f("uq_decisions_patch_id_sequence")),
    )
    op.create_index(op.f("ix_decisions_patch_id"), "decisions", ["patch_id"], unique=False)
    op.create_table(
        "findings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("visit_id", sa.Integer(), nullable=False),
        sa.Column("formula", sa.String(length=64), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("kernel", sa.Text(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("severity", sa.Float(), nullable=False),
        sa.Column("metric", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("ideal", sa.Float(), nullable=False),
        sa.Column("gain_ceiling", sa.Float(), nullable=False),
        sa.Column("lines", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["visit_id"], ["visits.id"], name=op.f("fk_findings_visit_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_findings")),
    )
    op.create_index(op.f("ix_findings_visit_id"), "findings", ["visit_id"], unique=False)
    op.create_table(
        "kernels",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("visit_id", sa.Integer(), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dispatches", sa.Integer(), nullable=False),
        sa.Column("total_ns", sa.Float(), nullable=False),
        sa.Column("noise", sa.Float(), nullable=True),
        sa.Column("provenance", sa.String(length=20), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["visit_id"], ["visits.id"], name=op.f("fk_kernels_visit_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kernels")),
        sa.UniqueConstraint("visit_id", "symbol", name=op.f("uq_kernels_visit_id_symbol")),
    )
    op.create_index(op.f("ix_kernels_symbol"), "kernels", ["symbol"], unique=False)
    op.create_index(op.f("ix_kernels_visit_id"), "kernels", ["visit_id"], unique=False)
    op.create_table(
        "lines",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("visit_id", sa.Integer(), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("column", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("access", sa.String(length=20), nullable=False),
        sa.Column("space", sa.String(length=20), nullable=False),
        sa.Column("operation", sa.String(length=64), nullable=False),
        sa.Column("counters", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["visit_id"], ["visits.id"], name=op.f("fk_lines_visit_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lines")),
    )
    op.create_index(op.f("ix_lines_visit_id"), "lines", ["visit_id"], unique=False)
    op.create_table(
        "verdicts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("patch_id", sa.Integer(), nullable=False),
        sa.Column("night_id", sa.Integer(), nullable=True),
        sa.Column("workload", sa.String(length=255), nullable=False),
        sa.Column("device", sa.String(length=255), nullable=False),
        sa.Column("commit", sa.String(length=64), nullable=True),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("checks", sa.JSON(), nullable=False),
        sa.Column("measurements", sa.JSON(), nullable=False),
        sa.Column("not_checked", sa.JSON(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["night_id"], ["nights.id"], name=op.f("fk_verdicts_night_id")),
        sa.ForeignKeyConstraint(["patch_id"], ["patches.id"], name=op.f("fk_verdicts_patch_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdicts")),
    )
    op.create_index(op.f("ix_verdicts_night_id"), "verdicts", ["night_id"], unique=False)
    op.create_index(op.f("ix_verdicts_patch_id"), "verdicts", ["patch_id"], unique=False)
    op.create_table(
        "counters",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kernel_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("provenance", sa.String(length=20), nullable=False),
        sa.Column("error", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["kernel_id"], ["kernels.id"], name=op.f("fk_counters_kernel_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_counters")),
        sa.UniqueConstraint("kernel_id", "metric", name=op.f("uq_counters_kernel_id_metric")),
    )
    op.create_index(op.f("ix_counters_kernel_id"), "counters", ["kernel_id"], unique=False)


def downgrade() -> None:
    op.drop_table("counters")
    op.drop_table("verdicts")
    op.drop_table("lines")
    op.drop_table("kernels")
    op.drop_table("findings")
    op.drop_table("decisions")
    op.drop_table("visits")
    op.drop_table("patches")
    op.drop_table("costs")
    op.drop_table("targets")
    op.drop_table("nights")
