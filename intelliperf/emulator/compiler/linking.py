"""Links host objects with our runtime library, and device code of several objects with each other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from intelliperf.emulator.compiler.command import Command
from intelliperf.emulator.compiler.device import COMPILE_DEADLINE_S
from intelliperf.emulator.compiler.frontend import CompilerMessage
from intelliperf.emulator.compiler.libraries import is_provided, unsupported_library
from intelliperf.emulator.toolchain import Toolchain, tool_environment
from intelliperf.process import output_of

_CLANG_ONLY_LINK_FLAGS = ("-fuse-ld", "-stdlib", "-rtlib", "-unwindlib", "-static-libgcc-", "--ld-path")


def link(command: Command, objects: Sequence[str], directory: Path, work: Path, toolchain: Toolchain) -> None:
    """Raises `CompilerMessage` with the linker's words."""
    refused = unsupported_library(command.link)
    if refused is not None:
        raise CompilerMessage(
            f"{command.flavour}: error: the program links lib{refused}, which the emulator does not provide; "
            "profile it on a GPU or remove the dependency\n"
        )
    output = command.output or "a.out"
    words = [*objects, *_host_words(command.link)]
    if command.archive:
        _run(["ar", "rcs", output, *[word for word in words if not word.startswith("-")]], directory)
        return
    from intelliperf.emulator.native import runtime_library  # builds it; not needed to compile

    library = runtime_library()
    argv = [*toolchain.host_linker, "-o", output, *words]
    argv += ["-fopenmp"] if command.openmp else []
    argv += [f"-L{library.parent}", f"-l:{library.name}", f"-Wl,-rpath,{library.parent}", "-lm", "-lpthread", "-ldl"]
    _run(argv, directory)


def _host_words(words: Sequence[str]) -> list[str]:
    kept = []
    for word in words:
        if is_provided(word) or word.startswith(_CLANG_ONLY_LINK_FLAGS) or word == "-static":
            continue
        kept.append(word)
    return kept


def _run(argv: Sequence[str], directory: Path) -> None:
    done, out, err = output_of(argv, COMPILE_DEADLINE_S, tool_environment(), directory)
    if not done.ok:
        raise CompilerMessage((out + err) if (out + err).strip() else f"{argv[0]}: {done.describe()}\n")
    sys.stderr.write(err)
