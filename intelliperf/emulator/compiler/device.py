"""Device IR → instrumented shared object → container."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from intelliperf.dropins.frontend import CompilerMessage, Unit, optimisation_flags
from intelliperf.dropins.precompiled import Call, front_end
from intelliperf.dropins.toolchain import TRIPLE, Toolchain, host_processor, tool_environment
from intelliperf.emulator.compiler.assembly import readable, translate_assembly
from intelliperf.emulator.compiler.targetsites import ATOMICS, mark_atomics
from intelliperf.emulator.container import ABI_VERSION, pack_container
from intelliperf.emulator.ir import (
    Instrumented,
    Tagged,
    expose_shared_variables,
    expose_textures,
    instrument,
    tag_accesses,
)
from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.text import DEBUG_LOCATION
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of

COMPILE_DEADLINE_S = 1800.0
SHADOWS = "INTELLIPERF_SHADOWS"  # of builds
FACTS = "INTELLIPERF_FACTS"  # of builds; 0 where nobody asks what a kernel costs on the real target
MOST_THREADS = "max_threads"  # of a block, by the launch bounds: a fact that needs no assembler
_ASSEMBLY = re.compile(r'^ [^"\n]*\bcall [^"\n]*\basm (?:\w+ )*"([^"]*)"', re.MULTILINE)
# What tables of abstract classes hold where a class has no function of its own: the C++ library's, on the host.
_VIRTUAL_OF_NOBODY = re.compile(r"@__cxa_(?:pure|deleted)_virtual\b")
_AS_NVCC = ("-mllvm", "-sink-common-insts=false")  # its branches keep stores to one place, in SASS of CUDA 13.0
# nvcc 13.0 takes an access to be able to change what one of another type reads, and powers for calls whatever the
# exponent: a loop that stores integers loads the double beside them in every turn, and calls pow(x, 2).
_TYPES = re.compile(r", !tbaa(?:\.struct)? !\d+")
_OF_THREAD = re.compile(
    r"^  (%[-\w.$]+) = (?:[^\n]*@__simt_thread\(|getelementptr [^\n]*?ptr ([%@][-\w.$]+),"
    r"|load [^\n]*?ptr (?:getelementptr [^\n]*?ptr )?([%@][-\w.$]+),)"
)
_POWER, _OPAQUE_POWER = "@llvm.pow.f", "@__pow.f"  # the latter has the former's attributes, but no meaning to LLVM
_SQUARE = re.compile(
    r"= (?:tail )?call ((?:\w+ )*)(double|float) @llvm\.pow\.f\d+\(\2 (?:noundef )?([%@][-\w.$]+), \2 (?:noundef )?"
    r"2\.0+e\+00\)(?: #\d+)?"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|;|\\0[9A]")
# Names that headers take over from other namespaces, hundreds of them, and fewer where headers are precompiled.
_IMPORTS = re.compile(r"^(!\d+ = distinct !DICompileUnit\([^\n]*?), imports: !\d+", re.MULTILINE)
_METADATA = re.compile(r"^!(\d+) = (.*)$", re.MULTILINE)


def run_tool(argv: Sequence[str], directory: Path, purpose: str) -> None:
    """Run a tool on our own intermediate files. Raises `ToolchainError` with what it said."""
    done, out, err = output_of(argv, COMPILE_DEADLINE_S, tool_environment(), directory)
    if not done.ok:
        raise ToolchainError(f"{purpose}: {done.describe()}: {(err or out).strip()[-2000:]}")


def compile_front_end(argv: Sequence[str], unit: Unit) -> str:
    """Run `-cc1` on the user's source. Returns warnings; raises `CompilerMessage` with its diagnostics."""
    done, err = front_end(Call(tuple(argv), str(unit.source), unit.directory), COMPILE_DEADLINE_S)
    if not done.ok:
        raise CompilerMessage(err if err.strip() else f"clang: {done.describe()}\n")
    return err


def optimise(ir: str, work: Path, toolchain: Toolchain, nvidia: bool) -> Tagged:
    """What a GPU compiler's optimiser would do, without what would be wrong for lanes that share variables.

    The places of its tags are those of the accesses before.
    """
    plain, optimised = work / "plain.ll", work / "optimised.ll"
    tagged = tag_accesses(expose_shared_variables(expose_textures(_IMPORTS.sub(r"\1", ir))))
    plain.write_text(_typed(tagged.text, nvidia), encoding="utf-8", errors="surrogateescape")
    run_tool(
        [
            *toolchain.clang, "-cc1", "-triple", TRIPLE, "-target-cpu", host_processor(), *optimisation_flags(),
            *(_AS_NVCC if nvidia else ()), "-mrelocation-model", "pic", "-pic-level", "2", "-emit-llvm", "-x", "ir",
            str(plain), "-o", str(optimised),
        ],
        work,
        "optimising device code failed",
    )  # fmt: skip
    text = optimised.read_text(encoding="utf-8", errors="surrogateescape").replace(_OPAQUE_POWER, _POWER)
    return Tagged(text, tagged.places)


