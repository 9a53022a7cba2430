"""Mangled names that clang makes unique per compilation, brought back to what they are in every compilation.

A kernel or variable with internal linkage that the host must find gets a hash of the file's path and of the options
behind its name, as in `_ZN12_GLOBAL__N_14fillEPf.intern.3f2a` (or with `__intern__`, `.static.`, `__static__`).
"""

from __future__ import annotations

import re
from functools import lru_cache

_UNIQUE = re.compile(r"(?<=.)(\.intern\.|\.static\.|__intern__|__static__)[0-9a-f]+$")


@lru_cache(maxsize=4096)  # each of a hundred thousand samples names its kernel
def plain(symbol: str) -> str:
    """The name without what depends on the compilation; other names as they are."""
    return _UNIQUE.sub("", symbol.removesuffix(".kd"))
