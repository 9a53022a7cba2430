"""What kinds and widths of memory instruction a kernel holds, read from its machine code.

Hardware counts wave instructions and moved lines, but not how many bytes a lane asked for. That width stands in the
instruction's name, which LLVM's disassembler prints. No instruction is decoded here.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of

_DEADLINE_S = 120.0
_NEWEST, _OLDEST = 24, 17
_SECTION = ".hip_fatbin"
_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = b"CCOB"
_TOTAL_SIZE = {2: "<I", 3: "<Q"}  # by the version of the bundle; the first one does not tell it
_ALIGNMENT = 4096  # of each translation unit's bundle in the section
_LABEL = re.compile(r"^(?:[0-9a-f]{8,} <(?P<listed>[^>]+)>|(?P<written>[\w$.]+)):")
_INSTRUCTION = re.compile(r"^\s+(?P<name>[a-z]\w*)")
_MEMORY = re.compile(r"^(?P<space>global|flat|buffer|tbuffer|scratch|image|ds)_(?P<rest>\w+)$")
_WIDTHS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(rf"(?:^|_)(?:{names})(?:_d16)?(?:_hi)?(?:_format_\w)?$"), width)
    for names, width in (
        (r"dwordx4|b128", 16),
        (r"dwordx3|b96", 12),
        (r"dwordx2|[buif]64|x2", 8),
        (r"dword|[buif]32|pk_\w+_b?f16", 4),
        (r"[us]short|short|[buif]16", 2),
        (r"[us]byte|byte|[ui]8|b8", 1),
    )
)
_ADDS_FLOATS = re.compile(r"add_b?f(?:16|32|64)")
_SHUFFLES = ("bpermute", "permute", "swizzle")
_LDS_MOVES = re.compile(r"^(?:read|write|load|store(?!xchg))")
_TOO_OLD = re.compile(r"not (?:yet )?supported for subtarget|is not a recognized processor for this target")
_CALLS = frozenset({"s_swappc_b64", "s_setpc_b64", "s_call_b64"})


@dataclass(frozen=True)
class Accesses:
    """The memory instructions of a kernel and of what it calls. Widths are bytes per lane."""

    load_widths: frozenset[int] = frozenset()
    store_widths: frozenset[int] = frozenset()
    atomics: bool = False
    unknown_widths: bool = False  # images, typed buffers
    flat: bool = False  # may lead to LDS as well as to memory
    lds_moves: bool = False
    lds_atomics: bool = False
    lds_shuffles: bool = False  # between lanes, through LDS's crossbar
    float_atomics: int = 0  # instructions that add floating-point numbers, or may: compare-and-swap, of which
    swaps: int = 0  # there are so many

    def with_all_of(self, other: Accesses) -> Accesses:
        return Accesses(
            load_widths=self.load_widths | other.load_widths,
            store_widths=self.store_widths | other.store_widths,
            atomics=self.atomics or other.atomics,
            unknown_widths=self.unknown_widths or other.unknown_widths,
            flat=self.flat or other.flat,
            lds_moves=self.lds_moves or other.lds_moves,
            lds_atomics=self.lds_atomics or other.lds_atomics,
            lds_shuffles=self.lds_shuffles or other.lds_shuffles,
            float_atomics=self.float_atomics + other.float_atomics,
            swaps=self.swaps + other.swaps,
        )


@dataclass
class _Function:
    accesses: Accesses = Accesses()
    calls: bool = False


def parse_disassembly(text: str) -> dict[str, Accesses]:
    """By symbol, from `llvm-objdump -d` or from compiler-written assembly.

    A kernel that calls gets the accesses of all functions of the object: which ones it reaches is not known.
    """
    functions: dict[str, _Function] = {}
    current: _Function | None = None
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label:
            name = label["listed"] or label["written"]
            if not name.startswith("."):
                current = functions.setdefault(name, _Function())
            continue
        found = _INSTRUCTION.match(line)
        if found and current is not None:
            _add(current, found["name"])
    everything = Accesses()
    for function in functions.values():
        everything = everything.with_all_of(function.accesses)
    return {name: everything if one.calls else one.accesses for name, one in functions.items()}


def _add(function: _Function, instruction: str) -> None:
    if instruction in _CALLS:
        function.calls = True
    found = _MEMORY.match(instruction)
    if found:
        function.accesses = function.accesses.with_all_of(_accesses(found["space"], found["rest"]))


def _accesses(space: str, rest: str) -> Accesses:
    if space == "ds":
        return _lds_accesses(rest)
    if space in ("image", "tbuffer"):
        return Accesses(unknown_widths=True)
    flat = space == "flat"
    if "atomic" in rest:
        swap = "cmpswap" in rest
        return Accesses(
            atomics=True, flat=flat, float_atomics=int(swap or bool(_ADDS_FLOATS.search(rest))), swaps=int(swap)
        )
    if not rest.startswith(("load", "store")):
        return Accesses()  # cache control
    width = width_of(rest)
    if width is None or "format" in rest:
        return Accesses(unknown_widths=True, flat=flat)
    widths = frozenset({width})
    return (
        Accesses(load_widths=widths, flat=flat) if rest.startswith("load") else Accesses(store_widths=widths, flat=flat)
    )


def _lds_accesses(rest: str) -> Accesses:
    if rest.startswith(_SHUFFLES):
        return Accesses(lds_shuffles=True)
    if _LDS_MOVES.match(rest):
        return Accesses(lds_moves=True)
    return Accesses(lds_atomics=not rest.startswith(("nop", "gws", "consume", "append", "ordered")))


def accesses(code_object: Path) -> dict[str, Accesses]:
    """By mangled symbol, of one device code object. Raises `ToolchainError`."""
    found = parse_disassembly(tool_output("llvm-objdump", "-d", "--no-show-raw-insn", str(code_object)))
    if not found:
        raise ToolchainError(f"{code_object} holds no function")
    return found


def tool_output(name: str, *arguments: str) -> str:
    """Of one of LLVM's tools on a code object. Raises `ToolchainError`, for a chip newer than the tool by that."""
    tool = find_tool(name)
    done, out, err = output_of([str(tool), *arguments], _DEADLINE_S)
    if _TOO_OLD.search(err):
        raise ToolchainError(
            f"{tool} does not know this chip's machine code: install a newer LLVM (20 or later for gfx950), or ROCm's"
        )
    if not done.ok:
        raise ToolchainError(f"{name} failed: {err.strip()[-300:] or done.describe()}")
    return out


