"""Parses the command lines of hipcc, nvcc and clang++ into one `Command`."""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from intelliperf.dropins.command import SOURCE_LANGUAGES, Command, Source
from intelliperf.errors import UsageError

# Options of nvcc by their long names, with the short ones; the value says how the value is given.
_NVCC_VALUED = {
    "-Xcompiler": "--compiler-options", "-Xlinker": "--linker-options", "-Xptxas": "--ptxas-options",
    "-Xnvlink": "--nvlink-options", "-Xarchive": "--archive-options", "-Xcudafe": "-Xcudafe", "-Xfatbin": "-Xfatbin",
    "-Xnvvm": "-Xnvvm",
    "-arch": "--gpu-architecture", "-code": "--gpu-code", "-gencode": "--generate-code",
    "-ccbin": "--compiler-bindir", "-maxrregcount": "--maxrregcount", "-t": "--threads",
    "-rdc": "--relocatable-device-code",
    "-x": "--x", "-o": "--output-file", "-odir": "--output-directory", "-std": "--std", "-cudart": "--cudart",
    "-cudadevrt": "--cudadevrt", "-diag-suppress": "--diag-suppress", "-diag-error": "--diag-error",
    "-diag-warn": "--diag-warn", "-Werror": "--Werror", "-ftz": "--ftz", "-prec-div": "--prec-div",
    "-prec-sqrt": "--prec-sqrt", "-fmad": "--fmad", "-default-stream": "--default-stream", "-keep-dir": "--keep-dir",
    "-idp": "--input-drive-prefix", "-split-compile": "--split-compile", "-opt-info": "--opt-info",
    "-MF": "--dependency-output", "-MT": "--dependency-target-name", "-include": "--pre-include",
    "-isystem": "--system-include", "-I": "--include-path", "-D": "--define-macro", "-U": "--undefine-macro",
    "-L": "--library-path", "-l": "--library", "-O": "--optimize", "-m": "--machine",
    "-target-dir": "--target-directory",
    "-dopt": "--dopt", "-options-file": "--options-file", "-optf": "--options-file", "-e": "--entries",
    "-fdevice-time-trace": "--fdevice-time-trace", "-jump-table-density": "--jump-table-density",
    "-allow-unsupported-compiler": "",
}  # fmt: skip
_LONG_TO_SHORT = {long: short for short, long in _NVCC_VALUED.items() if long.startswith("--")}
# What may follow -Werror, and warnings that only nvcc knows.
_ERROR_KINDS = frozenset(
    {"all-warnings", "cross-execution-space-call", "reorder", "default-stream-launch", "missing-launch-bounds",
     "ext-lambda-captures-this", "deprecated-declarations"}
)  # fmt: skip
_OWN_WARNINGS = ("deprecated-gpu-targets", "ext-lambda-captures-this", "default-stream-launch", "missing-launch-bounds")
_MODULE_FORMS = frozenset({"ptx", "cubin", "fatbin"})  # device code in a file of its own
_LOOK_LIKE_LIBRARIES = ("-lineinfo", "-lib", "-link", "-lto")
_CLANG_FRONT_VALUED = (
    "-include", "-isystem", "-idirafter", "-iquote", "-imacros", "-Xclang", "-mllvm", "-iprefix", "-isysroot",
    "-Xpreprocessor", "-Xassembler",
)  # fmt: skip
_CLANG_LINK_VALUED = ("-Xlinker", "-T", "-u", "-z", "-rpath", "-soname", "-e")
_CLANG_IGNORED_VALUED = (
    "-Xarch_device", "-Xarch_host", "-Xoffload-linker", "-Xcuda-ptxas", "-Xcuda-fatbinary", "-target", "-arch",
    "-Xopenmp-target",     "--serialize-diagnostics", "-Xthinlto-distributor",
)  # fmt: skip
_LINK_PREFIXES = (
    "-Wl,",
    "-L",
    "-l",
    "-fuse-ld",
    "-static-lib",
    "-rdynamic",
    "-nostdlib",
    "-nodefaultlibs",
    "-nostart",
    "-stdlib",
    "-rtlib",
    "-unwindlib",
)
_IGNORED_PREFIXES = (
    "--offload-arch", "--offload=", "--amdgpu-target", "-amdgpu-target", "--cuda-gpu-arch", "--cuda-path",
    "--rocm-path",
    "--rocm-device-lib-path", "--hip-path", "--hip-device-lib-path", "--hip-version", "--hip-link",
    "--hip-stdpar",
    "--gcc-toolchain", "--gcc-install-dir", "--offload-compress", "--no-offload-compress", "--offload-new-driver",
    "--no-offload-new-driver", "-fhip-new-launch-api", "--offload-host-device", "--no-cuda-version-check", "-nogpu",
    "-nocuda", "-fcuda-approx", "-fno-cuda-approx", "--cuda-include-ptx", "--no-cuda-include-ptx", "-parallel-jobs",
    "-munsafe-fp-atomics", "-mno-unsafe-fp-atomics", "-mwavefrontsize64", "-mno-wavefrontsize64",
    "-mcumode",
    "-mno-cumode", "-mcode-object-version", "-fgpu-inline-threshold", "-foffload-lto", "-fno-offload-lto",
    "-save-temps",
    "--save-temps", "-flto", "-fthinlto", "-ccc-", "--target", "--driver-mode", "-fno-gpu-sanitize", "--acc",
    "-fsanitize",
    "--no-gpu-bundle-output", "--gpu-bundle-output", "-Rpass",
    "-march=gfx", "-mcpu=gfx", "-fopenmp-targets", "-resource-dir", "-integrated-as", "-no-integrated-as", "-B",
)  # fmt: skip


