"""The tables. A change here needs a revision in `migrations/versions`, which a test holds against this file."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _key(target: str, optional: bool = False) -> Column[int]:
    name = target.removesuffix("s")
    return Column(f"{name}_id", Integer, ForeignKey(f"{target}.id"), nullable=optional, index=True)


nights = Table(
    "nights",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("host", String(255), nullable=False),
    Column("state", String(20), nullable=False),
    Column("started_at", String(32), nullable=False),
    Column("ended_at", String(32)),
    Column("tool_version", String(64), nullable=False),
    Column("directory", Text, nullable=False),
    Column("exit_status", Integer),
)
targets = Table(
    "targets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(255), nullable=False, unique=True),
    Column("owners", JSON, nullable=False),
)
visits = Table(
    "visits",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("nights"),
    _key("targets"),
    Column("workload", String(255), nullable=False),
    Column("device", String(255), nullable=False),
    Column("state", String(20), nullable=False),
    Column("fingerprint", String(64), nullable=False, index=True),
    Column("parts", JSON, nullable=False),
    Column("commit", String(64)),
    Column("dirty", Boolean, nullable=False),
    Column("manifest", JSON, nullable=False),
    Column("tool_version", String(64), nullable=False),
    Column("at", String(32), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("directory", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("same_as", Integer, ForeignKey("visits.id")),
    UniqueConstraint("night_id", "target_id", "workload", "device"),
)
kernels = Table(
    "kernels",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("visits"),
    Column("symbol", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("dispatches", Integer, nullable=False),
    Column("total_ns", Float, nullable=False),
    Column("noise", Float),
    Column("provenance", String(20), nullable=False),
    Column("share", Float, nullable=False),
    UniqueConstraint("visit_id", "symbol"),
)
counters = Table(
    "counters",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("kernels"),
    Column("metric", String(64), nullable=False),
    Column("value", Float, nullable=False),
    Column("provenance", String(20), nullable=False),
    Column("error", Float),
    UniqueConstraint("kernel_id", "metric"),
)
lines = Table(
    "lines",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("visits"),
    Column("symbol", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("line", Integer, nullable=False),
    Column("column", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("access", String(20), nullable=False),
    Column("space", String(20), nullable=False),
    Column("operation", String(64), nullable=False),
    Column("counters", JSON, nullable=False),
)
findings = Table(
    "findings",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("visits"),
    Column("formula", String(64), nullable=False),
    Column("symbol", Text, nullable=False),
    Column("kernel", Text, nullable=False),
    Column("sentence", Text, nullable=False),
    Column("severity", Float, nullable=False),
    Column("metric", String(64), nullable=False),
    Column("value", Float, nullable=False),
    Column("ideal", Float, nullable=False),
    Column("gain_ceiling", Float, nullable=False),
    Column("lines", JSON, nullable=False),
)
searches = Table(
    "searches",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("targets"),
    Column("fingerprint", String(64), nullable=False),
    Column("symbol", Text, nullable=False),
    Column("formula", String(64), nullable=False),
    Column("ending", String(64), nullable=False),
    Column("directory", Text, nullable=False),
    Column("at", String(32), nullable=False),
    UniqueConstraint("target_id", "fingerprint", "symbol", "formula"),
)
candidates = Table(
    "candidates",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("targets"),
    _key("nights", optional=True),
    Column("directory", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("kernel", Text, nullable=False),
    Column("formula", String(64), nullable=False),
    Column("origin", Text, nullable=False),
    Column("outcome", String(32), nullable=False),
    Column("detail", Text, nullable=False),
    Column("diff", JSON, nullable=False),
    UniqueConstraint("directory", "number"),
)
patches = Table(
    "patches",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("targets"),
    Column("identity", String(64), nullable=False),
    Column("formula", String(64), nullable=False),
    Column("symbol", Text, nullable=False),
    Column("kernel", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("rationale", Text, nullable=False),
    Column("diff", JSON, nullable=False),  # escaped: a patch may hold bytes that are not text
    Column("base", String(64)),
    Column("directory", Text, nullable=False),
    Column("standing", String(20), nullable=False, index=True),
    Column("found_at", String(32), nullable=False),
    _key("nights", optional=True),
    UniqueConstraint("target_id", "identity"),
)
verdicts = Table(
    "verdicts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("patch_id", Integer, ForeignKey("patches.id"), nullable=False, index=True),
    _key("nights", optional=True),
    Column("workload", String(255), nullable=False),
    Column("device", String(255), nullable=False),
    Column("commit", String(64)),
    Column("outcome", String(32), nullable=False),
    Column("detail", Text, nullable=False),
    Column("checks", JSON, nullable=False),
    Column("measurements", JSON, nullable=False),
    Column("not_checked", JSON, nullable=False),
    Column("at", String(32), nullable=False),
    Column("directory", Text, nullable=False),
)
decisions = Table(
    "decisions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("patch_id", Integer, ForeignKey("patches.id"), nullable=False, index=True),
    Column("sequence", Integer, nullable=False),
    Column("reviewer", String(255), nullable=False),
    Column("choice", String(20), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", String(32), nullable=False),
    UniqueConstraint("patch_id", "sequence"),  # of two at once, the second hears of the first
)
costs = Table(
    "costs",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("nights"),
    _key("targets"),
    Column("task", String(255), nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("usd", Float),
    Column("seconds", Float, nullable=False),
    Column("device_seconds", Float, nullable=False),
    UniqueConstraint("night_id", "task"),
)
regressions = Table(
    "regressions",
    metadata,
    Column("id", Integer, primary_key=True),
    _key("nights"),
    _key("targets"),
    Column("workload", String(255), nullable=False),
    Column("device", String(255), nullable=False),
    Column("symbol", Text, nullable=False),
    Column("kernel", Text, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("before", Float, nullable=False),
    Column("after", Float, nullable=False),
    Column("metric", String(64), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("good_visit", Integer, ForeignKey("visits.id"), nullable=False),
    Column("bad_visit", Integer, ForeignKey("visits.id"), nullable=False),
    Column("good_commit", String(64)),
    Column("bad_commit", String(64)),
    Column("commits", JSON, nullable=False),
    Column("lines", JSON, nullable=False),
    UniqueConstraint("bad_visit", "symbol"),
)
