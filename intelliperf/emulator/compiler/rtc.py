"""Run-time compilation: what `rtc.cpp` of the runtime asks for when a program calls NVRTC or hipRTC.

The request is a directory: `source`, `name` (of the source, as the program calls it), `options` and `expressions`
(one in a line), and `headers/` with texts that the program hands over. The answer is written beside them: `container`,
and `names`, the mangled name of each expression. Answers are kept, since a program asks the same in every run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.devices.models import DEFAULT_TARGETS
from intelliperf.dropins.arguments import parse
from intelliperf.dropins.command import Source
from intelliperf.dropins.compilelog import unit_of
from intelliperf.dropins.frontend import CompilerMessage, Unit
from intelliperf.dropins.toolchain import Toolchain, find_toolchain, write_atomically
from intelliperf.emulator.compiler.cache import file_hash, kept_state
from intelliperf.emulator.compiler.unit import CompiledModule, compile_module
from intelliperf.emulator.sourcelines import run_time_sources
from intelliperf.errors import StorageFull, ToolchainError
from intelliperf.processes.storage import cache_directory

_FLAVOURS = {"cuda": "nvcc", "hip": "hipcc"}
# hipRTC's sources see HIP's headers without including one.
_BEFORE = {"cuda": ("-D__CUDACC_RTC__=1",), "hip": ("-D__HIPCC_RTC__=1", "-include", "hip/hip_runtime.h")}
_DEVICE_BY_DEFAULT = ("-default-device", "--device-as-default-execution-space")
_OWN_OPTIONS = (*_DEVICE_BY_DEFAULT, "--gpu-architecture=", "-arch=")  # the chip is the run's, not the program's
_TABLE = "intelliperf_rtc_names"
_STUB = "__device_stub__"


def answer_request(language: str, target: str, request: str) -> None:
    """Raises `CompilerMessage` for errors in the source. `target` is empty where the program has no other code."""
    place = Path(request)
    options = _lines(place / "options")
    expressions = _lines(place / "expressions")
    toolchain = find_toolchain()
    chosen = target or os.environ.get("INTELLIPERF_TARGET") or DEFAULT_TARGETS[language]
    key = _key(place, language, chosen, options, expressions, toolchain)
    container, names, warnings = _kept(key) or _compile(
        place, _unit(place, language, chosen, options, expressions, toolchain), expressions, toolchain, key
    )
    (place / "container").write_bytes(container)
    (place / "names").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    sys.stderr.write(warnings)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()


def _unit(
    place: Path, language: str, target: str, options: Sequence[str], expressions: Sequence[str], toolchain: Toolchain
) -> Unit:
    flavour = _FLAVOURS[language]
    handed_over = [f"-I{directory}" for directory in _headers(place)]
    words = [*_BEFORE[language], *handed_over, *(_one_item(word) for word in options)]
    command = parse(flavour, [word for word in words if not word.startswith(_OWN_OPTIONS)], None)
    command.target = target
    command.relocatable_device_code = False
    directory = Path.cwd()
    source = _source_file(place, directory, expressions, any(word in _DEVICE_BY_DEFAULT for word in options))
    return unit_of(command, Source(str(source), language), directory, os.environ, toolchain)


def _headers(place: Path) -> list[Path]:
    """A directory of the headers that the program hands over as texts, where there are any: the same one every time."""
    own = place / "headers"
    texts = {path.relative_to(own): path.read_bytes() for path in sorted(own.glob("**/*")) if path.is_file()}
    if not texts:
        return []
    kept = cache_directory() / "rtc" / "headers" / hashlib.sha256(repr(texts).encode()).hexdigest()[:16]
    try:
        for name, text in texts.items():
            if not (kept / name).is_file():
                write_atomically(kept / name, text)
    except StorageFull:  # a judged run may write nowhere but into its own directory
        return [own]
    return [kept]


def _one_item(option: str) -> str:
    """Unlike nvcc, NVRTC takes a value with commas in it for one item."""
    found = re.fullmatch(r"(-D|-I|-U|--define-macro=|--include-path=|--undefine-macro=)(.*)", option, re.DOTALL)
    return found[1] + re.sub(r"(?<!\\),", r"\\,", found[2]) if found else option


def _source_file(place: Path, directory: Path, expressions: Sequence[str], device_by_default: bool) -> Path:
    """A file with the program's text, where findings can name its lines: the program's own, if it is as it was read."""
    text = (place / "source").read_text(encoding="utf-8", errors="surrogateescape")
    name = (place / "name").read_text(encoding="utf-8", errors="surrogateescape")
    with contextlib.suppress(OSError, ValueError):
        if (
            not expressions
            and not device_by_default
            and (directory / name).read_text("utf-8", "surrogateescape") == text
        ):
            return directory / name
    if device_by_default:
        text = f'#pragma clang force_cuda_host_device begin\n#line 1 "{Path(name).name}"\n{text}'
        text += "\n#pragma clang force_cuda_host_device end\n"
    whole = f"{text}\n{_table(expressions)}".encode("utf-8", "surrogateescape")
    kept = run_time_sources() / hashlib.sha256(whole).hexdigest()[:16] / (Path(name).name or "source")
    try:
        if not kept.exists():
            write_atomically(kept, whole)
    except StorageFull:  # a judged run may write nowhere but into its own directory
        kept = place / "unit" / kept.name
        write_atomically(kept, whole)
    return kept


def _table(expressions: Sequence[str]) -> str:
    """Instantiates what the expressions name, and lists it where `_names` finds it."""
    if not expressions:
        return ""
    entries = "".join(f"  (void*)({e if e.lstrip().startswith('&') else '&' + e}),\n" for e in expressions)
    return f'extern "C" __attribute__((used)) void* {_TABLE}[] = {{\n{entries}}};\n'


def _names(assembly: str, count: int) -> list[str]:
    """The mangled names in the table of the host's assembly, in order; empty ones where it names none."""
    if not count:
        return []
    found = re.search(rf"^{_TABLE}:\n((?:\t\.quad\t.*\n)+)", assembly, re.MULTILINE)
    names = re.findall(r"^\t\.quad\t([^\s+#]+)", found[1], re.MULTILINE) if found else []
    if len(names) != count:
        raise ToolchainError(f"{len(names)} of {count} name expressions were found in the host's assembly")
    return [_kernel_name(name) for name in names]