_SWITCHES = {
    "-v": ("verbose", True),
    "-###": ("dry_run", True),
    "--dryrun": ("dry_run", True),
    "-dryrun": ("dry_run", True),
    "--genco": ("device_only", True),
    "--offload-device-only": ("device_only", True),
    "--cuda-device-only": ("device_only", True),
    "-fgpu-rdc": ("relocatable_device_code", True),
    "-fcuda-rdc": ("relocatable_device_code", True),
    "-fno-gpu-rdc": ("relocatable_device_code", False),
    "-fno-cuda-rdc": ("relocatable_device_code", False),
}


def expand_response_files(words: Sequence[str]) -> list[str]:
    """`@file` replaced by the words in it, recursively. Raises `UsageError` for one that cannot be read."""
    expanded: list[str] = []
    pending = list(reversed(words))
    opened = 0
    while pending:
        word = pending.pop()
        if not word.startswith("@") or len(word) == 1 or not Path(word[1:]).is_file():
            expanded.append(word)
            continue
        opened += 1
        if opened > 100:
            raise UsageError(f"response files include each other: {word}")
        pending.extend(reversed(shlex.split(Path(word[1:]).read_text(encoding="utf-8", errors="surrogateescape"))))
    return expanded


def parse(flavour: str, words: Sequence[str], default_language: str | None = None) -> Command:
    """`words` without the program's name. `default_language` is for C++ sources of hipcc (hip) or nvcc (none)."""
    command = Command(flavour=flavour)
    expanded = expand_response_files(words)
    reader = _NvccReader(command) if flavour == "nvcc" else _ClangReader(command, default_language)
    reader.read(expanded)
    return command


def list_items(value: str) -> list[str]:
    """The items of a list of nvcc's: commas part them, except after a backslash and between double quotes."""
    items, quoted = [""], False
    characters = iter(value)
    for character in characters:
        following = next(characters, "") if character == "\\" else ""
        quoted ^= character == '"'
        if character == "," and not quoted:
            items.append("")
        elif following == ",":
            items[-1] += ","
        else:
            items[-1] += character + following
    return items


