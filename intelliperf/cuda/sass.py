"""What the machine code alone shows of a kernel, for when no counters are available.

A count of instructions is not a count of executions: nothing here has a time, and no formula fires on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from intelliperf.cuda.inlining import Located

_MANY_PLACES = 3


def observations(code: Mapping[int, Located], project: Path) -> tuple[str, ...]:
    """One sentence for each rule that applies, with the project's lines."""
    return tuple(
        sentence.format(times=_times(len(hits)), where=_where(hits, project))
        for applies, sentence in _RULES
        if (hits := [located for located in code.values() if applies(located.opcode)])
    )


def _is_global_atomic(opcode: str) -> bool:
    return opcode.partition(".")[0] in ("RED", "REDG", "ATOM", "ATOMG")


# A shared-memory atomic that the chip lacks (floats) becomes a loop around this compare-and-swap.
def _is_spin(opcode: str) -> bool:
    return opcode.startswith("ATOMS.CAST.SPIN")


def _is_shared_atomic(opcode: str) -> bool:
    return opcode.startswith("ATOMS") and not _is_spin(opcode)


def _is_local(opcode: str) -> bool:
    return opcode.partition(".")[0] in ("LDL", "STL")


def _is_double(opcode: str) -> bool:
    return opcode.partition(".")[0] in ("DADD", "DMUL", "DFMA", "DSETP")


_RULES: tuple[tuple[Callable[[str], bool], str], ...] = (
    (_is_global_atomic, "{times} in its code an atomic on global memory{where}"),
    (_is_spin, "{times} a shared-memory atomic that spins on compare-and-swap{where}"),
    (_is_shared_atomic, "{times} a shared-memory atomic{where}"),
    (_is_local, "{times} an access to local memory, by spilled registers or arrays with computed indices{where}"),
    (_is_double, "{times} arithmetic in double precision{where}"),
)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _where(hits: Iterable[Located], project: Path) -> str:
    places = sorted({place for located in hits if (place := _own_place(located, project)) is not None})
    if not places:
        return ""
    told = ", ".join(f"{name}:{line}" for name, line in places[:_MANY_PLACES])
    return f" ({told}{', …' if len(places) > _MANY_PLACES else ''})"


def _own_place(located: Located, project: Path) -> tuple[str, int] | None:
    """The innermost place in the project."""
    for file, line in located.places:
        if project in Path(file).parents:
            return Path(file).relative_to(project).as_posix(), line
    return None
