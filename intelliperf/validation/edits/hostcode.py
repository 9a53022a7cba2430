"""Is the candidate's host code the original's, but for what it may change? Compared as compiled.

Everything that `main`, constructors and what other files may call can reach has to be equal: first as it is, then
with the sizes of launches taken out, then without launches and the memory that serves them alone, and last without
copies of which it needs the total alone. The first of these that is equal says what the candidate has to declare.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from intelliperf.validation.edits import launches, totals
from intelliperf.validation.edits.ir import NAME, Module, parse
from intelliperf.validation.edits.names import is_a_librarys, plain_name
from intelliperf.validation.edits.total import Total
from intelliperf.validation.edits.units import Compiler, Unit, Unreadable

_ROUNDS = 4  # a value that serves a value that serves a launch
_MACHINERY = re.compile(
    r"@(?:__(?:hip|cuda)_(?:module_[cd]tor|register_globals|fatbin\w*|gpubin_handle\w*|cuid_\w*)|llvm\.compiler\.used|"
    r"intelliperf\.\w+|(?:_Z\w*?\d+)?__device_stub__.*)$"
)
_STARTS = ("@main", "@llvm.global_dtors", "@llvm.used")
_BEFORE_MAIN = re.compile(rf"i32 (\d+), ptr ({NAME}), ptr [^}}]*\}}")
_LOCAL = re.compile(r"\b(?:internal|private|available_externally|external|extern_weak)\b")
_MERGED = re.compile(r"\b(?:linkonce_odr|linkonce|weak_odr|weak)\b")
_SHOWN = 120
# What a check of an allocation may do where it fails, if the original does so somewhere.
_TELLS = re.compile(
    r"v?f?printf|f?puts|fputc|putc(?:har)?|fwrite|exit|abort|(?:hip|cuda)GetError(?:String|Name)|__assert_fail|_ZStls.*|"
    r"_ZNSo.*|_ZSt16__ostream_insert.*|_ZSt4endl.*|__cxa_\w+|_ZdlPv.*|_ZdaPv.*|_Unwind_Resume|_ZNSt.*D[012]Ev|llvm\.mem.*"
)
_NUMBERED = re.compile(r"%(?:[abv]\d+|e[0-9a-f]{20})")
_STUB = re.compile(r"@(?:_Z\w*?\d+)?__device_stub__")


class Needs(enum.IntEnum):
    """What a candidate has to declare for its host code."""

    NOTHING = 0
    GEOMETRY = 1
    KERNELS = 2
    FORBIDDEN = 3


_BLANKS: Mapping[Needs, Callable[[str], str]] = {
    Needs.NOTHING: lambda ir: ir,
    Needs.GEOMETRY: launches.without_geometry,
    Needs.KERNELS: launches.without_launches,
}


@dataclass(frozen=True)
class HostDifference:
    """`where` says what differs, for people: at the first step that is too strict for the candidate.

    `totals`: the copies of both versions of which the host needs the total alone, where it is equal only without these.
    """

    needs: Needs
    where: str = ""
    totals: tuple[tuple[Total, Total], ...] = ()


@dataclass(frozen=True)
class _Side:
    """One version of one unit, at one step."""

    module: Module
    kernels: frozenset[str]
    roots: frozenset[str]


_Stripped = dict[Unit, list[str]]  # each unit as often as it was optimised, the last being what is left of it


@dataclass(frozen=True)
class Host:
    """One version's host side, as the front end makes it, and what is left of it at each step."""

    raw: dict[Unit, str]
    _steps: dict[Needs, _Stripped] = field(default_factory=dict, compare=False, repr=False)
    _readable: dict[Unit, str] = field(default_factory=dict, compare=False, repr=False)
    _totalled: dict[frozenset[int], tuple[Host, tuple[Total, ...]]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def step(self, compiler: Compiler, needs: Needs) -> dict[Unit, str]:
        return {unit: states[-1] for unit, states in self.states(compiler, needs).items()}

    def states(self, compiler: Compiler, needs: Needs) -> _Stripped:
        if needs not in self._steps:
            self._steps[needs] = _stripped(compiler, self.raw, needs)
        return self._steps[needs]

    def totalled(self, compiler: Compiler, sourced: frozenset[int] = frozenset()) -> tuple[Host, tuple[Total, ...]]:
        """Without the copies of which the host needs the total alone, and what these are. `sourced`: see `totals`."""
        if sourced not in self._totalled:
            modules: dict[Unit, str] = {}
            found: list[Total] = []
            for unit, ir in self._plain(compiler).items():
                mine = frozenset(number - len(found) for number in sourced)
                text, totals_here = totals.totalled(ir, mine)
                modules[unit] = text if totals_here else self.raw[unit]
                found += totals_here
            self._totalled[sourced] = Host(modules), tuple(found)
        return self._totalled[sourced]

    def _plain(self, compiler: Compiler) -> dict[Unit, str]:
        """With loops as they are written, and copies beside them."""
        if not self._readable:
            for unit, ir in self.raw.items():
                readable = totals.readable(launches.without_throws(ir))
                self._readable[unit] = compiler.optimised(readable, unit.directory, totals.PLAIN_LOOPS)
        return self._readable


def alike_optimised(compiler: Compiler, old: Host, new: Host, needs: Needs) -> tuple[dict[Unit, str], dict[Unit, str]]:
    """Both at one step, with every unit optimised as often in both: once more is not always without effect."""
    _even_out(compiler, old.states(compiler, needs), new.states(compiler, needs))
    return old.step(compiler, needs), new.step(compiler, needs)


def _even_out(compiler: Compiler, *sides: _Stripped) -> None:
    for unit in sides[0].keys() & sides[1].keys():
        times = max(len(side[unit]) for side in sides)
        for states in (side[unit] for side in sides):
            while len(states) < times:
                states.append(compiler.optimised(states[-1], unit.directory))


def compare(compiler: Compiler, old: Host, new: Host, called_elsewhere: Collection[str]) -> HostDifference:
    """Original and candidate, unit by unit. `called_elsewhere`: words of the files that are not a unit.

    Raises `Unreadable` where the optimiser fails.
    """
    where = ""
    for needs in (Needs.NOTHING, Needs.GEOMETRY, Needs.KERNELS):
        found = _difference(*alike_optimised(compiler, old, new, needs), needs, called_elsewhere)
        if not found:
            told = _acts(compiler, old, new) if needs is Needs.KERNELS or _asks_more(compiler, old, new) else ""
            return HostDifference(Needs.FORBIDDEN if told else needs, told or where)
        where = found
    return (
        _stripped_late(compiler, old, new, called_elsewhere, where)
        or _without_totals(compiler, old, new, called_elsewhere)
        or HostDifference(Needs.FORBIDDEN, where)
    )


def launches_others(
    compiler: Compiler, old: Host, new: Host, kernels: Collection[str], called_elsewhere: Collection[str]
) -> bool:
    """Where sizes of launches differ: are other kernels than these launched otherwise, too, for any input?

    Not so if nothing differs without the sizes of these kernels' own launches. `kernels`: plain names.
    """
    own = partial(launches.without_geometry, kernels=kernels)
    try:
        sides = [_stripped(compiler, side.raw, Needs.GEOMETRY, own) for side in (old, new)]
        _even_out(compiler, *sides)
        before, after = ({unit: states[-1] for unit, states in side.items()} for side in sides)
        return bool(_difference(before, after, Needs.GEOMETRY, called_elsewhere))
    except Unreadable:
        return True


def _stripped_late(
    compiler: Compiler, old: Host, new: Host, called_elsewhere: Collection[str], where: str
) -> HostDifference | None:
    """Without launches and scratch memory once both are optimised with them; None where they differ so, too.

    What only a size of scratch memory uses is there when the rest is optimised first: the optimiser gives a number that
    has more uses another form, which stays when these are gone. The launches' own arguments are uses in both versions.
    """
    mine, theirs = (Host(side.step(compiler, Needs.NOTHING)) for side in (old, new))
    try:
        stripped = alike_optimised(compiler, mine, theirs, Needs.KERNELS)
        if _difference(stripped[0], stripped[1], Needs.KERNELS, called_elsewhere):
            return None
        told = _acts(compiler, mine, theirs)
    except Unreadable:  # what is taken out has a name already
        return None
    return HostDifference(Needs.FORBIDDEN if told else Needs.KERNELS, told or where)


def common_totals(compiler: Compiler, old: Host, new: Host) -> tuple[tuple[Total, Total], ...]:
    """The copies of both versions of which the host needs the total alone, if they are alike."""
    mine, theirs = old.totalled(compiler)[1], new.totalled(compiler)[1]
    pairs = tuple(zip(mine, theirs, strict=False))
    return pairs if len(mine) == len(theirs) and all(totals.agree(*pair) for pair in pairs) else ()


def _without_totals(
    compiler: Compiler, old: Host, new: Host, called_elsewhere: Collection[str]
) -> HostDifference | None:
    """None where they differ without these copies, too, or there are none."""
    pairs = common_totals(compiler, old, new)
    # What either copies whole, one element that is, comes from the same place.
    whole = frozenset(number for number, pair in enumerate(pairs) if not any(total.how for total in pair))
    if len(whole) == len(pairs):
        return None
    mine, theirs = (side.totalled(compiler, whole)[0] for side in (old, new))
    try:
        stripped = alike_optimised(compiler, mine, theirs, Needs.KERNELS)
        found = _difference(stripped[0], stripped[1], Needs.KERNELS, called_elsewhere)
    except Unreadable:  # a total that is needed before it is copied
        return None
    if found or _acts(compiler, mine, theirs):
        return None
    return HostDifference(Needs.KERNELS, "how many partial results the host adds up changes", pairs)


def _asks_more(compiler: Compiler, old: Host, new: Host) -> bool:
    """Of the device: what is done where it has no answer is gone from what was compared."""
    counts = [sum(map(launches.queries, side.step(compiler, Needs.NOTHING).values())) for side in (old, new)]
    return counts[1] > counts[0]


def _acts(compiler: Compiler, old: Host, new: Host) -> str:
    """What the candidate's host code does more often than the original's, also where an allocation fails."""
    counts = []
    for side in (old, new):
        done: Counter[str] = Counter()
        for ir in side.step(compiler, Needs.NOTHING).values():
            module = parse(ir)
            done += launches.actions(ir, {name for name in module.functions if not _MACHINERY.match(name)})
        counts.append(done)
    for name, count in counts[1].items():
        if count > counts[0][name] and not (_TELLS.fullmatch(name) and counts[0][name]):
            told = "stores more than the original's" if name == "a store" else f"calls {plain_name(name)} more often"
            return f"the candidate's host code {told}"
    return ""


def _stripped(
    compiler: Compiler, raw: dict[Unit, str], needs: Needs, blank: Callable[[str], str] | None = None
) -> _Stripped:
    blank = blank or _BLANKS[needs]
    found = {unit: [compiler.optimised(blank(ir), unit.directory)] for unit, ir in raw.items()}
    if needs is Needs.NOTHING:
        return found
    for _ in range(_ROUNDS):
        modules = {unit: states[-1] for unit, states in found.items()}
        unused: dict[str, frozenset[int]] = {}
        for ir in modules.values():
            unused |= launches.unused_arguments(ir)
        changed = {unit: launches.with_dead_arguments_blank(ir, unused) for unit, ir in modules.items()}
        if needs is Needs.KERNELS:
            changed = {unit: launches.without_scratch(ir) for unit, ir in changed.items()}
        if changed == modules:
            break
        for unit, ir in changed.items():
            if ir != modules[unit]:
                found[unit].append(compiler.optimised(ir, unit.directory))
    return found


def _difference(
    old: Mapping[Unit, str], new: Mapping[Unit, str], needs: Needs, called_elsewhere: Collection[str]
) -> str:
    before = {unit: parse(ir) for unit, ir in old.items()}
    after = {unit: parse(ir) for unit, ir in new.items()}
    alone = any("@main" in module.functions for module in before.values())
    for unit in old:
        others = {
            name
            for other in old
            if other is not unit
            for module in (before[other], after[other])
            for name in _named(module)
        }
        known = None if not alone and not called_elsewhere else called_elsewhere
        sides = [_side(module, others, known) for module in (before[unit], after[unit])]
        found = _unit_difference(sides[0], sides[1], needs)
        if found:
            return found
    return ""


def _named(module: Module) -> set[str]:
    return {name for key in (*module.functions, *module.variables) for name in module.names_in(key)}


def _side(module: Module, others: Collection[str], words: Collection[str] | None) -> _Side:
    """`words` is None where nothing is known of who calls into this unit."""
    registered = frozenset(_handles(module))
    roots = {name for name in _STARTS if name in module.functions or name in module.variables}
    roots |= {name for _, name in _started(module)}
    for name in (*module.functions, *module.variables):
        header = module.functions[name].header if name in module.functions else module.variables[name]
        if _LOCAL.search(header.split("{")[0]) or _MERGED.search(header) or _MACHINERY.match(name):
            continue
        if name in others or words is None or plain_name(name) in words:
            roots.add(name)
    return _Side(module, registered, frozenset(roots))


def _started(module: Module) -> list[tuple[str, str]]:
    """Priority and function of what runs before main, but for the registration of device code."""
    listed = _BEFORE_MAIN.findall(module.variables.get("@llvm.global_ctors", ""))
    return [entry for entry in listed if not _MACHINERY.match(entry[1])]


def _stubs(module: Module) -> set[str]:
    """The host's functions that launch a kernel each."""
    return {name for name in module.functions if _STUB.match(name)}


def _handles(module: Module) -> set[str]:
    """Stubs, and what HIP calls kernels by."""
    stubs = _stubs(module)
    named = {name for name, text in module.variables.items() if any(text.split(",")[0].endswith(one) for one in stubs)}
    return stubs | named


def kernel_of(stub: str) -> str | None:
    """The symbol of the kernel that this function of the host launches; None where it is not such a stub."""
    if not _STUB.match(stub):
        return None
    length = re.search(r"(\d+)__device_stub__", stub)
    given = f"{length[1] if length else ''}__device_stub__"
    return stub.replace(given, str(int(length[1]) - len("__device_stub__")) if length else "", 1)


def kernel_names(ir: str) -> frozenset[str]:
    """Symbols of a unit's kernels, as the device side calls them."""
    return frozenset(kernel for stub in _stubs(parse(ir)) if (kernel := kernel_of(stub)) is not None)


def _unit_difference(old: _Side, new: _Side, needs: Needs) -> str:
    if needs is not Needs.KERNELS and old.kernels != new.kernels:
        changed = sorted(plain_name(name).removeprefix("__device_stub__") for name in old.kernels ^ new.kernels)
        return f"the program's kernels are others: {', '.join(dict.fromkeys(changed))}"
    if old.module.extras != new.module.extras:
        return f"module-level directives: {(*new.module.extras, 'one went away')[0][:_SHOWN]}"
    if _started(old.module) != _started(new.module):
        return "the code that runs before main is other code"
    reached = [{name for name in _live(side) if not side.module.is_unnamed(name)} for side in (old, new)]
    for name in sorted(reached[0] | reached[1], key=lambda one: (one not in new.module.functions, one != "@main", one)):
        found = _part_difference(old.module, new.module, name)
        if found:
            return found
    return _new_symbols(old, new)


def _live(side: _Side) -> set[str]:
    skipped = {name for name in (*side.module.functions, *side.module.variables) if _MACHINERY.match(name)}
    return side.module.reached(set(side.roots), skipped | side.kernels)


def _part_difference(old: Module, new: Module, name: str) -> str:
    sides = [module.lines(name) for module in (old, new)]
    texts = [[line.text for line in side] for side in sides]
    if texts[0] == texts[1]:
        return ""
    defined = [name in module.functions or name in module.variables for module in (old, new)]
    if defined != [True, True]:
        if name.startswith(("@_GLOBAL__", "@__cxx_global", "@llvm.global")):
            return f"code that runs before main is {'gone' if defined[0] else 'new'}"
        return f"{plain_name(name)} {'is no longer' if defined[0] else 'is now'} defined by the program"
    if name in new.variables:
        return f"the variable {plain_name(name)} has another value or kind"
    plain = [[_NUMBERED.sub("%", text) for text in side] for side in texts]
    at = next((at for at, pair in enumerate(zip(*plain, strict=False)) if pair[0] != pair[1]), -1)
    if at < 0:
        at = next((at for at, pair in enumerate(zip(*texts, strict=False)) if pair[0] != pair[1]), min(map(len, texts)))
    places = (new.line_of(line.place) for line in sides[1][at:] if line.place)
    file, line = next((place for place in places if place[1]), ("", 0))
    told = _told(texts[1][at] if at < len(texts[1]) else "", texts[0][at] if at < len(texts[0]) else "")
    place = f"{Path(file).name}:{line}: " if line else ""
    return f"{place}host function {plain_name(name)} is compiled to something else{told}"


def _told(now: str, before: str) -> str:
    called = [re.search(r"(?:call|invoke) .*?@([-\w.$]+)\(", text) for text in (now, before)]
    names = [plain_name(match[1]) if match else "" for match in called]
    if names[0] and names[0] == names[1]:
        return f" (the arguments of {names[0]})"
    return f" (a call of {names[0]})" if names[0] else f" (no call of {names[1]})" if names[1] else ""


def _new_symbols(old: _Side, new: _Side) -> str:
    """Definitions that other objects or libraries would take for theirs."""
    had = {*old.module.functions, *old.module.variables}
    for name in (*new.module.functions, *new.module.variables):
        header = new.module.functions[name].header if name in new.module.functions else new.module.variables[name]
        if name in had or _MACHINERY.match(name) or name in new.kernels or name.startswith("@llvm."):
            continue
        if not _LOCAL.search(header.split("{")[0]) and is_a_librarys(name.strip('@"')):
            return f"a definition under a name of the system's libraries: {plain_name(name)}"
    return ""