def _typed(ir: str, nvidia: bool) -> str:
    """With what a GPU's compiler knows of accesses: a thread's coordinates and its grid's do not change, for they are
    in registers; as nvcc nothing else by its type."""
    number = 1 + max((int(known) for known, _ in _METADATA.findall(ir)), default=0)
    lines, record = [], {"@__simt_grid"}
    for line in ir.split("\n"):
        found = _OF_THREAD.match(line)
        if line.startswith("define"):
            record = {"@__simt_grid"}
        of_thread = found is not None and ("@__simt_thread(" in line or (found[2] or found[3]) in record)
        if of_thread and found is not None and found[3] is None:
            record.add(found[1])
        if of_thread or nvidia:
            line = _TYPES.sub(f", !invariant.load !{number}" if of_thread else "", line)
        lines.append(line)
    typed = "\n".join([*lines, f"!{number} = !{{}}", ""])
    return typed.replace(_POWER, _OPAQUE_POWER) if nvidia else typed


def _product(power: re.Match[str]) -> str:
    flags, kind, value = power.groups()
    return f"= fmul {flags}{kind} {value}, {value}"


def shadows_wanted() -> bool:
    """Whether kernels get shadow versions, which take as long to compile as the two others: for builds to be judged."""
    return bool(os.environ.get(SHADOWS))


def facts_wanted() -> bool:
    """Whether the real target's compiler is asked as well, which takes a third of the time."""
    return os.environ.get(FACTS) != "0"


def _refuse_assembly(ir: str) -> None:
    """Inline assembly is the real device's; only barriers for the compiler (empty ones) mean something here."""
    found = [match for match in _ASSEMBLY.finditer(ir) if _COMMENT.sub("", match[1]).strip()]
    if not found:
        return
    debug = DebugInfo({int(number): text for number, text in _METADATA.findall(ir)})
    lines = []
    for match in found:
        location = DEBUG_LOCATION.search(ir, match.end(), ir.find("\n", match.end()))
        place = debug.locations(int(location[1]))[-1] if location else None
        where = f"{place['file']}:{place['line']}:{place['column']}: " if place else ""
        lines.append(
            f"{where}error: intelliperf: inline assembly is not supported by the emulator: {readable(match[1])!r}\n"
        )
    raise CompilerMessage("".join(dict.fromkeys(lines)))


def _check_externals(names: Sequence[str]) -> None:
    """Device code may call our runtime and the C library; anything else is undefined, as nvlink or lld would say."""
    libraries = [ctypes.CDLL(name) for name in ("libm.so.6", "libc.so.6")]
    missing = [n for n in names if not n.startswith("__simt_") and not any(hasattr(lib, n) for lib in libraries)]
    if missing:
        listed = "\n".join(f"error: undefined device symbol: {name}" for name in missing)
        raise CompilerMessage(f"{listed}\n(defined in another file? compile with -fgpu-rdc or -rdc=true)\n")


def _placed(facts: Mapping[str, object], kernel: str, instrumented: Instrumented) -> dict[str, object] | None:
    """The facts with each local access in the basic blocks that run as often: those of its line, or the entry."""
    facts = {key: value for key, value in facts.items() if key not in (MOST_THREADS, ATOMICS)}
    if not facts:
        return None
    local = facts["local"]
    if not isinstance(local, (list, tuple)):
        return dict(facts)
    entry = next(i for i, block in enumerate(instrumented.metadata["blocks"]) if block["function"] == kernel)
    return {
        **facts,
        "local": [{**use, "blocks": instrumented.places.blocks_of(use["beside"]) or (entry,)} for use in local],
    }


def build_container(
    ir: str,
    work: Path,
    toolchain: Toolchain,
    header: Mapping[str, Any],
    facts: Callable[[], Mapping[str, Mapping[str, object]]],
) -> bytes:
    """Optimise, instrument and compile one module of device IR. `header` opens the metadata and has the device.

    `facts` is asked last: kernels by name as the real target's compiler made them.
    """
    ir = _VIRTUAL_OF_NOBODY.sub("@__simt_pure_virtual", translate_assembly(ir))
    _refuse_assembly(ir)
    optimised = optimise(ir, work, toolchain, header["device"]["vendor"] == "nvidia")
    instrumented = instrument(optimised.text, header["device"]["vendor"], shadows_wanted(), optimised.places)
    _check_externals(instrumented.externals)
    text, unit, shared = work / "device.ll", work / "device.o", work / "device.so"
    # Counted as what it costs, run as what it is.
    text.write_text(_SQUARE.sub(_product, instrumented.text), encoding="utf-8", errors="surrogateescape")
    run_tool(
        [
            *toolchain.clang, "-cc1", "-triple", TRIPLE, "-target-cpu", host_processor(), "-mrelocation-model", "pic",
            "-pic-level", "2", "-O2", "-disable-llvm-passes", "-funwind-tables=2", "-emit-obj", "-x", "ir",
            str(text), "-o", str(unit),
        ],
        work,
        "code generation for the emulated device failed",
    )  # fmt: skip
    run_tool(
        [*toolchain.elf_linker, "-shared", "-Bsymbolic", "-z", "nostart-stop-gc", "--build-id=none",
         "-o", str(shared), str(unit)],
        work,
        "linking device code failed",
    )  # fmt: skip
    static = facts()
    mark_atomics(instrumented.metadata["sites"], static, header["device"]["vendor"])
    for name, kernel in instrumented.metadata["kernels"].items():
        known = static.get(name, {})
        kernel["static"] = _placed(known, name, instrumented)
        kernel[MOST_THREADS] = known.get(MOST_THREADS, 0)
    return pack_container(shared.read_bytes(), {"abi": ABI_VERSION, **header, **instrumented.metadata})
