"""`intelliperf completion SHELL`: the script that a shell's start file evaluates."""

from __future__ import annotations

from typer import completion

from intelliperf.cli.app import COMPLETING
from intelliperf.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


def print_script(shell: str) -> int:
    """Raises `UsageError` for another shell."""
    if shell not in SHELLS:
        raise UsageError(f"no completion for {shell!r}; choose one of: {', '.join(SHELLS)}")
    script = completion.get_completion_script(  # type: ignore[attr-defined]
        prog_name="intelliperf", complete_var=COMPLETING, shell=shell
    )
    print(script)
    return 0


def prepare() -> None:
    """Let the parser answer all of the shells."""
    completion.completion_init()  # type: ignore[attr-defined]
