"""Entry point of the compiler drop-ins: `python -m intelliperf.emulator.driver <flavour> <words…>`.

What translates device code is imported for that alone: build tools ask a compiler often for something else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from intelliperf.dropins.arguments import parse
from intelliperf.dropins.frontend import CompilerMessage
from intelliperf.dropins.headers import search_order
from intelliperf.dropins.queries import answer, nvcc_plan
from intelliperf.dropins.toolchain import find_toolchain, tool_environment
from intelliperf.errors import IntelliPerfError

CLANGS = ("clang", "clang++")


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit status that the real compiler would have."""
    flavour, *arguments = list(sys.argv[1:] if words is None else words)
    try:
        if flavour == "rtc":
            from intelliperf.emulator.compiler.rtc import answer_request

            answer_request(*arguments)
            return 0
        return _compile(flavour, arguments)
    except CompilerMessage as message:
        from intelliperf.emulator.compiler.explain import explanation

        sys.stderr.write(f"{message}{explanation(str(message))}")
        return 1
    except OSError as error:  # an output that cannot be written, as the real compiler would say
        sys.stderr.write(f"{flavour}: error: {error.filename or 'output'}: {error.strerror}\n")
        return 1
    except IntelliPerfError as error:
        sys.stderr.write(f"{flavour}: error: {error}\n")
        return 1


def _compile(flavour: str, arguments: list[str]) -> int:
    reply = answer(flavour, arguments)
    if reply is not None:
        sys.stdout.write(reply)
        return 0
    if flavour == "nvcc" and len(arguments) == 2 and arguments[0] in ("-run", "--run"):
        program = arguments[1].strip('"')  # Meson quotes it for the shell that nvcc hands it to
        if os.access(program, os.X_OK):
            os.execv(program, [program])
    toolchain = find_toolchain()
    command = parse(flavour, arguments, "hip" if flavour == "hipcc" else None)
    if flavour == "nvcc" and (command.verbose or command.dry_run):
        sys.stderr.write(nvcc_plan(command.output or "a.out"))
    if flavour == "nvcc" and command.dry_run:
        return 0
    if _is_plain(flavour, arguments, command.sources and any(s.is_gpu for s in command.sources)):
        environment = {**os.environ, **tool_environment()}
        own = search_order("hip" if flavour == "hipcc" else "cuda", (), Path()) if flavour not in CLANGS else []
        own += ["-D__HIP_PLATFORM_AMD__=1"] if flavour == "hipcc" else []
        # clang links through a gcc; where there is none, zig's own front door brings linker and libraries.
        whole = toolchain.standard_library == "libc++" and command.stage == "link" and "-" not in arguments
        compiler = toolchain.host_linker if whole else toolchain.driver(flavour != "clang")
        argv = [*compiler, *own, *arguments]
        os.execve(argv[0], argv, environment)
    from intelliperf.emulator.compiler.build import Build

    Build(
        command=command,
        words=tuple(arguments),
        directory=Path.cwd(),
        environment=os.environ,
        toolchain=toolchain,
    ).run()
    return 0


def _is_plain(flavour: str, arguments: Sequence[str], has_gpu_source: object) -> bool:
    """Whether the compiler itself can do it: standard input, or no GPU code under clang's own name."""
    if "-" in arguments:
        return True
    return flavour in CLANGS and not has_gpu_source and "--hip-link" not in arguments


if __name__ == "__main__":
    sys.exit(main())
