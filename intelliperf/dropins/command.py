"""What a compiler command line asks for, whichever drop-in it was given to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

GPU_LANGUAGES = ("hip", "cuda")
SOURCE_LANGUAGES = {
    ".cu": "cuda",
    ".hip": "hip",
    ".c": "c",
    ".cc": "c++",
    ".cpp": "c++",
    ".cxx": "c++",
    ".c++": "c++",
    ".C": "c++",
    ".CPP": "c++",
    ".i": "cpp-output",
    ".ii": "c++-cpp-output",
    ".s": "assembler",
    ".S": "assembler-with-cpp",
}


@dataclass(frozen=True)
class Source:
    path: str
    language: str

    @property
    def is_gpu(self) -> bool:
        return self.language in GPU_LANGUAGES


@dataclass
class Dependencies:
    """Make rules (-M*): whether, where, for which target."""

    wanted: bool = False
    only: bool = False  # -M, -MM: no compilation
    system: bool = True
    file: str | None = None
    targets: list[str] = field(default_factory=list)
    phony: bool = False


@dataclass
class Command:
    """One parsed command line. `link` keeps libraries, objects and link flags in their order."""

    flavour: str  # hipcc | nvcc | clang++ | clang
    stage: str = "link"  # link | object | assembly | preprocess | syntax | device-link | nothing
    sources: list[Source] = field(default_factory=list)
    output: str | None = None
    output_directory: str | None = None
    front: list[str] = field(default_factory=list)  # for the front end, any language
    optimisation: str = ""  # as asked for
    shared: bool = False
    relocatable_device_code: bool = False
    openmp: bool = False
    link: list[str] = field(default_factory=list)
    dependencies: Dependencies = field(default_factory=Dependencies)
    target: str | None = None  # our own --target
    architectures: list[str] = field(default_factory=list)  # real ones, as asked for
    verbose: bool = False
    dry_run: bool = False
    archive: bool = False  # nvcc -lib
    device_only: bool = False  # a module that programs load themselves: hipcc --genco, nvcc -cubin
    module_form: str = "co"  # co, cubin, fatbin or ptx, which is also the ending of its name

    def as_written(self) -> bool:
        """Whether the host side keeps to what unoptimised code does: nvcc and clang optimise it where asked to."""
        return not self.optimisation and self.flavour != "hipcc"

    def host_optimisation(self) -> list[str]:
        """The host side is optimised in any case; overflow and aliasing then stay as they are without that."""
        written = ["-fwrapv", "-fno-strict-aliasing"] if self.as_written() else []
        return [self.optimisation or "-O2", *written]

    def object_of(self, source: Source) -> Path:
        """Where `-c` puts a source's object."""
        if self.output is not None:
            return Path(self.output)
        name = Path(source.path).with_suffix(".o").name
        return Path(self.output_directory or ".") / name
