"""How the host computes a launch's grid and dynamic LDS from the arguments that it hands to the kernel.

A formula is a row of words as the emulator's runtime reads them (own_grids.h): what they stand for is put on a stack.
`@3` is an argument, `@3+8.4` four bytes of one that is a struct, from its ninth on, `#7` a constant, `=y` what the
launch has in that dimension, and `add.32` takes two numbers of 32 bits off the stack. `*` stands for a grid that is
calculated otherwise, beside LDS that is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice

from intelliperf.validation.edits.handed import DEFINED, LABEL, Handed, handed, stubs
from intelliperf.validation.edits.launches import call_operands, function_bodies
from intelliperf.validation.edits.names import plain_name

_STUB = "__device_stub__"
_STUB_NAME = re.compile(r"(\d*)__device_stub__")
_TWO = re.compile(
    r"(add|sub|mul|[su]div|[su]rem|shl|[la]shr|and|or|xor) (?:nuw |nsw |exact |disjoint )*i(\d+) (\S+), (\S+)$"
)
_CAST = re.compile(r"(zext|sext|trunc) (?:nneg |nuw |nsw )*i(\d+) (\S+) to i(\d+)$")
_CHOICE = re.compile(r"(?:tail )?call (?:noundef )?(?:range\(.*?\) )?i(\d+) @llvm\.([us](?:min|max))\.i\d+\((.*)\)")
_LOAD = re.compile(r"load ((?:i\d+|ptr), ptr \S+?)(?:, |$)")
_ADDRESS = re.compile(r"getelementptr (?:inbounds |nuw |nusw )*(.*)")
_WRITES = re.compile(r"\s(?:call|invoke|store|fence|atomicrmw|cmpxchg|callbr) ")
_WRITES_NOT = re.compile(r"PushCallConfiguration\(|@llvm\.(?:[su](?:min|max)|abs|dbg|assume|lifetime)")
_MOST_WORDS = 60
_HIGH = re.compile(r"shl (?:nuw |nsw )*i64 (\S+), 32$")
_NAMED = re.compile(r"%[-\w.$]+")
_ABOVE = 1 << 32  # y stands above x
_UNKNOWN = "*"
_ARGUMENT = re.compile(r"@[\w+.]+")
_UNITS = {"-1", "0", "1"}
_BY_NAME = "0"  # arguments that these have: they are named instead


def grid_formulas(ir: str, kernels: Collection[str]) -> tuple[str, ...]:
    """Of each launch of these kernels whose grid depends on its arguments alone: how many and whose, then x and y, z.

    Or on nothing, where it is handed no constants of which the compiler may have made the grid. A question mark stands
    behind the number of arguments where some are passed by value in memory, of whose members it may be made.
    Behind them the bytes of dynamic LDS, if these depend on the arguments. Not where the block's size is calculated,
    too: it may go by the same arguments, and altered launches keep it.
    `ir`: the host's, optimised, with the kernels' stubs not inlined. `kernels`: plain names.
    """
    found: dict[str, None] = {}
    known_stubs = stubs(ir)
    for body in function_bodies(ir):
        values = {match[1]: match[2] for line in body if (match := DEFINED.match(line)) is not None}
        values |= _loaded_again(body)
        for grid, lds, number in _launches(body, kernels):
            name, operands = call_operands(body[number])
            given = handed(body, number, operands, known_stubs.get(name))
            arguments = {_first_of(one, values): word for one, word in given.numbers.items()}
            flat, depth = (one.split()[-1] for one in grid)
            formulas = [_plane(flat, values, arguments), _of_dimension("z", depth, values, arguments)]
            asked = _formula(lds.split()[-1], values, arguments)
            if "@" in asked:
                known = all(formulas)
                formulas = [one if known else _UNKNOWN for one in formulas] + [asked]
            fixed = not any("@" in one or "=" in one for one in formulas)
            if all(formulas) and not (fixed and _may_be_folded(given)):
                found[":".join([f"{given.parameters}{'?' * given.unseen}{_launched(name)}", *formulas])] = None
    return tuple(sorted(found, key=lambda formula: (_UNKNOWN in formula, "=" in formula)))  # the first that fits holds


def _launched(stub: str) -> str:
    """The kernel behind its stub, where it is sure to be called that on the device as well."""
    kernel = _STUB_NAME.sub(lambda name: str(int(name[1]) - len(_STUB)) if name[1] else "", stub)
    return "" if kernel.startswith("_ZL") or "_GLOBAL__N" in kernel else f"/{kernel}"


def _may_be_folded(given: Handed) -> bool:
    """May a constant grid be made of the arguments, which are constants as well?"""
    return given.constants or not given.numbers


def alike(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The formulas of both versions, where each knows its grids; behind them what both need to know of the other's.

    Dynamic LDS is each version's own matter: a tile has what its radius takes, and a version without one nothing.
    """
    if all(_UNKNOWN in one for one in (*mine, *theirs)):
        return (mine, theirs) if mine or theirs else None
    own, other = _taken(mine, _whole), _taken(theirs, _whole)
    if own.keys() != other.keys():  # what a template is made with may be another in each
        own, other = _taken(mine, _count), _taken(theirs, _count)
    if own.keys() != other.keys() or (_BY_NAME in own and own != other):
        return None
    apart = [kernel for kernel in sorted(own) if own[kernel] != other[kernel]]
    told = [f"&{kernel}:{' '.join(sorted(own[kernel] | other[kernel]))}" for kernel in apart]
    told += [f"!{kernel}:{' '.join(more)}" for kernel in apart if (more := sorted(other[kernel] - own[kernel]))]
    return (*mine, *told), (*theirs, *told)


