"""Compiles one GPU source file to an ordinary object: both front ends side by side, then the join.

The host side is compiled to assembly with a placeholder for the fat binary, so it need not wait
for the device side; the container is put in its place when both are done.
"""

from __future__ import annotations

import re
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from intelliperf.dropins.depfile import prerequisites
from intelliperf.dropins.frontend import Unit, device_cc1, host_cc1, system_directories
from intelliperf.dropins.precompiled import without_kept
from intelliperf.dropins.spelling import overlay_flags, without_overlay
from intelliperf.dropins.toolchain import TRIPLE, Toolchain, store_output
from intelliperf.emulator.compiler.device import (
    MOST_THREADS,
    build_container,
    compile_front_end,
    facts_wanted,
    run_tool,
)
from intelliperf.emulator.compiler.devicelink import IR_SECTION, linked_symbol, pack_module, unpack_modules
from intelliperf.emulator.compiler.hostnames import mark_out_of_reach
from intelliperf.emulator.compiler.machinecode import machine_code_wanted, machine_container
from intelliperf.emulator.compiler.targetsites import ATOMICS, COMPILER
from intelliperf.emulator.isa import compile_for_target
from intelliperf.errors import ToolchainError

_PLACEHOLDER = "intelliperf-device-code-goes-here"
_LINES = ("-debug-info-kind=line-tables-only", "-dwarf-version=5", "-debugger-tuning=gdb")


@dataclass(frozen=True)
class Compiled:
    """What a compilation gave besides its object."""

    warnings: str
    dependencies: tuple[str, ...]  # of the host side, in make's order
    device_dependencies: tuple[str, ...]
    system_directories: tuple[str, ...]


def compile_unit(unit: Unit, output: Path, toolchain: Toolchain) -> Compiled:
    """Raises `CompilerMessage` for errors in the user's code, `ToolchainError` for ours."""
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        work = Path(name)
        assembly, host_rule, device_rule = work / "host.s", work / "host.d", work / "device.d"
        placeholder = work / "placeholder"
        placeholder.write_text(_PLACEHOLDER, encoding="ascii")
        host = host_cc1(unit, toolchain, str(assembly), host_rule)
        host += ["-sys-header-deps"]
        if unit.relocatable:
            host += ["-fgpu-rdc", "--offload-new-driver"]
        else:
            host += ["-fcuda-include-gpubinary", str(placeholder)]
        source = host.pop(host.index(str(unit.source), host.index("-x")))
        host.append(source)
        host_only = ["-fwrapv", "-relaxed-aliasing"] if unit.as_written else []
        # Which line of the host asks for what, see `emulator.hostcalls`. Nobody reads a description of its types, and
        # with one no precompiled header serves.
        host = [word for word in host if not word.startswith("-debug-info-kind")]
        host_only += _LINES
        with ThreadPoolExecutor(3) as pool:
            facts = pool.submit(static_facts, unit, toolchain)
            device_side = pool.submit(_device_side, unit, host, work, device_rule, toolchain, facts)
            warnings = compile_front_end([*toolchain.clang, *host[:-1], *host_only, source], unit)
            payload = device_side.result()
        if not unit.relocatable and not machine_code_wanted():
            named = assembly.read_text(encoding="utf-8", errors="surrogateescape")
            payload.write_bytes(mark_out_of_reach(payload.read_bytes(), named))
        _join(assembly, payload, unit.relocatable)
        _assemble(assembly, output, toolchain)
        return Compiled(
            warnings=warnings,
            dependencies=_files_read(host_rule, unit),
            device_dependencies=_files_read(device_rule, unit),
            system_directories=tuple(system_directories(host)),
        )


@dataclass(frozen=True)
class CompiledModule:
    """Device code by itself, and what the compilation gave besides."""

    container: bytes
    warnings: str
    host_assembly: str  # where names of kernels stand as the host's pointers to them
    dependencies: tuple[str, ...]


def compile_module(unit: Unit, toolchain: Toolchain) -> CompiledModule:
    """The device side alone; raises as `compile_unit`."""
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        work = Path(name)
        assembly, host_rule, device_rule = work / "host.s", work / "host.d", work / "device.d"
        host = host_cc1(unit, toolchain, str(assembly), host_rule)
        host.append(host.pop(host.index(str(unit.source), host.index("-x"))))
        with ThreadPoolExecutor(3) as pool:
            facts = pool.submit(static_facts, unit, toolchain)
            device_side = pool.submit(_device_side, unit, host, work, device_rule, toolchain, facts)
            warnings = compile_front_end([*toolchain.clang, *host], unit)
            container = device_side.result().read_bytes()
        return CompiledModule(
            container=container,
            warnings=warnings,
            host_assembly=assembly.read_text(encoding="utf-8", errors="surrogateescape"),
            dependencies=tuple(dict.fromkeys((*_files_read(host_rule, unit), *_files_read(device_rule, unit)))),
        )


