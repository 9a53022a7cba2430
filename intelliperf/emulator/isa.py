"""Compiles the same sources for the real GPU: what its compiler refuses, and what its kernels cost.

AMD figures are read from the code object metadata in the assembly (`.amdgpu_metadata`, LLVM's
AMDGPU user guide). For NVIDIA the compiler gives PTX only; registers and spills come from
`ptxas -v` where that program is on PATH and are otherwise unknown.
"""

from __future__ import annotations

import math
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from intelliperf.dropins.arguments import parse
from intelliperf.dropins.frontend import PRELUDE, as_nvcc_defines
from intelliperf.dropins.headers import search_order
from intelliperf.dropins.precompiled import Call, front_end
from intelliperf.dropins.spelling import overlay_flags
from intelliperf.dropins.toolchain import (
    Toolchain,
    find_toolchain,
    include_directory,
    tool_environment,
)
from intelliperf.emulator.resources import LocalCounts, Resources
from intelliperf.emulator.targetatomics import TargetAtomic, amd_atomics, nvidia_atomics
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory

_DEADLINE_S = 600.0
_AMD_WAVE_32 = re.compile(r"gfx1[0-2]")
_ENTRY_KEY = re.compile(r"(?:    |  - )\.(\w+):\s*(\S+)\s*$")
_INSTRUCTION = re.compile(r"\t[a-z]\w*")
_POSITION = re.compile(r"([^\s@\[\];][^@\[\];]*?):(\d+):(\d+)")
_BLOCK_START = re.compile(r"^(?:\.LBB\w+:|; %bb\.\d+:).*$", re.MULTILINE)
# Flat scratch from gfx940 on, buffer instructions before; the emulator knows no other use of those.
_SCRATCH = re.compile(r"\t(?:scratch|buffer)_(load|store)_(\w+) ")
_CALL = re.compile(r"\ts_(?:swappc|setpc)_b64 (?!s\[30:31\])")
_ADDRESS = re.compile(r" ([\w.$]+)@(?:gotpc)?rel32@lo")
_PTX_BOUND = re.compile(r"\.entry ([\w$.]+)\([^)]*\)\s*(?:\.(?!maxntid)\w+[^\n]*\n)*\.maxntid ([\d, ]+)")
_PTXAS_FUNCTION = re.compile(r"Compiling entry function '([^']+)'")
_PTXAS_REGISTERS = re.compile(r"Used (\d+) registers")
_PTXAS_SHARED = re.compile(r"(\d+) bytes smem")
_PTXAS_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


Chain = tuple[tuple[str, int, int], ...]  # file, line, column of an inline chain, innermost first


@dataclass(frozen=True)
class LocalAccesses(LocalCounts):
    chain: Chain  # empty where the compiler gives no position
    beside: Chain  # a position of the same basic block, hence one that runs as often


@dataclass(frozen=True)
class CompiledKernel(Resources):
    """`local` is None where the compiler's output does not tell: ptxas gives sizes only."""

    local: tuple[LocalAccesses, ...] | None


@dataclass(frozen=True)
class StrictCompile:
    """Either errors (the real compiler refuses the source), or facts by mangled kernel name.

    `facts` is empty without errors where the figures cannot be had (no ptxas).
    """

    architecture: str
    errors: tuple[str, ...]
    facts: Mapping[str, CompiledKernel]
    most_threads: Mapping[str, int] = field(default_factory=dict)  # of a block, where the source bounds it
    atomics: tuple[TargetAtomic, ...] | None = None  # None where the machine code cannot be read


def strict_compile(entry: Mapping[str, Any], architecture: str) -> StrictCompile:
    """Compile one line of the compile log for `architecture` (gfx90a, gfx942, gfx950, gfx1100, sm_90 …)."""
    flavour, *words = entry["arguments"]
    command = parse(flavour, words, "hip" if flavour == "hipcc" else None)
    source, directory = Path(entry["source"]), Path(entry["directory"])
    places = search_order(entry["language"], command.front, directory, bool(entry.get("standins")))
    flags = (*places, *overlay_flags(source, command.front, directory))
    return compile_for_target(source, entry["language"], flags, directory, architecture, find_toolchain())