def _whole(kernel: str) -> str:
    return kernel.replace("?", "")


def _count(kernel: str) -> str:
    return re.split(r"[?/]", kernel)[0]


def _taken(formulas: tuple[str, ...], told: Callable[[str], str]) -> dict[str, set[str]]:
    """The arguments by which grids go, by kernel as `told`."""
    found: dict[str, set[str]] = {}
    for formula in formulas:
        kernel, flat, depth, *_ = formula.split(":")
        if flat != _UNKNOWN:
            found.setdefault(told(kernel), set()).update(_ARGUMENT.findall(f"{flat} {depth}"))
    return found


def _launches(body: list[str], kernels: Collection[str]) -> Iterator[tuple[list[str], str, int]]:
    """The two operands that hold the grid, that of dynamic LDS, and the line that calls the stub behind them."""
    grid: list[str] = []
    lds = ""
    for number, line in enumerate(body):
        name, operands = call_operands(line)
        if name.endswith("PushCallConfiguration"):
            fixed = all(one.split()[-1].isdecimal() for one in operands[2:4])
            grid, lds = operands[:2] if fixed else [], operands[4]
        elif _STUB in name and grid:
            if plain_name(name).removeprefix(_STUB) in kernels:
                yield grid, lds, number
            grid = []


def _loaded_again(body: list[str]) -> Iterator[tuple[str, str]]:
    """Numbers that are loaded while another one still is what its memory holds, and that one's name.

    Pointers, too, and addresses that are calculated from them again: `starts[i]` of a vector is read through both.
    """
    labels = {match[1] for line in body if (match := LABEL.match(line)) is not None}
    held: dict[str, str] = {}  # by type and address
    ends = {"": held}  # what is held where a block ends, by its label; that of the first is not written
    addresses: dict[str, str] = {}  # by how they are calculated
    firsts: dict[str, str] = {}
    for line in body:
        if (label := LABEL.match(line)) is not None:
            held = dict(ends.get(_one_before(label[2] or "", labels), {}))
            ends[label[1]] = held
        if _WRITES.search(line) and not _WRITES_NOT.search(line):
            held.clear()
        defined = DEFINED.match(line)
        if defined is None:
            continue
        how = _NAMED.sub(lambda name: firsts.get(name[0], name[0]), defined[2])
        known, key = (held, load[1]) if (load := _LOAD.match(how)) else (addresses, how)
        if load is None and _ADDRESS.match(how) is None:
            continue
        first = known.setdefault(_ADDRESS.sub(r"\1", key), defined[1])
        if first != defined[1]:
            firsts[defined[1]] = first
            yield defined[1], first