def static_facts(unit: Unit, toolchain: Toolchain) -> dict[str, dict[str, Any]]:
    """Registers, spills, sizes and launch bounds on the real target, by kernel; empty if it refuses or is not asked.

    A refusal is not an error here: the emulator runs more than the GPU would; `strict_compile` tells.
    """
    if not facts_wanted():
        return {}
    architecture = str(unit.device["architecture"])
    source = unit.directory / unit.source
    flags = (*without_overlay(unit.front_flags()), *overlay_flags(unit.source, unit.flags, unit.directory))
    made = compile_for_target(source, unit.language, flags, unit.directory, architecture, toolchain)
    facts: dict[str, dict[str, Any]] = {name: asdict(fact) for name, fact in made.facts.items()}
    for name, threads in made.most_threads.items():
        facts.setdefault(name, {})[MOST_THREADS] = threads
    for atomic in made.atomics or ():
        facts.setdefault(atomic.function, {}).setdefault(ATOMICS, []).append(asdict(atomic))
    if made.atomics is not None:
        assembler = " and ptxas" if unit.language == "cuda" else ""
        facts[""] = {COMPILER: f"{toolchain.version}{assembler} for {architecture}"}
    return facts


def _device_side(
    unit: Unit,
    host: list[str],
    work: Path,
    rule: Path,
    toolchain: Toolchain,
    facts: Future[dict[str, dict[str, Any]]],
) -> Path:
    """The file to embed: a container, or plain device IR if it is to be linked later."""
    plan = [word for word in host if word != "--offload-new-driver"]
    if machine_code_wanted():
        executed = work / "container"
        executed.write_bytes(machine_container(unit, work, rule, toolchain, container_header(unit)))
        return executed
    ir = work / "unit.ll"
    compile_front_end([*toolchain.clang, *device_cc1(plan, unit, ir, rule)], unit)
    if unit.relocatable:
        module = work / "module"
        module.write_bytes(pack_module({**container_header(unit), "static": facts.result()}, ir.read_bytes()))
        return module
    content = build_container(
        ir.read_text(encoding="utf-8", errors="surrogateescape"), work, toolchain, container_header(unit), facts.result
    )
    path = work / "container"
    path.write_bytes(content)
    return path


def container_header(unit: Unit) -> dict[str, object]:
    """The metadata that does not come from the code."""
    return {
        "source": str((unit.directory / unit.source).resolve()),
        "language": unit.language,
        "target": unit.target,
        "wave_size": unit.wave_size,
        "device": unit.device,
    }


def _join(assembly: Path, payload: Path, relocatable: bool) -> None:
    text = assembly.read_text(encoding="utf-8", errors="surrogateescape")
    if relocatable:
        text += f'\n\t.section {IR_SECTION},"e",@progbits\n\t.incbin "{payload}"\n'
        for _, code in unpack_modules(payload.read_bytes()):  # draws the device link's object out of an archive
            text += f'\t.section .data.rel.ro,"aw",@progbits\n\t.p2align 3\n\t.quad {linked_symbol(code)}\n'
    elif _PLACEHOLDER in text:
        pattern = rf'^\t\.asci[iz]\t"{_PLACEHOLDER}"$'
        text, replaced = re.subn(pattern, f'\t.incbin\t"{payload}"', text, flags=re.MULTILINE)
        if replaced != 1:
            raise ToolchainError(f"the place of the device code occurs {replaced} times in the host's assembly")
        text = re.sub(rf"^\t\.size\t(\S+), {len(_PLACEHOLDER)}$", r"\t.size\t\1, .-\1", text, flags=re.MULTILINE)
    assembly.write_text(text, encoding="utf-8", errors="surrogateescape")


def _assemble(assembly: Path, output: Path, toolchain: Toolchain) -> None:
    made = assembly.with_suffix(".o")
    run_tool(
        [*toolchain.clang, "-cc1as", "-triple", TRIPLE, "-filetype", "obj", "-mrelocation-model", "pic",
         "-dwarf-version=5", "-o", str(made), str(assembly)],
        assembly.parent,
        "assembling the host code failed",
    )  # fmt: skip
    store_output(output, made.read_bytes())


def _files_read(rule: Path, unit: Unit) -> tuple[str, ...]:
    """In make's order, which has the source first; not what its headers were precompiled to."""
    files = prerequisites(rule.read_text(encoding="utf-8", errors="surrogateescape"))
    return tuple(dict.fromkeys((str(unit.source), *without_kept(files))))
