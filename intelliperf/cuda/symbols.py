"""Mangled names that nvcc makes unique per compilation, brought back to what they are in every compilation.

nvcc puts a hash and the file's name into the names of anonymous namespaces and internal symbols, as in
`_ZN46_GLOBAL__N__b7d70871_13_transpose_hip_a00f4ba44tileEv` (an object file) or
`_ZN41_GLOBAL__N__5be91f4f_12_histogram_cu_main4tileEv` (a whole program), so that the same kernel has another name
in a changed file. The Itanium C++ ABI's own spelling of an anonymous namespace is `12_GLOBAL__N_1`.
"""

from __future__ import annotations

import re

_UNIQUE = re.compile(r"(\d+)(_GLOBAL__N__|_INTERNAL_)")
_IDENTIFIER = re.compile(r"(_GLOBAL__N__|_INTERNAL_)[0-9a-f]{8}_\d+_\w+$")
_PLAIN = {"_GLOBAL__N__": "12_GLOBAL__N_1", "_INTERNAL_": "9_INTERNAL"}
_ANY = r"\d+{mark}[0-9a-f]{{8}}_\d+_\w+?"


def canonical(symbol: str) -> str:
    """The name without what depends on the compilation; other names as they are."""
    parts = []
    rest = symbol
    while found := _UNIQUE.search(rest):
        digits, start = found[1], found.start(2)
        # Digits before the length may belong to the identifier in front of it.
        lengths = [digits[i:] for i in range(len(digits))]
        fitting = [
            n for n in lengths if start + int(n) <= len(rest) and _IDENTIFIER.match(rest[start : start + int(n)])
        ]
        if not fitting:
            break
        parts += [rest[: start - len(fitting[0])], _PLAIN[found[2]]]
        rest = rest[start + int(fitting[0]) :]
    return "".join([*parts, rest])


def pattern(symbol: str) -> str:
    """A regular expression for all names whose canonical form is `symbol`."""
    text = re.escape(symbol)
    for mark, plain in _PLAIN.items():
        text = text.replace(re.escape(plain), f"({re.escape(plain)}|{_ANY.format(mark=mark)})")
    return f"^{text}$"