class _Reader(ABC):
    """The options that all drop-ins share."""

    def __init__(self, command: Command, default_language: str | None = None) -> None:
        self.command = command
        self.default_language = default_language
        self.forced_language: str | None = None

    def read(self, words: Sequence[str]) -> None:
        pending = iter(words)
        for word in pending:
            if not word.startswith("-") or word == "-":
                self._input(word)
            elif not self._known(word, pending):
                self._other(word, pending)

    def _known(self, word: str, pending: Iterator[str]) -> bool:
        return self._common(word, pending) or self._special(word, pending)

    @abstractmethod
    def _special(self, word: str, pending: Iterator[str]) -> bool:
        """Take in an option of this drop-in alone; False where it is none."""

    @abstractmethod
    def _other(self, word: str, pending: Iterator[str]) -> None:
        """Take in any other option, or refuse it."""

    def _value(self, word: str, pending: Iterator[str]) -> str:
        value = next(pending, None)
        if value is None:
            raise UsageError(f"{self.command.flavour}: {word} needs a value")
        return value

    def _input(self, word: str) -> None:
        language = self._language_of(word)
        if language is None:
            self.command.link.append(word)
        else:
            self.command.sources.append(Source(word, language))

    def _language_of(self, word: str) -> str | None:
        if self.forced_language:
            return self.forced_language
        if word == "-":
            return "c++"
        language = SOURCE_LANGUAGES.get(Path(word).suffix)
        if language in ("c++", "cuda") and self.default_language:
            return self.default_language
        return language

    def _force_language(self, value: str) -> None:
        names = {"none": None, "cu": "cuda", "hip": "hip", "cuda": "cuda"}
        self.forced_language = names.get(value, value)

    def _common(self, word: str, pending: Iterator[str]) -> bool:
        command = self.command
        stages = {"-c": "object", "-S": "assembly", "-E": "preprocess", "-fsyntax-only": "syntax"}
        if word in stages:
            command.stage = stages[word]
        elif word == "-o":
            command.output = self._value(word, pending)
        elif word == "-x":
            self._force_language(self._value(word, pending))
        elif word in ("-shared", "--shared"):
            command.shared = True
            command.link.append("-shared")
        elif word in _SWITCHES:
            setattr(command, *_SWITCHES[word])
        elif word.startswith("--intelliperf-target="):
            command.target = word.partition("=")[2]
        elif word.startswith("-M"):
            self._dependency_option(word, pending)
        elif re.match(r"-[IDU]", word) and not word.startswith(("-Ie", "-De")) or word in ("-I", "-D", "-U"):
            command.front += [word, self._value(word, pending)] if len(word) == 2 else [word]
        elif re.fullmatch(r"-O(?:[0-3sgz]|fast)?", word):
            command.optimisation = word
        else:
            return False
        return True

    def _dependency_option(self, word: str, pending: Iterator[str]) -> None:
        rule = self.command.dependencies
        if word in ("-M", "-MM"):
            rule.wanted = rule.only = True
            rule.system = word == "-M"
        elif word in ("-MD", "-MMD"):
            rule.wanted = True
            rule.system = word == "-MD"
        elif word.startswith("-MF"):
            rule.file = word[3:] or self._value(word, pending)
        elif word.startswith(("-MT", "-MQ")):
            name = word[3:] or self._value(word, pending)
            rule.targets.append(name.replace("$", "$$") if word.startswith("-MQ") else name)
        elif word == "-MP":
            rule.phony = True
        elif word not in ("-MG", "-MV"):
            raise UsageError(f"{self.command.flavour}: unknown option {word}")


class _ClangReader(_Reader):
    def _special(self, word: str, pending: Iterator[str]) -> bool:
        command = self.command
        if word in _CLANG_FRONT_VALUED:
            command.front += [word, self._value(word, pending)]
        elif word in _CLANG_LINK_VALUED:
            command.link += [word, self._value(word, pending)]
        elif word in _CLANG_IGNORED_VALUED:
            self._value(word, pending)
        elif word == "--offload-arch":
            command.architectures.append(self._value(word, pending))
        elif word.startswith(("--offload-arch=", "--amdgpu-target=", "--cuda-gpu-arch=")):
            command.architectures += word.partition("=")[2].split(",")
        elif word.startswith("-x"):
            self._force_language(word[2:])
        elif word.startswith("-fopenmp") and not word.startswith("-fopenmp-targets"):
            command.openmp = True
        elif word == "--emit-static-lib":
            command.archive = True
        elif word in ("-fPIC", "-fpic", "-fPIE", "-fpie", "-pie", "-no-pie", "-static-pie"):
            if word.endswith("pie") and not word.startswith("-f"):
                command.link.append(word)
        elif word.startswith("-o") and len(word) > 2 and not word.startswith(("-ob", "-opt")):
            command.output = word[2:]
        else:
            return False
        return True

    def _other(self, word: str, pending: Iterator[str]) -> None:
        if word in ("-L", "-l"):
            self.command.link.append(word + self._value(word, pending))
        elif word.startswith(_IGNORED_PREFIXES):
            return
        elif word.startswith(_LINK_PREFIXES) or word in ("-s", "-static", "-pthread", "-r"):
            self.command.link.append(word)
            if word == "-pthread":
                self.command.front.append(word)
        else:
            self.command.front.append(word)


