"""Device code for the real GPU where its own code is to be executed, in the container that the runtime takes."""

from __future__ import annotations

import os
from pathlib import Path

from intelliperf.dropins.frontend import CompilerMessage, Unit
from intelliperf.dropins.spelling import overlay_flags, without_overlay
from intelliperf.dropins.toolchain import Toolchain
from intelliperf.emulator.compiler.device import run_tool
from intelliperf.emulator.container import ABI_VERSION, pack_container
from intelliperf.emulator.isa import assemble_for_target
from intelliperf.errors import ToolchainError

EXECUTOR = "INTELLIPERF_EXECUTOR"  # of builds: which executor the device code is for
MACHINE = "machine"
EXECUTED = ("gfx90a", "gfx942", "gfx950")  # architectures whose code the runtime executes


def machine_code_wanted() -> bool:
    """Whether builds are for the machine executor."""
    return os.environ.get(EXECUTOR) == MACHINE


def machine_container(unit: Unit, work: Path, rule: Path, toolchain: Toolchain, header: dict[str, object]) -> bytes:
    """The unit's device code for its target. `rule` gets the files that were read.

    Raises `CompilerMessage` where the target's compiler refuses the source, or the target's code cannot be executed.
    """
    architecture = str(unit.device["architecture"])
    if architecture not in EXECUTED:
        raise CompilerMessage(
            f"error: --executor machine executes the code of {', '.join(EXECUTED[:-1])} and {EXECUTED[-1]}, "
            f"not of {architecture}; give --target mi250x, mi300x or mi350x\n"
        )
    if unit.relocatable:
        raise CompilerMessage("error: --executor machine does not link device code of several files (-fgpu-rdc)\n")
    source, assembly, built, linked = (
        unit.directory / unit.source,
        work / "target.s",
        work / "target.o",
        work / "target.co",
    )
    flags = (*without_overlay(unit.front_flags()), *overlay_flags(unit.source, unit.flags, unit.directory))
    reads = [
        word for one in ("-dependency-file", str(rule), "-MT", "unit", "-sys-header-deps") for word in ("-Xclang", one)
    ]
    said = assemble_for_target(
        source, unit.language, (*flags, *reads), unit.directory, architecture, toolchain, assembly
    )
    if said:
        raise CompilerMessage(said)
    target = ["-target", "amdgcn-amd-amdhsa", f"-mcpu={architecture}"]
    run_tool([*toolchain.driver(), *target, "-c", str(assembly), "-o", str(built)], work, "assembling GPU code failed")
    try:
        run_tool([*toolchain.elf_linker, "-shared", "--no-undefined", str(built), "-o", str(linked)], work, "linking")
    except ToolchainError as error:
        raise CompilerMessage(f"error: the GPU code needs what --executor machine does not have: {error}\n") from error
    return pack_container(linked.read_bytes(), {"abi": ABI_VERSION, **header})
