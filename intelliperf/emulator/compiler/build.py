"""Carries out a parsed command: compiles every source, then links, as the real compiler would."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from intelliperf.dropins.command import Command, Source
from intelliperf.dropins.compilelog import log_unit, unit_of
from intelliperf.dropins.frontend import (
    CompilerMessage,
    Unit,
    has_openmp,
    host_driver,
)
from intelliperf.dropins.headers import named_libraries, search_order
from intelliperf.dropins.spelling import lenient_overlay
from intelliperf.dropins.toolchain import Toolchain, store_output, tool_environment
from intelliperf.emulator.compiler.cache import compile_cached
from intelliperf.emulator.compiler.device import COMPILE_DEADLINE_S
from intelliperf.emulator.compiler.linking import link
from intelliperf.emulator.compiler.rules import default_rule_file, make_rule
from intelliperf.emulator.compiler.unit import Compiled, compile_module
from intelliperf.emulator.container import module_text
from intelliperf.errors import UsageError
from intelliperf.processes.process import output_of

# What clang's host side refuses in a kernel: a function that is for the device only where __CUDA_ARCH__ is defined.
_HOST_SIDE_ALONE = re.compile(
    r"(?:reference to __host__ function '.*' in|call to __host__ function from) __(?:global|device)__"
)
_PARALLEL_REGION = re.compile(rb"(?:#\s*pragma\s+|\b_Pragma\s*\(\s*\")omp\s+(?:\w+\s+)*parallel\b")
_SERIAL = (
    "OpenMP: parallel regions in GPU sources run on one thread, as there is no g++ here, whose libgomp serves them"
)
_HOST_LINES = ("-g1",)  # which line of the host asks for what, see `emulator.hostcalls`


@dataclass(frozen=True)
class Build:
    """One command, with what it needs from its surroundings."""

    command: Command
    words: tuple[str, ...]  # as given, for the compile log
    directory: Path
    environment: Mapping[str, str]
    toolchain: Toolchain

    def run(self) -> None:
        """Raises `CompilerMessage` for errors of the user's code."""
        command = self.command
        if command.device_only and command.stage in ("object", "link") and not command.dependencies.only:
            self._check_single_output()
            for source in command.sources:
                self._compile_module(source)
            return
        if command.stage in ("object", "assembly", "preprocess", "syntax") or command.dependencies.only:
            self._check_single_output()
            for source in command.sources:
                self._translate(source)
            return
        if command.stage == "device-link" or command.archive or command.sources or command.link:
            self._link()
            return
        raise UsageError(f"{command.flavour}: no input files")

    def _check_single_output(self) -> None:
        command = self.command
        if not command.sources:
            raise UsageError(f"{command.flavour}: no input files")
        if command.output is not None and len(command.sources) > 1:
            raise UsageError(f"{command.flavour}: cannot specify -o with -c and several source files")

    def _translate(self, source: Source) -> None:
        if self.command.stage == "object" and source.is_gpu and not self.command.dependencies.only:
            self._compile_gpu(source, self.directory / self.command.object_of(source))
        else:
            self._run_host_compiler(source)

    def _link(self) -> None:
        command = self.command
        with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
            objects: dict[int, str] = {}
            for number, source in enumerate(command.sources):
                made = Path(name) / f"{number}-{Path(source.path).stem}.o"
                if source.is_gpu:
                    self._compile_gpu(source, made)
                else:
                    self._compile_host(source, made)
                objects[number] = str(made)
            link(command, list(objects.values()), self.directory, Path(name), self.toolchain)

    # -- GPU sources ----------------------------------------------------------------------------

    def unit(self, source: Source, standins: bool = False) -> Unit:
        return unit_of(self.command, source, self.directory, self.environment, self.toolchain, standins)

    def _compile_gpu(self, source: Source, output: Path) -> None:
        if not (self.directory / source.path).is_file():
            raise CompilerMessage(f"{self.command.flavour}: error: no such file or directory: '{source.path}'\n")
        unit, why = self.unit(source), ""
        try:
            compiled = compile_cached(unit, output, self.toolchain)
        except CompilerMessage as message:
            unit, compiled, why = self._compile_otherwise(source, unit, output, message)
        sys.stderr.write(compiled.warnings)
        self._write_rule(source, output, compiled)
        self._log(unit, compiled, output, why)

    def _compile_otherwise(
        self, source: Source, unit: Unit, output: Path, first: CompilerMessage
    ) -> tuple[Unit, Compiled, str]:
        """With our stand-ins and why, or with a host side that takes what nvcc's takes; the unit is to be read later.

        Raises the first message if neither applies or if that does no better.
        """
        refused = [where for where in unit.libraries() if where.is_in(str(first))]
        if refused:
            why = f"{refused[0]} cannot be compiled: {_first_error(str(first))}"
            warning = f"{source.path}: warning: {why}; compiled with our stand-in\n"
            unit = tried = self.unit(source, standins=True)
        elif source.language == "cuda" and _HOST_SIDE_ALONE.search(str(first)):
            warning = why = ""
            seen = lenient_overlay(unit.source, self.command.front, self.directory)
            tried = replace(unit, flags=(*unit.flags, *seen))
        else:
            raise first
        try:
            compiled = compile_cached(tried, output, self.toolchain)
        except CompilerMessage as second:
            raise first from second
        sys.stderr.write(warning)
        return unit, compiled, why

    def _compile_module(self, source: Source) -> None:
        """`--genco`, `-cubin` and their like: device code alone, in the form that the runtime loads."""
        if not source.is_gpu:
            raise UsageError(f"{self.command.flavour}: {source.path} has no device code")
        form = self.command.module_form
        unit = replace(self.unit(source), relocatable=False)
        default = Path(self.command.output_directory or ".") / f"{Path(source.path).stem}.{form}"
        output = self.directory / (self.command.output or default)
        made = compile_module(unit, self.toolchain)
        store_output(output, module_text(made.container) if form == "ptx" else made.container)
        sys.stderr.write(made.warnings)

    def _write_rule(self, source: Source, output: Path, compiled: Compiled) -> None:
        wanted = self.command.dependencies
        if not wanted.wanted:
            return
        named = self.command.output or output.name if self.command.stage == "object" else self.command.output or "a.out"
        targets = wanted.targets or [named]
        file = self.directory / (wanted.file or default_rule_file(named))
        file.write_text(
            make_rule(targets, compiled, system=wanted.system, phony=wanted.phony),
            encoding="utf-8",
            errors="surrogateescape",
        )

    def _log(self, unit: Unit, compiled: Compiled, output: Path, why: str = "") -> None:
        libraries = named_libraries(unit.libraries(), compiled.dependencies, self.directory)
        words, remarks = (self.command.flavour, *self.words), [_SERIAL] if self._is_serial(unit) else []
        remarks += [why] if why else []
        log_unit(unit, words, output, self.environment, self.toolchain, libraries, remarks=remarks)

    def _is_serial(self, unit: Unit) -> bool:
        """Has the source parallel regions that the program's own compiler would run on several threads?"""
        if not self.command.openmp or has_openmp(self.toolchain):
            return False
        text = (unit.directory / unit.source).read_bytes()
        return _PARALLEL_REGION.search(text) is not None

    # -- everything else ------------------------------------------------------------------------

    def _compile_host(self, source: Source, output: Path) -> None:
        argv = [*host_compiler(self.command, self.toolchain, None), *_HOST_LINES]
        argv += [
            "-x",
            source.language,
            *self.command.host_optimisation(),
            *self.command.front,
            "-fPIC",
            "-c",
            source.path,
        ]
        self._run([*argv, "-o", str(output)])

    def _run_host_compiler(self, source: Source) -> None:
        """-E, -S, -fsyntax-only, -M, and -c of a source without device code."""
        command = self.command
        if source.is_gpu:
            unit = self.unit(source)
            argv = [*host_compiler(command, self.toolchain, unit), *unit.front_flags()]
        else:
            argv = [*host_compiler(command, self.toolchain, None), *_HOST_LINES, "-x", source.language, *command.front]
        argv += [*command.host_optimisation(), "-fPIC"]
        stage = {"object": "-c", "assembly": "-S", "preprocess": "-E", "syntax": "-fsyntax-only", "link": "-E"}
        argv += [stage[command.stage], *_rule_options(command), source.path]
        if command.output is not None:
            argv += ["-o", command.output]
        elif command.stage == "object":
            argv += ["-o", str(command.object_of(source))]
        self._run(argv)

    def _run(self, argv: list[str]) -> None:
        done, out, err = output_of(argv, COMPILE_DEADLINE_S, tool_environment(), self.directory)
        sys.stdout.write(out)
        if not done.ok:
            raise CompilerMessage(err if err.strip() else f"{argv[0]}: {done.describe()}\n")
        sys.stderr.write(err)


