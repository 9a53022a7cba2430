"""Which device variables the host's code cannot reach: their values are the program's text, and no data.

The shadow that the host side has of such a variable is named by nothing but its registration. What several objects
share, by linkage or in relocatable code, may be named in another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from intelliperf.emulator.container import pack_container, unpack_container
from intelliperf.emulator.modulefacts import FIXED

_REGISTRATION = re.compile(
    r"^__(?:hip|cuda)_(?:register_globals|module_ctor):.*?^\.Lfunc_end\d+:$", re.MULTILINE | re.DOTALL
)
# What declares a variable, and the names that the registration hands on.
_DECLARING = re.compile(r"^\s*\.(?:type|local|comm|size|addrsig_sym|asciz|section|p2align|loc|file)\b.*$", re.MULTILINE)
_WORD = re.compile(r'"[^"\n]*"|[\w.$@]+')
_STRING = re.compile(r'^\s*\.asciz\s+"([^"\n]*)"$', re.MULTILINE)
_ONLY_READ = b'"only_read":true'


def out_of_reach(names: Iterable[str], assembly: str) -> set[str]:
    """Those of the device variables that nothing on the host names."""
    code = _DECLARING.sub("", _REGISTRATION.sub("", assembly))
    named = {word.strip('"').partition("@")[0].removesuffix(":") for word in _WORD.findall(code)}
    local = set(re.findall(r"^\s*\.local\s+(\S+)$", assembly, re.MULTILINE))
    registered = set(_STRING.findall(assembly))
    return {name for name in names if name not in named and (name in local or name not in registered)}


def mark_out_of_reach(container: bytes, assembly: str) -> bytes:
    """The container, whose variables say so if kernels only read them and the host does not name them."""
    if _ONLY_READ not in container:
        return container
    shared_object, metadata = unpack_container(container)
    symbols = metadata["symbols"]
    for name in out_of_reach((name for name, facts in symbols.items() if facts.get("only_read")), assembly):
        symbols[name][FIXED] = True
    return pack_container(shared_object, metadata)