def width_of(instruction: str) -> int | None:
    """Bytes per lane that its name tells: of "global_load_dwordx2", "ds_add_rtn_u64"; of both for "ds_read2_b32" each.

    None where it does not tell, as for atomics of four bytes in the older spelling.
    """
    return next((width for pattern, width in _WIDTHS if pattern.search(instruction)), None)


def from_program(program: Path, architecture: str, scratch: Path) -> dict[str, Accesses]:
    """By mangled symbol, of all code objects for `architecture` in a host program. Raises `ToolchainError`.

    Empty where the program has none, as one that loads its kernels from elsewhere.
    """
    return from_images(code_objects(program, architecture, scratch), architecture, scratch)


def from_images(images: Sequence[bytes], architecture: str, scratch: Path) -> dict[str, Accesses]:
    """As `from_program`, of code objects."""
    found: dict[str, Accesses] = {}
    for number, image in enumerate(images):
        path = scratch / f"{number}.{architecture}.co"
        path.write_bytes(image)
        found.update(accesses(path))
    return found


def code_objects(program: Path, architecture: str, scratch: Path) -> list[bytes]:
    """The device ELF files for `architecture` that clang put into a host program."""
    data = _fat_binary(program)
    images = [image for target, image in _bundled(data) if _is_for(target, architecture)]
    for bundle in _compressed(data, scratch):
        images += bundle.images(architecture)
    return images


def without_symbols(image: bytes) -> bool:
    """Of a device ELF file. Programs with such ones crash under HIP 5.2 on the software gfx90a."""
    return ELFFile(io.BytesIO(image)).get_section_by_name(".symtab") is None


