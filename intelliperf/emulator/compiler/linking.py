"""Links host objects with our runtime library, and device code of several objects with each other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from intelliperf.dropins.command import Command
from intelliperf.dropins.frontend import CompilerMessage
from intelliperf.dropins.toolchain import Toolchain, store_output, tool_environment
from intelliperf.emulator.compiler.device import COMPILE_DEADLINE_S, run_tool
from intelliperf.emulator.compiler.devicelink import link_device_code
from intelliperf.emulator.compiler.libraries import absent_calls, is_absent, is_provided
from intelliperf.processes.process import output_of

_CLANG_ONLY_LINK_FLAGS = ("-fuse-ld", "-stdlib", "-rtlib", "-unwindlib", "-static-libgcc-", "--ld-path")


def link(command: Command, objects: Sequence[str], directory: Path, work: Path, toolchain: Toolchain) -> None:
    """Raises `CompilerMessage` with the linker's words."""
    words = [*objects, *_host_words(command.link)]
    if command.archive:
        members = [word for word in words if not word.startswith("-")]
        _run(["ar", "rcs", command.output or "a.a", *members], directory)
        return
    device = link_device_code(static_inputs(words, directory), work, toolchain)
    if command.stage == "device-link":
        made = device or _empty_object(work, toolchain)
        store_output(directory / (command.output or "a_dlink.o"), made.read_bytes())
        return
    _link_host(command, words if device is None else [*words, str(device)], directory, toolchain)


def _link_host(command: Command, words: Sequence[str], directory: Path, toolchain: Toolchain) -> None:
    from intelliperf.emulator.native import runtime_library  # builds it; not needed to compile

    library = runtime_library()
    argv = [*toolchain.host_linker, "-o", command.output or "a.out", *words]
    argv += ["-fopenmp"] if command.openmp else []
    argv += [f"-L{library.parent}", f"-l:{library.name}", f"-Wl,-rpath,{library.parent}", "-lm", "-lpthread", "-ldl"]
    _run(argv, directory)


def static_inputs(words: Sequence[str], directory: Path) -> list[Path]:
    """Objects and archives of a link line, `-lname` ones found through its -L directories."""
    searched = [directory / word[2:] for word in words if word.startswith("-L") and len(word) > 2]
    found: list[Path] = []
    for word in words:
        if word.startswith("-l"):
            candidates = [folder / f"lib{word[2:]}.a" for folder in searched]
        elif word.startswith("-"):
            continue
        else:
            candidates = [directory / word] if word.endswith((".o", ".a", ".obj", ".lo")) else []
        found += [path for path in candidates if path.is_file()][:1]
    return found


def _empty_object(work: Path, toolchain: Toolchain) -> Path:
    """What -dlink gives for objects without relocatable device code."""
    source, made = work / "empty.c", work / "empty.o"
    source.write_text("", encoding="ascii")
    run_tool([*toolchain.driver(False), "-c", str(source), "-o", str(made)], work, "compiling an empty file failed")
    return made


def _host_words(words: Sequence[str]) -> list[str]:
    kept = []
    for word in words:
        if is_provided(word) or is_absent(word) or word.startswith(_CLANG_ONLY_LINK_FLAGS) or word == "-static":
            continue
        kept.append(word)
    return kept


def _run(argv: Sequence[str], directory: Path) -> None:
    done, out, err = output_of(argv, COMPILE_DEADLINE_S, tool_environment(), directory)
    if not done.ok:
        said = out + err if (out + err).strip() else f"{argv[0]}: {done.describe()}\n"
        raise CompilerMessage(said + "".join(f"intelliperf: {call}\n" for call in absent_calls(said)))
    sys.stderr.write(err)
