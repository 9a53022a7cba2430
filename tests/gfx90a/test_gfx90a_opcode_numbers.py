"""Every number in the interpreter's tables of instructions means what LLVM's disassembler says, and none is missing."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import intelliperf

pytestmark = pytest.mark.gfx90a
_LLVM = Path("/usr/lib/llvm-19/lib/libLLVM-19.so")
_NEWER = tuple(Path(f"/usr/lib/llvm-{number}/lib/libLLVM.so") for number in range(30, 19, -1))  # these know gfx950
_TABLES = Path(intelliperf.__file__).parent / "emulator" / "machine" / "opcodes.cpp"
_TABLE = re.compile(r"constexpr char k(\w+)Names\[\] =\n((?:    \".*\"\n?)+);")
_CHIPS = ("gfx90a", "gfx942", "gfx950")
_V = 0x100  # v0 as a source
# Format → bits of the number, and words with the number in its place, the more particular operands later.
_WORDS = {
    "Sop1": (8, lambda n: [(0xBE800000 | n << 8,), (0xBE800002 | n << 8,)]),
    "Sop2": (7, lambda n: [(0x80000200 | n << 23,)]),
    "Sopk": (5, lambda n: [(0xB0000000 | n << 23,), (0xB000F801 | n << 23,)]),
    "Sopc": (7, lambda n: [(0xBF000200 | n << 16,)]),
    "Sopp": (7, lambda n: [(0xBF800000 | n << 16,)]),
    "Smem": (8, lambda n: [(0xC0020000 | n << 18,), (0xC0000000 | n << 18,)]),
    "Vop1": (8, lambda n: [(0x7E000000 | n << 9 | _V,)]),
    "Vop2": (6, lambda n: [(n << 25 | _V,)]),
    "Vopc": (8, lambda n: [(0x7C000000 | n << 17 | _V,)]),
    "Vop3": (10, lambda n: [(0xD0000000 | n << 16, second) for second in _SECOND_WORDS]),
    "Vop3p": (7, lambda n: [(0xD3800000 | n << 16, second) for second in _PACKED_SECOND_WORDS]),
    "Ds": (8, lambda n: [(0xD8000000 | n << 17,), (0xD8010000 | n << 17,)]),
    "Flat": (
        7,
        lambda n: [
            (0xDC000000 | n << 18 | segment << 14 | returns, scalar << 16)
            for segment in (2, 0, 1)
            for scalar in (0x7F, 0)
            for returns in (0, 1 << 16)
        ],
    ),
    "Buffer": (7, lambda n: [(0xE0000000 | n << 18,), (0xE0004000 | n << 18,)]),
}
_SECOND_WORDS = (
    *(_V | _V << 9 | _V << 18, _V | _V << 9, _V, 0),
    *(_V | 0x6A << 18 | _V << 9, _V | 2 << 9),
)
_PACKED_SECOND_WORDS = (
    *(_V | _V << 9 | _V << 18 | 3 << 27, _V | _V << 9 | _V << 18),
    *(_V | 0x104 << 9 | 0x108 << 18, _V),
)
_ANOTHER_FORMAT = {  # numbers with which the word is of another one
    "Sop2": lambda n: n >= 0x60,
    "Sopk": lambda n: n >= 0x1A,
    "Vop2": lambda n: n >= 0x3E,
    "Vop3": lambda n: n >= 0x380,
}


def _library_for(chip: str) -> Path:
    if chip != "gfx950":
        return _LLVM
    newer = next((path for path in _NEWER if path.exists()), None)
    if newer is None:
        pytest.skip("no LLVM that knows gfx950: 20 or later")
    return newer


class _Disassembler:
    def __init__(self, chip: str) -> None:
        self._library = ctypes.CDLL(str(_library_for(chip)))
        for part in ("TargetInfo", "TargetMC", "Disassembler"):
            getattr(self._library, f"LLVMInitializeAMDGPU{part}")()
        make = self._library.LLVMCreateDisasmCPU
        make.restype = ctypes.c_void_p
        make.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 2]
        self._context = make(b"amdgcn-amd-amdhsa", chip.encode(), None, 0, None, None)
        self._read = self._library.LLVMDisasmInstruction
        self._read.restype = ctypes.c_size_t
        self._read.argtypes = [
            *[ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
        ]

    def name(self, words: tuple[int, ...]) -> str:
        code = b"".join(word.to_bytes(4, "little") for word in (*words, 0, 0, 0)[:3])
        text = ctypes.create_string_buffer(256)
        if not self._read(self._context, code, len(code), 0, text, len(text)):
            return ""
        return re.sub(r"_(?:e32|e64|sdwa|dpp)$", "", text.value.decode().split()[0])


def _tables() -> Mapping[str, Mapping[int, tuple[str, ...]]]:
    """Format → number → its name on each chip; empty where a chip does not have it."""
    found = {}
    for name, text in _TABLE.findall(_TABLES.read_text()):
        words = "".join(re.findall(r'"(.*)"', text)).split()
        pairs = zip(words[::2], words[1::2], strict=True)
        found[name] = {int(number): _of_each(names) for number, names in pairs}
    return found


def _of_each(names: str) -> tuple[str, ...]:
    each = names.split("|")
    return tuple("" if one == "-" else one for one in each + each[-1:] * (len(_CHIPS) - len(each)))


def _told(tables: Mapping[str, Mapping[int, tuple[str, ...]]], form: str, number: int, chip: int) -> str:
    none = ("",) * len(_CHIPS)
    own = tables[form].get(number, none)[chip]
    if own or form != "Vop3":
        return own
    for begin, end, short in ((0, 0x100, "Vopc"), (0x100, 0x140, "Vop2"), (0x140, 0x1C0, "Vop1")):
        if begin <= number < end:
            return tables[short].get(number - begin, none)[chip]
    return ""


def _differences(chip: int) -> Iterator[str]:
    tables, llvm = _tables(), _Disassembler(_CHIPS[chip])
    for form, (bits, words) in _WORDS.items():
        for number in range(1 << bits):
            if form in _ANOTHER_FORMAT and _ANOTHER_FORMAT[form](number):
                continue
            meant = next((name for one in words(number) if (name := llvm.name(one))), "")
            told = _told(tables, form, number, chip)
            if form == "Flat":
                meant = re.sub(r"^(?:global|flat|scratch)_", "", meant)
            if meant and meant != told:
                yield f"{form} {number}: {told or 'nothing'}, LLVM says {meant}"


@pytest.mark.parametrize("chip", range(len(_CHIPS)), ids=_CHIPS)
def test_every_number_means_what_llvm_says(chip: int) -> None:
    assert sum(map(len, _tables().values())) > 1000
    assert list(_differences(chip)) == []