def _one_before(before: str, labels: Collection[str]) -> str:
    """The label of the only block from which this one is reached; of the first block none is written."""
    name = before.removeprefix("%")
    return "" if before and "," not in before and name not in labels else name


def _first_of(name: str, values: dict[str, str]) -> str:
    same = values.get(name, "")
    return same if same.startswith("%") else name


def _plane(name: str, values: dict[str, str], arguments: dict[str, str]) -> str:
    """Of x, and of y above it."""
    both = _TWO.match(values.get(name, ""))
    if both is None or both[1] != "or":
        return _formula(name, values, arguments)
    for low, high in ((both[3], both[4]), (both[4], both[3])):
        x = _of_dimension("x", low, values, arguments)
        if high.isdecimal() and int(high) % _ABOVE == 0:
            return f"{x} #{high} or.64" if x else ""
        if (shifted := _HIGH.match(values.get(high, ""))) is not None:
            y = _of_dimension("y", shifted[1], values, arguments)
            return f"{x} {y} #32 shl.64 or.64" if x and y else ""
    return ""


def _of_dimension(dimension: str, name: str, values: dict[str, str], arguments: dict[str, str]) -> str:
    """A number that has nothing to do with the arguments stays as it is."""
    words = list(islice(_words(name, values, arguments), _MOST_WORDS + 1))
    others = {word[1:] for word in words if word.startswith(_UNKNOWN)}
    if not others or any(word.startswith("@") for word in words) or _depends(others, values, arguments):
        return _formula(name, values, arguments)
    return f"={dimension}" if len(words) <= _MOST_WORDS else ""


def _depends(others: Collection[str], values: dict[str, str], arguments: dict[str, str]) -> bool:
    """May these numbers be made of the arguments, or of what these are made of?"""
    made = [word for one in arguments for word in islice(_words(one, values, {}), _MOST_WORDS)]
    origins = {word[1:] for word in made if word.startswith(_UNKNOWN)} | arguments.keys()
    texts = [values.get(one, "") for one in others]
    loaded = any(text.startswith("load ") for text in texts)
    return loaded or not origins.isdisjoint({*others, *(name for text in texts for name in _NAMED.findall(text))})


def _formula(name: str, values: dict[str, str], arguments: dict[str, str]) -> str:
    """Empty where it is made of anything else."""
    words = list(islice(_words(name, values, arguments), _MOST_WORDS + 1))
    known = not any(word.startswith(_UNKNOWN) for word in words)
    return " ".join(words) if known and len(words) <= _MOST_WORDS else ""


def _without_units(arguments: dict[str, str]) -> dict[str, str]:
    """A unit that is calculated with is itself, as in `(n - 1) / 256 + 1`, also where the kernel is handed one, too."""
    return {name: at for name, at in arguments.items() if name not in _UNITS}


def _words(name: str, values: dict[str, str], arguments: dict[str, str]) -> Iterator[str]:
    name = _first_of(name, values)
    if name in arguments:
        yield arguments[name]
    elif re.fullmatch(r"-?\d+", name):
        yield f"#{name}"
    elif (two := _TWO.match(values.get(name, ""))) is not None:
        for one in (two[3], two[4]):
            yield from _words(one, values, _without_units(arguments))
        yield f"{two[1]}.{two[2]}"
    elif (cast := _CAST.match(values.get(name, ""))) is not None:
        yield from _words(cast[3], values, arguments)
        yield f"sext.{cast[2]}" if cast[1] == "sext" else f"trunc.{min(int(cast[2]), int(cast[4]))}"
    elif (choice := _CHOICE.match(values.get(name, ""))) is not None:
        for one in choice[3].split(", "):
            yield from _words(one.split()[-1], values, _without_units(arguments))
        yield f"{choice[2]}.{choice[1]}"
    else:
        yield f"{_UNKNOWN}{name}"
