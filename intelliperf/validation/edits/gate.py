"""The static gate: may this candidate change what it changes? Decided before anything of it is built or run.

Kernels and device code may change as they like, as long as they use nothing on the device that the original does not
and that could tell where it runs. Host code has to be the original's as compiled, but for what the candidate declares:
the sizes of launches, or launches and scratch memory. Comments, layout, macros, names and braces are free.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from intelliperf.project.kernelnames import unqualified
from intelliperf.project.pythonsource import SUFFIX
from intelliperf.records import NO_FILE, Candidate, Declaration, FileEdit, content_hash
from intelliperf.validation.edits import devicecode, pythongate, words
from intelliperf.validation.edits.devicecode import Device
from intelliperf.validation.edits.grids import alike, grid_formulas
from intelliperf.validation.edits.hostcode import (
    Host,
    HostDifference,
    Needs,
    common_totals,
    compare,
    kernel_names,
    launches_others,
)
from intelliperf.validation.edits.names import plain_name
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.edits.sameness import same_code
from intelliperf.validation.edits.tokens import Token, oddity, tokens
from intelliperf.validation.edits.total import Total
from intelliperf.validation.edits.units import Unit, Unreadable

_WORD = re.compile(r"[A-Za-z_]\w*")
Totals = tuple[tuple[Total, Total], ...]
_RESTRICT = ("__restrict__", "__restrict", "restrict")


@dataclass(frozen=True)
class StaticVerdict:
    """`refusal` says what is not allowed, with file and line; empty if all is.

    `unread`: the compiler does not take the candidate's text, for this reason; a build that does is refused, too.
    """

    refusal: str = ""
    beyond_target: bool = False  # code that other kernels may use was changed, too
    changed: frozenset[str] = field(default=frozenset(), compare=False)  # symbols of kernels that reach other code
    restricted: bool = False  # __restrict__ was added
    synchronisation: bool = False  # barriers, atomics or LDS came or went
    unread: str = ""
    needs: Needs = Needs.NOTHING  # what the host code asks to be declared
    others_launched: bool = False  # other kernels may have other grids or blocks, too, if not in the command's own run
    # Of original and candidate, see `grids`; None where they are not known, or launches are not repeated one by one.
    grids: tuple[tuple[str, ...], tuple[str, ...]] | None = field(default=None, compare=False)
    host: Host | None = field(default=None, compare=False)  # the candidate's, where it was compiled
    # Copies of original and candidate of which the host needs the total alone, see `totals`.
    totals: Totals = field(default=(), compare=False)
    totals_if_declared: Callable[[], Totals] = field(default=tuple, compare=False)  # where other kernels are not
    unchanged: bool = False  # comments and layout apart, and where they stand is not part of the program either


@dataclass(frozen=True)
class Devices:
    """The device sides of original and candidate, by unit."""

    old: Mapping[Unit, Device]
    new: Mapping[Unit, Device]

    def pairs(self) -> Iterator[tuple[Unit, tuple[Device, Device]]]:
        for unit, device in self.new.items():
            yield unit, (self.old[unit], device)


def examine(
    candidate: Candidate,
    sources: Mapping[str, str],
    allowed: Collection[str],
    kernel_name: str,
    reading: Reading | None,
    file: Path | None = None,
    symbol: str = "",
) -> StaticVerdict:
    """Judge the edits against `sources`, the texts that they were made for. `allowed`: paths that may change.

    `reading` is None where the project compiles no C++; `file`: the one that defines the kernel, if that is known;
    `symbol`: of the instance that is judged, where the kernel is a template.
    """
    for edit in candidate.edits:
        refusal = _file_refusal(edit, sources, allowed)
        if refusal:
            return StaticVerdict(refusal)
    scripts = tuple(edit for edit in candidate.edits if edit.path.endswith(SUFFIX))
    if scripts:
        return _scripts(candidate, scripts, sources, kernel_name, file)
    if reading is None:
        return StaticVerdict(f"{candidate.edits[0].path} is compiled by no build of the project")
    known = frozenset(word for text in sources.values() for word in _WORD.findall(text))
    rows: dict[str, tuple[list[Token], list[Token]]] = {}
    for edit in candidate.edits:
        try:
            rows[edit.path] = reading.tokens(sources[edit.path]), tokens(reading.compiler, edit.text)
        except Unreadable as error:
            return StaticVerdict(f"{edit.path}: {error}")
        try:
            headers = _new_headers(reading, edit.path, rows[edit.path])
        except Unreadable as error:
            return StaticVerdict(str(error))
        own = frozenset(headers)
        refusal = words.violation(*rows[edit.path], known, own) or words.operator_pragmas(_added(*rows[edit.path]))
        if refusal:
            return StaticVerdict(f"{edit.path}: {refusal}")
        for header, row in headers.values():
            refusal = words.header_violation(row, known, own) or words.operator_pragmas(row)
            if refusal:
                return StaticVerdict(f"{edit.path} includes {header}, {refusal}")
    return _compiled(candidate, sources, kernel_name, reading, rows, symbol)


def _new_headers(
    reading: Reading, path: str, rows: tuple[list[Token], list[Token]]
) -> dict[tuple[str, ...], tuple[Path, list[Token]]]:
    """The project's own headers that only the candidate includes, by spelling, with those that these include.

    Nobody wrote them for the candidate, but another compiler may read them in another way. Raises `Unreadable`.
    """
    found: dict[tuple[str, ...], tuple[Path, list[Token]]] = {}
    pending = [(Path(path), spelled) for spelled in words.added_includes(*rows)]
    while pending:
        reader, spelled = pending.pop()
        header = reading.header(reader, "".join(spelled)) if spelled not in found else None
        if header is None:
            continue
        row = reading.tokens(reading.text(header))
        found[spelled] = header, row
        pending += [(header, inner) for inner in words.added_includes([], row)]
    return found


def _scripts(
    candidate: Candidate, scripts: tuple[FileEdit, ...], sources: Mapping[str, str], kernel: str, file: Path | None
) -> StaticVerdict:
    """Of Python files, which hold their kernels' sources and the host code that starts them."""
    if len(scripts) != len(candidate.edits):
        return StaticVerdict("the candidate changes kernels of two languages at once: judge them one after the other")
    found = pythongate.examine(scripts, sources, kernel, file, candidate.declares)
    return StaticVerdict(
        refusal=found.refusal,
        beyond_target=found.beyond_target,
        synchronisation=found.synchronisation,
        needs=Needs.GEOMETRY if found.geometry else Needs.NOTHING,
        unchanged=found.unchanged,
        grids=found.grids,
    )