def _kernel_name(symbol: str) -> str:
    """The kernel's name from its stub's on the host, in which clang has put a mark before the identifier."""
    shortened = re.sub(rf"(\d+){_STUB}", lambda found: str(int(found[1]) - len(_STUB)), symbol, count=1)
    return shortened.removeprefix(_STUB)


def _compile(
    place: Path, unit: Unit, expressions: Sequence[str], toolchain: Toolchain, key: str
) -> tuple[bytes, list[str], str]:
    try:
        made = compile_module(unit, toolchain)
    except CompilerMessage as error:
        raise CompilerMessage(_in_its_names(str(error), place, unit)) from error
    made = replace(made, warnings=_in_its_names(made.warnings, place, unit))
    names = _names(made.host_assembly, len(expressions))
    if not any(Path(file).is_relative_to(place) for file in made.dependencies):
        with contextlib.suppress(StorageFull):
            _keep(key, made, names, unit.directory)
    return made.container, names, made.warnings


def _in_its_names(said: str, place: Path, unit: Unit) -> str:
    """What the compiler said, with the names that the program gave its source and headers, not those of our copies."""
    name = (place / "name").read_text(encoding="utf-8", errors="surrogateescape") or "default_program"
    for directory in _headers(place):
        said = said.replace(f"{directory}/", "")
    return said.replace(str(unit.source), name)


# ---- answers that are kept: the container, and beside it what it was made of


def _key(
    place: Path, language: str, target: str, options: Sequence[str], expressions: Sequence[str], toolchain: Toolchain
) -> str:
    texts = {
        str(path.relative_to(place)): file_hash(str(path))
        for path in sorted([place / "source", place / "name", *place.glob("headers/**/*")])
        if path.is_file()
    }
    what = [language, target, list(options), list(expressions), texts, str(Path.cwd()), *kept_state(toolchain)]
    return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _files(key: str) -> tuple[Path, Path]:
    directory = cache_directory() / "rtc" / "answers"
    return directory / f"{key}.json", directory / f"{key}.container"


def _keep(key: str, made: CompiledModule, names: Sequence[str], directory: Path) -> None:
    manifest, container = _files(key)
    read = {str(directory / file): file_hash(str(directory / file)) for file in made.dependencies}
    write_atomically(container, made.container)
    entry = {"files": read, "names": list(names), "warnings": made.warnings}
    write_atomically(manifest, json.dumps(entry).encode())


def _kept(key: str) -> tuple[bytes, list[str], str] | None:
    manifest, container = _files(key)
    try:
        entry = json.loads(manifest.read_text(encoding="utf-8"))
        content = container.read_bytes()
    except (OSError, ValueError):
        return None
    if any(file_hash(file) != digest for file, digest in entry["files"].items()):
        return None
    return content, entry["names"], entry["warnings"]