class _NvccReader(_Reader):
    def _known(self, word: str, pending: Iterator[str]) -> bool:
        return self._special(word, pending) or self._common(word, pending)

    def _special(self, word: str, pending: Iterator[str]) -> bool:
        short, value = self._split(word)
        if short is None:
            return self._flag(word)
        if value is None:
            value = self._value(word, pending)
            if short == "-Werror" and not _ERROR_KINDS.issuperset(value.split(",")):
                self.read([value])
        self._valued(short, value)
        return True

    def _split(self, word: str) -> tuple[str | None, str | None]:
        """The short name of a valued option and its joined value; (None, None) for a flag."""
        name, equals, value = word.partition("=")
        joined = value if equals else None
        if name in _LONG_TO_SHORT:
            return _LONG_TO_SHORT[name], joined
        if name in _NVCC_VALUED and _NVCC_VALUED[name]:
            return name, joined
        if name.startswith("--") and f"-{name[2:]}" in _NVCC_VALUED:
            return f"-{name[2:]}", joined
        if word in _LOOK_LIKE_LIBRARIES:
            return None, None
        for short in ("-L", "-l", "-D", "-U", "-I", "-t", "-m"):
            if word.startswith(short) and len(word) > 2 and (short not in ("-t", "-m") or word[2:].isdigit()):
                return short, word[2:]
        return None, None

    def _valued(self, short: str, value: str) -> None:
        command = self.command
        parts = list_items(value)
        actions: dict[str, Callable[[], object]] = {
            "-D": lambda: command.front.extend(f"-D{part}" for part in parts),
            "-U": lambda: command.front.extend(f"-U{part}" for part in parts),
            "-I": lambda: command.front.extend(word for part in parts for word in ("-I", part)),
            "-isystem": lambda: command.front.extend(word for part in parts for word in ("-isystem", part)),
            "-include": lambda: command.front.extend(word for part in parts for word in ("-include", part)),
            "-Xcompiler": lambda: self._host_options(value),
            "-Xlinker": lambda: command.link.extend(word for part in parts for word in ("-Xlinker", part)),
            "-std": lambda: command.front.append(f"-std={value}"),
            "-x": lambda: self._force_language(value),
            "-rdc": lambda: setattr(command, "relocatable_device_code", value == "true"),
            "-L": lambda: command.link.extend(f"-L{part}" for part in parts),
            "-l": lambda: command.link.extend(f"-l{part}" for part in parts),
            "-O": lambda: setattr(command, "optimisation", f"-O{value}"),
            "-o": lambda: setattr(command, "output", value),
            "-odir": lambda: setattr(command, "output_directory", value),
            "-MF": lambda: setattr(command.dependencies, "file", value),
            "-MT": lambda: command.dependencies.targets.append(value),
            "-optf": lambda: self.read(shlex.split(Path(value).read_text(encoding="utf-8"))),
        }
        if short in ("-arch", "-gencode", "-code"):
            command.architectures += re.findall(r"(?:sm|compute)_\d+\w*", value)
        elif short == "-default-stream" and value == "per-thread":
            command.front += ["-D", "CUDA_API_PER_THREAD_DEFAULT_STREAM=1"]
        elif short in actions:
            actions[short]()

    def _host_options(self, value: str) -> None:
        """What follows -Xcompiler is for the host compiler: parse it as such."""
        words = [word for part in shlex.split(value) for word in part.split(",")]
        host = Command(flavour="clang++")
        _ClangReader(host).read(words)
        self.command.front += host.front
        self.command.link += host.link
        self.command.openmp |= host.openmp
        self.command.optimisation = host.optimisation or self.command.optimisation

    def _flag(self, word: str) -> bool:
        command = self.command
        stages = {
            "--compile": "object", "-dc": "object", "--device-c": "object", "-dw": "object", "--device-w": "object",
            "-dlink": "device-link", "--device-link": "device-link", "--preprocess": "preprocess", "-link": "link",
            "--link": "link",
        }  # fmt: skip
        if word in ("-cuda", "--cuda", "-optix-ir", "--optix-ir"):
            raise UsageError(f"nvcc {word}: the emulator makes none of it; build the program without it")
        if word.lstrip("-") in _MODULE_FORMS and word.count("-") <= 2:
            command.device_only, command.module_form = True, word.lstrip("-")
        elif word in stages:
            command.stage = stages[word]
            if word in ("-dc", "--device-c"):
                command.relocatable_device_code = True
        elif word in ("-lib", "--lib"):
            command.archive = True
        elif word in ("--generate-dependencies", "--generate-dependencies-with-compile"):
            command.dependencies.wanted = True
            command.dependencies.only = not word.endswith("compile")
        elif word in ("-g", "--debug", "-G", "--device-debug"):
            command.front.append("-g")
        elif word == "-pg":
            command.front.append("-pg")
        elif word in ("-use_fast_math", "--use_fast_math"):
            command.front.append("-D__CUDA_FAST_MATH__=1")
        else:
            return False
        return True

    def _other(self, word: str, pending: Iterator[str]) -> None:
        """Flags of nvcc without an effect here; what looks like a host compiler's option goes to it."""
        if word.startswith("-Wl,") or word in ("-pthread", "-static", "-rdynamic"):
            self.command.link.append(word)
        elif word.startswith(("-fopenmp",)):
            self.command.openmp = True
        elif re.sub("^-W(?:no-)?", "", word) in _OWN_WARNINGS:
            return
        elif word.startswith(("-f", "-W", "-m", "-std")) and not word.startswith("-forward"):
            self.command.front.append(word)