def _file_refusal(edit: FileEdit, sources: Mapping[str, str], allowed: Collection[str]) -> str:
    if edit.base_hash == NO_FILE:
        return f"the candidate adds the file {edit.path}: only sources that exist may change"
    if not edit.text.strip():
        return f"the candidate removes {edit.path} or all that it holds"
    if edit.path not in allowed or edit.path not in sources:
        return f"{edit.path} is not a source of the kernel; only these may change: {', '.join(sorted(allowed))}"
    if content_hash(sources[edit.path]) != edit.base_hash:
        return f"{edit.path} is not the text that this edit was made for"
    odd = oddity(sources[edit.path], edit.text)
    return f"{edit.path}: {odd}" if odd else ""


def _added(old: list[Token], new: list[Token]) -> list[Token]:
    """The new row, unless the old one has operator pragmas as well."""
    return [] if any(token.text == "_Pragma" for token in old) else new


def _compiled(
    candidate: Candidate,
    sources: Mapping[str, str],
    kernel_name: str,
    reading: Reading,
    rows: Mapping[str, tuple[list[Token], list[Token]]],
    symbol: str,
) -> StaticVerdict:
    tree = reading.tree.resolve()
    before = {(tree / edit.path).resolve(): sources[edit.path] for edit in candidate.edits}
    after = {(tree / edit.path).resolve(): edit.text for edit in candidate.edits}
    try:
        units = _units(candidate, reading)
        reading.prepare(units, before, after)
        old = reading.host(units, before, keep=True)
        old_devices = reading.devices(units, before, old, keep=True)
    except Unreadable as error:
        return StaticVerdict(
            f"the original cannot be read as it is built, so nothing vouches for its host code: {error}"
        )
    for edit in candidate.edits:
        if not reading.affected(edit.path):
            return StaticVerdict(f"{edit.path} is read by no compilation of a GPU source")
    try:
        new = reading.host(units, after)
        new_devices = reading.devices(units, after, new)
        if all(_words(before) == _words(after) for before, after in rows.values()):
            pairs = [(old.raw[unit], new.raw[unit]) for unit in units]
            pairs += [(old_devices[unit].text, device.text) for unit, device in new_devices.items()]
            if all(same_code(*pair) for pair in pairs):
                return StaticVerdict(unchanged=True, host=new)
        host = compare(reading.compiler, old, new, reading.words_elsewhere)
        if host.needs is Needs.FORBIDDEN:
            return StaticVerdict(host.where)
        devices = Devices(old_devices, new_devices)
        targets = _targets(devices, kernel_name)
        own = {plain_name(name) for name in targets}
        sized = host.needs is Needs.GEOMETRY and candidate.declares.geometry
        others = sized and launches_others(reading.compiler, old, new, own, reading.words_elsewhere)
    except Unreadable as error:
        return StaticVerdict(unread=str(error), beyond_target=True)
    totals = partial(common_totals, reading.compiler, old, new)
    needs, why = _needs(devices, kernel_name, host)
    refusal = _device_refusal(devices) or _undeclared(needs, why, candidate.declares)
    return StaticVerdict(
        refusal=refusal,
        changed=frozenset(map(_symbol, _reaching(devices))),
        beyond_target=bool(_reaching(devices) - ({one for one in targets if _symbol(one) == symbol} or targets)),
        restricted=any(_restricts(pair[1]) > _restricts(pair[0]) for pair in rows.values()),
        synchronisation=any(words.synchronising(pair[0]) != words.synchronising(pair[1]) for pair in rows.values()),
        needs=needs,
        others_launched=others,
        grids=_grids(reading, old, new, own, others) if needs <= Needs.GEOMETRY else None,
        totals=host.totals or (totals() if candidate.declares.kernels else ()),
        totals_if_declared=totals,
        host=new,
    )