def _first_error(message: str) -> str:
    """`path:line: what it is`, of a compiler's message."""
    found = re.search(r"^(?P<where>[^\s:][^:\n]*:\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)", message, re.MULTILINE)
    return f"{found['where']}: {found['what']}" if found else message.strip().partition("\n")[0]


def _rule_options(command: Command) -> list[str]:
    rule = command.dependencies
    if not rule.wanted:
        return []
    kinds = {(True, True): "-M", (True, False): "-MM", (False, True): "-MD", (False, False): "-MMD"}
    words = [kinds[rule.only, rule.system]]
    words += [word for target in rule.targets for word in ("-MT", target)]
    words += ["-MF", rule.file] if rule.file else []
    return [*words, "-MP"] if rule.phony else words


def host_compiler(command: Command, toolchain: Toolchain, gpu: Unit | None) -> list[str]:
    """The start of a command line for host code: of a GPU source's host side, or of a source without device code."""
    if gpu is not None:
        return [*host_driver(gpu, toolchain), "-x", gpu.language]
    headers = search_order("hip" if command.flavour == "hipcc" else "cuda", (), Path())
    if command.flavour == "hipcc":
        headers.append("-D__HIP_PLATFORM_AMD__=1")
    if toolchain.standard_library == "libstdc++" and (command.flavour == "nvcc" or command.openmp):
        return [*toolchain.host_linker, *headers, *(["-fopenmp"] if command.openmp else [])]
    return [*toolchain.driver(), *headers]
