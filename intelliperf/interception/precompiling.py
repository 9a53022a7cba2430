"""The C++ library's headers parsed once for many sources: half of the time to build our libraries goes there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from intelliperf.processes.process import output_of

FEWEST = 8  # so many sources parse the headers for longer than it takes to precompile them
_OFTEN = 16  # one in so many sources includes what is worth it
_DEADLINE_S = 120.0
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<([a-z_]+)>", re.MULTILINE)


def with_precompiled(
    compiler: Sequence[str],
    flags: Sequence[str],
    sources: Sequence[Path],
    place: Path,
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """`flags` by which the sources compile to the same, sooner where they are many; what that takes is left in `place`.

    The flags as they are where the compiler precompiles nothing: it costs time, and nothing else. So it is with g++:
    with its precompiled headers (12.2) a build took all memory for a source of a hundred lines, which the same command
    compiled in seconds the next time.
    """
    if len(sources) < FEWEST or not any(Path(word).name.startswith("clang") for word in compiler):
        return [*flags]
    header = place / "precompiled.h"
    header.write_text(
        "".join(f"#include <{name}>\n" for name in common_headers(source.read_bytes() for source in sources))
    )
    argv = [*compiler, *flags, "-x", "c++-header", str(header), "-o", f"{header}.gch"]  # clang finds this name, too
    done, _, _ = output_of(argv, _DEADLINE_S, environment)
    return [*flags, "-include", str(header)] if done.ok else [*flags]


def common_headers(texts: Iterable[bytes]) -> list[str]:
    """The library's headers that many of the sources include."""
    included = [set(_INCLUDE.findall(text)) for text in texts]
    seen = Counter(name for names in included for name in names)
    return sorted(name.decode() for name, often in seen.items() if often * _OFTEN >= len(included))