def _grids(
    reading: Reading, old: Host, new: Host, targets: Collection[str], others: bool
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """How each version computes the grids of its launches, where both do from the same arguments.

    Of the target, and of all `others` if these are launched otherwise, too.
    """
    sides = [side.step(reading.compiler, Needs.NOTHING).values() for side in (old, new)]
    wanted = {plain_name(name) for ir in sides[0] for name in kernel_names(ir)} if others else set(targets)
    mine, theirs = (tuple(one for ir in side for one in grid_formulas(ir, wanted)) for side in sides)
    return alike(mine, theirs)


def _units(candidate: Candidate, reading: Reading) -> tuple[Unit, ...]:
    found: dict[Unit, None] = {}
    for edit in candidate.edits:
        found.update(dict.fromkeys(reading.affected(edit.path)))
        found.update(dict.fromkeys(reading.other_readers(edit.path)))
    return tuple(found)


def _device_refusal(devices: Devices) -> str:
    for unit, pair in devices.pairs():
        refusal = devicecode.refusal(*pair)
        if refusal:
            return f"{unit.source.name}: {refusal}"
    return ""


def _needs(devices: Devices, kernel_name: str, host: HostDifference) -> tuple[Needs, str]:
    changed = {plain_name(name) for _, pair in devices.pairs() for name in devicecode.changed_kernels(*pair)}
    others = changed - {plain_name(name) for name in _targets(devices, kernel_name)}
    if others:
        told = (
            f"the kernel {', '.join(sorted(others))} changes beside the one that is judged, {unqualified(kernel_name)}"
        )
        return Needs.KERNELS, told
    return host.needs, host.where


def _undeclared(needs: Needs, why: str, declares: Declaration) -> str:
    where = "".join(f"{place}: " for place in re.findall(r"^\S+:\d+(?=: )", why))
    if needs is Needs.GEOMETRY and not (declares.geometry or declares.kernels):
        return f"{where}the grid, block or LDS size of a launch changes, undeclared: --allow-geometry allows it"
    if needs is Needs.KERNELS and not declares.kernels:
        told = why if why.startswith("the ") else f"{where}launches or their memory change"
        return f"{told}, undeclared: --allow-kernels allows it"
    return ""


def _targets(devices: Devices, kernel_name: str) -> set[str]:
    """Symbols of the kernel that is judged; of a lambda's kernel all that are made of lambdas."""
    closure = "lambda" in kernel_name or "$_" in kernel_name
    wanted = unqualified(kernel_name)
    kernels = {name for device in devices.old.values() for name in device.kernels}
    return {name for name in kernels if (closure and re.search(r"\$_|Ul", name)) or plain_name(name) == wanted}


def _symbol(name: str) -> str:
    """As the device runtime knows it, of a name in IR."""
    return name.strip('@"')


def _reaching(devices: Devices) -> set[str]:
    return {name for _, pair in devices.pairs() for name in devicecode.reaching_changes(*pair)}


def _words(row: list[Token]) -> list[str]:
    return [token.text for token in row]


def _restricts(row: list[Token]) -> int:
    return sum(token.text in _RESTRICT for token in row)
