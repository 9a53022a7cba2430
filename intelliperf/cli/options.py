"""What the command line and the configuration file said, before it is made into records."""

from __future__ import annotations

from pathlib import Path

from intelliperf.frozen import record


@record(frozen=True)
class Options:
    """Field names are option names; deadlines in seconds."""

    command: tuple[str, ...]
    formula: str = "all"
    build_command: tuple[str, ...] = ()
    project_directory: Path | None = None
    kernel: str | None = None
    top_n: int = 10
    num_attempts: int = 10
    model: str | None = None
    provider: str | None = None
    api_base: str | None = None
    price: str | None = None
    unittest_command: str | None = None
    in_place: bool = False
    output_file: Path | None = None
    rtol: float | None = None
    atol: float | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    budget_minutes: float | None = None
    replay: Path | None = None
    backend: str = "auto"
    target: str | None = None
    launcher: str | None = None
    emulated_launcher: bool = False
    flush_l2: bool = False
    expect_exit: int = 0
    pass_env: tuple[str, ...] = ()
    run_root: Path | None = None
    run_deadline: float = 300.0
    build_deadline: float = 900.0
    keep_work: bool = False
    json_events: bool = False
    verbose: bool = False
    diagnose_only: bool = False