def compile_for_target(
    source: Path, language: str, flags: Sequence[str], directory: Path, architecture: str, toolchain: Toolchain
) -> StrictCompile:
    """As `strict_compile`, for a source all of whose flags are known already, the directories of headers too."""
    expected = "gfx" if language == "hip" else "sm_"
    if not architecture.startswith(expected):
        raise ToolchainError(f"{language} sources cannot be compiled for {architecture}")
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        assembly = Path(name) / "device.s"
        failed = assemble_for_target(source, language, flags, directory, architecture, toolchain, assembly)
        if failed:
            return StrictCompile(architecture, _errors(failed) or (failed,), {})
        text = assembly.read_text(encoding="utf-8", errors="replace")
        if language == "hip":
            facts = parse_amd_assembly(text, architecture)
            return StrictCompile(architecture, (), facts, amd_launch_bounds(text), tuple(amd_atomics(text)))
        return replace(_assemble_ptx(text, architecture, Path(name)), most_threads=ptx_launch_bounds(text))


def assemble_for_target(
    source: Path,
    language: str,
    flags: Sequence[str],
    directory: Path,
    architecture: str,
    toolchain: Toolchain,
    assembly: Path,
) -> str:
    """Write the device code as the target's assembly. What the compiler says where it refuses the source; or empty."""
    argv = _command(source, language, flags, architecture, toolchain, assembly)
    done, err = front_end(Call(tuple(argv), str(source), directory), _DEADLINE_S)
    return "" if done.ok else err or f"clang: {done.describe()}"


def _architecture_list(language: str, architecture: str) -> list[str]:
    """`__CUDA_ARCH_LIST__`, which nvcc defines on both sides; of sm_90 it is 900."""
    if language != "cuda":
        return []
    number = re.sub(r"\D", "", architecture)
    return [*as_nvcc_defines(), "-U__CUDA_ARCH_LIST__", f"-D__CUDA_ARCH_LIST__={number}0"]


def _command(
    source: Path, language: str, flags: Sequence[str], architecture: str, toolchain: Toolchain, output: Path
) -> list[str]:
    wave = 64 if language == "hip" and not _AMD_WAVE_32.match(architecture) else 32
    target = f"--offload-arch={architecture}"
    empty = cache_directory() / "no-cuda-sdk"
    empty.mkdir(exist_ok=True)
    sdk = (
        ["--no-cuda-version-check", "-Xclang", "-target-sdk-version=12.4", "--cuda-feature=+ptx78"]
        if language == "cuda"
        else []
    )
    sdk += [f"--cuda-path={empty}"] if language == "cuda" else []
    return [
        *toolchain.driver(), "--cuda-device-only", target, *sdk, "-nogpulib", "-nogpuinc", f"-DSIMT_WAVE_SIZE={wave}",
        *_architecture_list(language, architecture), "-include", str(include_directory() / PRELUDE), "-x", language,
        "-O3", "-gline-tables-only", "-w", "-mllvm", "-pick-merged-source-locations",
        "-Wno-unused-command-line-argument", *flags, "-S", str(source), "-o", str(output),
    ]  # fmt: skip


def _errors(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if re.search(r"\b(?:fatal )?error: ", line))


