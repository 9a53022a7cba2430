"""Make rules (depfiles) from what the host front end read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from intelliperf.dropins.toolchain import is_ours
from intelliperf.emulator.compiler.unit import Compiled


def default_rule_file(output: str) -> str:
    """`dir/name.d` for `dir/name.o`."""
    return str(Path(output).with_suffix(".d"))


def make_rule(targets: Sequence[str], compiled: Compiled, system: bool, phony: bool) -> str:
    """One rule, and with `phony` an empty rule per header so that deleted headers do no harm."""
    files = list(compiled.dependencies)
    if not system:
        outside = tuple(f"{directory}/" for directory in compiled.system_directories)
        files = [file for file in files if not file.startswith(outside) and not is_ours(file)]
    text = f"{' '.join(targets)}: " + " \\\n  ".join(escaped(file) for file in files) + "\n"
    if phony:
        text += "".join(f"\n{escaped(file)}:\n" for file in files[1:])
    return text


def escaped(path: str) -> str:
    """A path as make wants it in a rule."""
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")
