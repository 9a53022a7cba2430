"""Names of kernels and functions as people read them."""

from __future__ import annotations

import ctypes
import re
from contextlib import suppress
from functools import cache


def without_mangling(text: str) -> str:
    """With the plain names of functions in place of their symbols, for people."""
    return re.sub(r"\b_Z\w+", lambda found: plain_name(found[0]), text)


def plain_name(symbol: str) -> str:
    """The last identifier of a mangled name, or the name: `_ZN2ns5scaleIfEEvPT_i` → `scale`."""
    name = symbol.strip('@"')
    if not name.startswith("_Z"):
        return name
    head = re.match(r"_ZZ?(N[KVR]*)?L?", name)
    rest, found = name[head.end() :] if head else "", name
    while (length := re.match(r"L?(\d+)", rest)) is not None:
        start, end = length.end(), length.end() + int(length[1])
        found, rest = rest[start:end], rest[end:]
        if head and not head[1]:  # what follows is a parameter's type
            break
    return found


def with_arguments(symbol: str) -> str:
    """The plain name, with a template's arguments where these can be read: `scale<float, 4>`."""
    demangle = next((one.__cxa_demangle for one in _libraries() if hasattr(one, "__cxa_demangle")), None)
    if demangle is None or not symbol.startswith("_Z"):
        return plain_name(symbol)
    demangle.restype = ctypes.c_void_p
    made = demangle(symbol.encode(), None, None, None)
    if not made:
        return plain_name(symbol)
    text = ctypes.string_at(made).decode("utf-8", "replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(made))
    arguments = re.search(rf"\b{re.escape(plain_name(symbol))}(<.*?>)\(", text)
    return plain_name(symbol) + (arguments[1] if arguments else "")


def is_a_librarys(symbol: str) -> bool:
    """Would a definition of this symbol stand in for one of the system's libraries, or of the GPU's?"""
    if symbol == "main" or symbol.startswith(("hip", "cuda", "__", "_ZSt", "_ZNSt", "_ZNKSt", "_Zn", "_Zd")):
        return True
    return any(hasattr(library, symbol) for library in _libraries())


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    found = [ctypes.CDLL(None)]
    for name in ("libm.so.6", "libstdc++.so.6", "libpthread.so.0"):
        with suppress(OSError):
            found.append(ctypes.CDLL(name))
    return tuple(found)