def targets(program: Path) -> tuple[str, ...]:
    """What the program has device code for, as "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"; the host's entry is left out.

    Empty where it has none. Raises `ToolchainError`.
    """
    data = _fat_binary(program)
    names = [name for name, image in _bundled(data) if image]
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as scratch:
        for bundle in _compressed(data, Path(scratch)):
            names += bundle.targets()
    return tuple(dict.fromkeys(name for name in names if not name.startswith("host")))


def is_compressed(program: Path) -> bool:
    """Whether device code is, in whole or in part. Raises `ToolchainError`."""
    return any(True for _ in _starts_of_compressed(_fat_binary(program)))


def _fat_binary(program: Path) -> bytes:
    try:
        with program.open("rb") as file:
            section = ELFFile(file).get_section_by_name(_SECTION)
            return section.data() if section is not None else b""
    except (OSError, ELFError) as error:
        raise ToolchainError(f"{program} is not a program with device code: {error}") from error


def _bundled(data: bytes) -> Iterator[tuple[str, bytes]]:
    """(target, image) of every bundle; translation units follow each other in the section."""
    start = data.find(_BUNDLE)
    while start >= 0:
        (count,) = struct.unpack_from("<Q", data, start + len(_BUNDLE))
        at = start + len(_BUNDLE) + 8
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, at)
            target = data[at + 24 : at + 24 + length].decode("ascii", "replace")
            at += 24 + length
            yield target, data[start + offset : start + offset + size]
        start = data.find(_BUNDLE, at)


def _is_for(target: str, architecture: str) -> bool:
    """ "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" is for gfx90a."""
    return target.startswith("hip") and target.rpartition("-gfx")[2].partition(":")[0] == architecture.removeprefix(
        "gfx"
    )


@dataclass(frozen=True)
class _Compressed:
    """One translation unit's bundle, in a file of its own."""

    file: Path

    def targets(self) -> list[str]:
        return self._bundler("--list").splitlines()

    def images(self, architecture: str) -> list[bytes]:
        image = self.file.with_suffix(".co")
        found = []
        for target in self.targets():
            if _is_for(target, architecture):
                self._bundler("--unbundle", f"--targets={target}", f"--output={image}")
                found.append(image.read_bytes())
        return found

    def _bundler(self, *words: str) -> str:
        argv = [str(find_tool("clang-offload-bundler")), "--type=o", f"--input={self.file}", *words]
        done, out, err = output_of(argv, _DEADLINE_S)
        if not done.ok:
            said = err.strip()[-300:] or done.describe()
            raise ToolchainError(f"the compressed device code cannot be unpacked: {said}")
        return out


def _compressed(data: bytes, scratch: Path) -> Iterator[_Compressed]:
    starts = list(_starts_of_compressed(data))
    for number, start in enumerate(starts):
        file = scratch / f"bundle{number}"
        piece = data[start : (starts + [len(data)])[number + 1]]
        (version,) = struct.unpack_from("<H", piece, len(_COMPRESSED))
        sized = _TOTAL_SIZE.get(version)
        file.write_bytes(piece[: struct.unpack_from(sized, piece, 8)[0]] if sized else piece.rstrip(b"\0"))
        yield _Compressed(file)


def _starts_of_compressed(data: bytes) -> Iterator[int]:
    return (start for start in range(0, len(data), _ALIGNMENT) if data.startswith(_COMPRESSED, start))


def find_tool(name: str, environment: Mapping[str, str] | None = None) -> Path:
    """ROCm's own, else the newest of the machine's. Raises `ToolchainError` with the remedy."""
    known = dict(os.environ if environment is None else environment)
    roots = [Path(known[key]) for key in ("ROCM_PATH", "ROCM_HOME") if known.get(key)]
    roots += sorted(Path("/opt").glob("rocm*"), reverse=True)
    places = [root / "llvm" / "bin" / name for root in roots]
    search = known.get("PATH", "")
    versioned = [f"{name}-{version}" for version in range(_NEWEST, _OLDEST - 1, -1)]
    places += [Path(found) for one in (*versioned, name) if (found := shutil.which(one, path=search))]
    found_at = next((place for place in places if os.access(place, os.X_OK)), None)
    if found_at is None:
        raise ToolchainError(f"no {name}: it comes with ROCm (in llvm/bin), or install llvm-19 and clang-tools-19")
    return found_at