def parse_amd_assembly(text: str, architecture: str) -> dict[str, CompiledKernel]:
    """Facts of every kernel in AMDGPU assembly."""
    start = text.find(".amdgpu_metadata")
    end = text.find(".end_amdgpu_metadata")
    if start < 0 or end < 0:
        return {}
    found: dict[str, CompiledKernel] = {}
    for values in _entries(text[start:end]):
        if "vgpr_count" not in values:
            continue
        name = values["name"].strip("'\"")
        number = {key: int(value) for key, value in values.items() if value.isdigit()}
        found[name] = CompiledKernel(
            architecture=architecture,
            vgprs=number["vgpr_count"],
            agprs=number.get("agpr_count", 0),  # only chips with accumulation registers have the key
            sgprs=number["sgpr_count"],
            lds_bytes=number["group_segment_fixed_size"],
            scratch_bytes=number["private_segment_fixed_size"],
            vgpr_spills=number["vgpr_spill_count"],
            sgpr_spills=number["sgpr_spill_count"],
            instructions=_count_instructions(text, name),
            local=_local_accesses(text, name),
        )
    return found


def amd_launch_bounds(text: str) -> dict[str, int]:
    """The largest block of every kernel in AMDGPU assembly; the driver refuses larger ones."""
    metadata = text.partition(".amdgpu_metadata")[2].partition(".end_amdgpu_metadata")[0]
    return {
        values["name"].strip("'\""): int(values["max_flat_workgroup_size"])
        for values in _entries(metadata)
        if "max_flat_workgroup_size" in values and "name" in values
    }


def ptx_launch_bounds(ptx: str) -> dict[str, int]:
    """The largest block of those kernels in PTX that have a bound; the driver refuses larger ones."""
    return {
        name: math.prod(int(number) for number in re.findall(r"\d+", sizes)) for name, sizes in _PTX_BOUND.findall(ptx)
    }


def _entries(metadata: str) -> list[dict[str, str]]:
    """Key-value pairs of each kernel in the metadata's YAML, which LLVM always writes in one layout."""
    entries: list[dict[str, str]] = []
    for line in metadata.splitlines():
        if line.startswith("  - "):
            entries.append({})
        found = _ENTRY_KEY.match(line)
        if found and entries:
            entries[-1][found[1]] = found[2]
    return entries


def _count_instructions(text: str, name: str) -> int:
    body = re.search(rf"^{re.escape(name)}:.*?$(.*?)^\.Lfunc_end", text, re.MULTILINE | re.DOTALL)
    if not body:
        return 0
    return sum(1 for line in body[1].splitlines() if _INSTRUCTION.match(line))


def _local_accesses(text: str, name: str) -> tuple[LocalAccesses, ...] | None:
    """Scratch instructions of a kernel and the functions that it calls, by position; None if one is not known."""
    bodies = _bodies(text, name)
    if bodies is None:
        return None
    found: dict[tuple[Chain, Chain], list[int]] = {}
    for block in _BLOCK_START.split("\n".join(bodies)):
        known = [chain for line in block.splitlines() if (chain := _position(line)) and chain[0][1] > 0]
        place: Chain = ()
        beside = known[0] if known else ()
        for line in block.splitlines():
            if (here := _position(line)) is not None:
                place = here if here and here[0][1] > 0 else ()
                beside = place or beside
            elif (scratch := _SCRATCH.match(line)) is not None:
                load, width = scratch[1] == "load", _width(scratch[2])
                counts = found.setdefault((place, beside), [0, 0, 0, 0, 0])
                added = (load, not load, load * width, (not load) * width, "Folded" in line)
                counts[:] = [count + int(more) for count, more in zip(counts, added, strict=True)]
    names = [item.name for item in fields(LocalCounts)]
    return tuple(
        LocalAccesses(**dict(zip(names, counts, strict=True)), chain=chain, beside=beside)
        for (chain, beside), counts in found.items()
    )


def _bodies(text: str, name: str) -> list[str] | None:
    """The text of a function and of all that it reaches."""
    pending, found = [name], {}
    while pending:
        function = pending.pop()
        if function in found:
            continue
        body = re.search(rf"^{re.escape(function)}:.*?$(.*?)^\.Lfunc_end", text, re.MULTILINE | re.DOTALL)
        if body is None:
            return None
        found[function] = body[1]
        called = [callee for callee in _ADDRESS.findall(body[1]) if f"\n\t.type\t{callee},@function" in text]
        if _CALL.search(body[1]) and not called:
            return None
        pending += called
    return list(found.values())


