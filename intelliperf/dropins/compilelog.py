"""The compile log: what each GPU source of a build was compiled with, for those who read its syntax tree later."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.devices.models import DEFAULT_TARGETS, device_file_values, resolve, target_names
from intelliperf.dropins.arguments import parse
from intelliperf.dropins.command import Command, Source
from intelliperf.dropins.frontend import Unit, device_reader_flags, dialect_flags, host_flags
from intelliperf.dropins.headers import Found, libraries_of
from intelliperf.dropins.spelling import library_overlay, overlay_flags
from intelliperf.dropins.toolchain import Toolchain, find_toolchain
from intelliperf.errors import IntelliPerfError, UsageError

LOG = "INTELLIPERF_COMPILE_LOG"  # names the file; without it nothing is logged
UNLOGGED = "intelliperf: this compilation cannot be logged: "


def unit_of(
    command: Command,
    source: Source,
    directory: Path,
    environment: Mapping[str, str],
    toolchain: Toolchain,
    standins: bool = False,
) -> Unit:
    """The source with all that decides how it is compiled. Raises `UsageError` for an unknown target."""
    found = libraries_of(source.language, command.front, directory, standins)
    target = resolve(command.target or environment.get("INTELLIPERF_TARGET") or DEFAULT_TARGETS[source.language])
    _check_chip(source, target)
    return Unit(
        source=Path(source.path),
        language=source.language,
        directory=directory,
        flags=(
            *command.front,
            *dialect_flags(command.flavour, command.front),
            *host_flags(command.openmp, toolchain),
            *overlay_flags(Path(source.path), command.front, directory, emulated=True),
            *(word for where in found if where.directory for word in library_overlay(where.directory, where.folders)),
        ),
        optimisation=command.optimisation or "-O2",
        target=target,
        device=dict(device_file_values(target)),
        relocatable=command.relocatable_device_code,
        as_written=command.as_written(),
        standins=standins,
    )


def _check_chip(source: Source, target: str) -> None:
    """Raises `UsageError` with the remedy for a source of one vendor's language and a chip of the other."""
    vendors = {"hip": "gfx", "cuda": "sm_"}
    if str(device_file_values(target)["architecture"]).startswith(vendors[source.language]):
        return
    chips = [
        name
        for name in target_names()
        if str(device_file_values(name)["architecture"]).startswith(vendors[source.language])
    ]
    other = {"hip": "HIP; translate it to CUDA or use --backend cuda with HIP's headers for NVIDIA (HIP_PATH)",
             "cuda": "CUDA; translate it with hipify-perl and build it with hipcc"}[source.language]  # fmt: skip
    raise UsageError(
        f"{source.path} cannot be compiled for {target}: it is {other}, "
        f"or leave --target out or give one of {', '.join(chips)}"
    )


def log_unit(
    unit: Unit,
    words: Sequence[str],
    output: Path,
    environment: Mapping[str, str],
    toolchain: Toolchain,
    libraries: Sequence[Found] = (),
    compiler: str = "",
    remarks: Sequence[str] = (),
) -> None:
    """One line per GPU source, appended in one write, so that concurrent compiles may share the file.

    `libraries` are those made of headers that the source includes; `compiler` what carries it out, in words;
    `remarks` what else its user should know of how it was compiled.
    """
    log = environment.get(LOG)
    if not log:
        return
    entry = {
        "source": str((unit.directory / unit.source).resolve()),
        "arguments": list(words),
        "reader_flags": device_reader_flags(unit, toolchain),
        "language": unit.language,
        "directory": str(unit.directory),
        "output": str(output),
        "standins": unit.standins,
        "libraries": [str(where) for where in libraries],
        "compiler": compiler,
        "remarks": list(remarks),
    }
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, (json.dumps(entry) + "\n").encode())
    finally:
        os.close(handle)


def log_or_say_why_not(flavour: str, words: Sequence[str], compiler: str = "") -> None:
    """`log_command` where the environment asks for it; what stops it is said on standard error and stops no build."""
    if not os.environ.get(LOG):
        return
    try:
        log_command(flavour, words, compiler)
    except (IntelliPerfError, OSError, ValueError) as error:
        sys.stderr.write(f"{UNLOGGED}{error}\n")


def log_command(flavour: str, words: Sequence[str], compiler: str = "") -> None:
    """All GPU sources of a command line that a real compiler, named in words, is about to carry out here."""
    command = parse(flavour, list(words), None)
    if command.stage not in ("link", "object"):
        return
    toolchain = find_toolchain()
    for source in command.sources:
        if source.is_gpu:
            unit = unit_of(command, source, Path.cwd(), os.environ, toolchain)
            output = Path(command.object_of(source))
            log_unit(unit, (command.flavour, *words), output, os.environ, toolchain, compiler=compiler)