def _position(line: str) -> Chain | None:
    """The inline chain of a `.loc` directive, innermost first; None for other lines."""
    if not line.startswith("\t.loc"):
        return None
    return tuple((file, int(at), int(column)) for file, at, column in _POSITION.findall(line.partition(";")[2]))


def _width(suffix: str) -> int:
    """Bytes that one lane moves: of "dwordx2", "b64", "ushort", "sbyte_d16" …"""
    if suffix.startswith("dword"):
        return 4 * int(suffix[6:] or 1)
    if suffix[1:].isdigit():
        return int(suffix[1:]) // 8
    return 1 if "byte" in suffix else 2


def _assemble_ptx(ptx: str, architecture: str, work: Path) -> StrictCompile:
    assembler = shutil.which("ptxas")
    if assembler is None:
        return StrictCompile(architecture, (), {})
    source = work / "device.ptx"
    source.write_text(_portable_ptx(ptx), encoding="utf-8")
    argv = [assembler, "-v", f"-arch={architecture}", str(source), "-o", str(work / "device.cubin")]
    done, out, err = output_of(argv, _DEADLINE_S, tool_environment(), work)
    if not done.ok:
        return StrictCompile(architecture, _errors(out + err) or (f"ptxas: {done.describe()}",), {})
    facts = parse_ptxas(out + err, ptx, architecture)
    return StrictCompile(architecture, (), facts, atomics=_sass_atomics(work / "device.cubin", work))


def _sass_atomics(cubin: Path, work: Path) -> tuple[TargetAtomic, ...] | None:
    """What `nvdisasm`, which only a whole toolkit has, reads out of the machine code."""
    reader = shutil.which("nvdisasm")
    if reader is None:
        return None
    done, out, _ = output_of([reader, "-g", "-c", str(cubin)], _DEADLINE_S, tool_environment(), work)
    return tuple(nvidia_atomics(out)) if done.ok else None


def _portable_ptx(ptx: str) -> str:
    """clang splits a file's directory and name into two strings, which ptxas does not read."""
    return re.sub(r'^(\s*\.file\s+\d+) "([^"]*)" "([^"]*)"', r'\1 "\2/\3"', ptx, flags=re.MULTILINE)


def parse_ptxas(report: str, ptx: str, architecture: str) -> dict[str, CompiledKernel]:
    """Facts of every entry function in the output of `ptxas -v`."""
    found: dict[str, CompiledKernel] = {}
    name: str | None = None
    spills = (0, 0, 0)
    for line in report.splitlines():
        entry = _PTXAS_FUNCTION.search(line)
        if entry:
            name, spills = entry[1], (0, 0, 0)
        stack = _PTXAS_SPILLS.search(line)
        if stack:
            spills = (int(stack[1]), int(stack[2]), int(stack[3]))
        registers = _PTXAS_REGISTERS.search(line)
        if registers and name is not None:
            shared = _PTXAS_SHARED.search(line)
            found[name] = CompiledKernel(
                architecture=architecture,
                vgprs=int(registers[1]),
                agprs=0,
                sgprs=0,
                lds_bytes=int(shared[1]) if shared else 0,
                scratch_bytes=spills[0],
                vgpr_spills=spills[1] // 4,  # bytes of spill stores, in registers
                sgpr_spills=0,
                instructions=_count_ptx(ptx, name),
                local=None if spills[0] else (),  # without a stack frame there are none
            )
            name = None
    return found


def _count_ptx(ptx: str, name: str) -> int:
    body = re.search(rf"\.entry {re.escape(name)}\(.*?\n\{{(.*?)\n\}}", ptx, re.DOTALL)
    if not body:
        return 0
    return sum(1 for line in body[1].splitlines() if re.match(r"\s+(?:@!?%p\d+ )?[a-z]\w*[.\s;]", line))
