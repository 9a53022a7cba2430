"""Which kernels a change is about, by what the compiler makes of it: a patch is judged by the first of these."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from intelliperf.project.pythonsource import Module as PythonModule
from intelliperf.project.pythonsource import program
from intelliperf.records import NO_FILE, FileEdit
from intelliperf.validation.edits import devicecode, launches
from intelliperf.validation.edits.hostcode import Host, Needs, kernel_of
from intelliperf.validation.edits.ir import NAME, Module, parse
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.edits.units import Unreadable

_VALUE = re.compile(r'%(?:"[^"]*"|[-\w.$]+)')
_CALL = re.compile(rf"\b(?:call|invoke) .*?({NAME})\((.*)$")
_DEFINED = re.compile(rf"^\s+({_VALUE.pattern}) = (.*)$")
_NOTES = re.compile(r", !\w+ !\d+|#\d+\b")
_MOST_STEPS = 400  # of what a launch's size is calculated from


@dataclass(frozen=True)
class Touched:
    """Symbols of kernels that the original and the changed program have."""

    own: frozenset[str] = frozenset()  # their own code differs
    reaching: frozenset[str] = frozenset()  # code that they call differs
    launched: frozenset[str] = frozenset()  # they are launched with other sizes, or another number of times

    @property
    def levels(self) -> tuple[frozenset[str], ...]:
        return self.own, self.reaching, self.launched


def touched(reading: Reading, edits: Sequence[FileEdit], originals: Mapping[str, str]) -> Touched:
    """Nothing where the compiler takes one of the versions not: the gates then say why."""
    known = [edit for edit in edits if edit.base_hash != NO_FILE and edit.path in originals]
    tree = reading.tree.resolve()
    before = {(tree / edit.path).resolve(): originals[edit.path] for edit in known}
    after = {(tree / edit.path).resolve(): edit.text for edit in known}
    try:
        units = tuple(dict.fromkeys(unit for edit in known for unit in reading.affected(edit.path)))
        reading.prepare(units, before, after)
        hosts = [reading.host(units, texts, keep=True) for texts in (before, after)]
        devices = [
            reading.devices(units, texts, host, keep=True) for texts, host in zip((before, after), hosts, strict=True)
        ]
        sizes = [_sizes(reading, host) for host in hosts]
    except Unreadable:
        return Touched()
    pairs = [(devices[0][unit], device) for unit, device in devices[1].items()]
    own = frozenset(name for old, new in pairs for name in devicecode.changed_kernels(old, new))
    reaching = frozenset(name for old, new in pairs for name in devicecode.reaching_changes(old, new))
    launched = frozenset(name for name in sizes[0].keys() | sizes[1].keys() if sizes[0].get(name) != sizes[1].get(name))
    return Touched(*(frozenset(name.strip('@"') for name in names) for names in (own, reaching, launched)))


def python_functions(edits: Sequence[FileEdit], originals: Mapping[str, str]) -> Touched:
    """Functions whose text changes as Python reads it, jit functions that reach one, and those launched otherwise.

    `originals`: of the edited files, and of others that may call what is in them.
    """
    before = program(originals)
    after = program({**originals, **{edit.path: edit.text for edit in edits}})
    names: set[str] = set()
    for path in before.modules.keys() & after.modules.keys():
        old, new = _functions(before.modules[path]), _functions(after.modules[path])
        names |= {name for name in old.keys() & new.keys() if old[name] != new[name]}
    changed = [function for function in before.functions() if function.name in names]
    reaching = {f.name for f in before.functions() if set(changed) & set(before.reached((f,)))} - names
    launched = {
        name
        for edit in edits
        if edit.path in before.modules and edit.path in after.modules
        for name in _launches(before.modules[edit.path]) ^ _launches(after.modules[edit.path])
    }
    return Touched(frozenset(names), frozenset(reaching), frozenset(name for name, _ in launched))


def _functions(module: PythonModule) -> dict[str, str]:
    """Kernels among them, whatever makes them such."""
    return {node.name: ast.dump(node) for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef)}


def _launches(module: PythonModule) -> set[tuple[str, str]]:
    """Kernels and how they are launched, with the values of the names in it."""
    bound = {
        target.id: ast.dump(n.value)
        for n in ast.walk(module.tree)
        if isinstance(n, ast.Assign)
        for target in n.targets
        if isinstance(target, ast.Name)
    }
    found = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            kernel = node.func.value
            named = kernel.attr if isinstance(kernel, ast.Attribute) else getattr(kernel, "id", "")
            used = sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)})
            found.add((named, ast.dump(node) + "".join(bound.get(name, "") for name in used)))
    return found


def _sizes(reading: Reading, host: Host) -> dict[str, Counter[str]]:
    """By kernel: how the sizes of its launches are calculated."""
    found: dict[str, Counter[str]] = {}
    for ir in host.step(reading.compiler, Needs.NOTHING).values():
        for kernel, size in launch_sizes(parse(ir)):
            found.setdefault(kernel, Counter())[size] += 1
    return found


def launch_sizes(module: Module) -> Iterator[tuple[str, str]]:
    """Kernel and sizes of each launch: what configures the next call of a stub, or a call of the API itself."""
    for function in module.functions.values():
        if kernel_of(function.name) is not None:
            continue  # the stub itself
        rows = function.raw.split("\n")
        made = {found[1]: _NOTES.sub("", found[2]) for row in rows if (found := _DEFINED.match(row))}
        pushed = ""
        for row in rows:
            call = _CALL.search(row)
            if call is None:
                continue
            places = launches.CONFIGURED.get(call[1][1:].removesuffix("_ptsz").removesuffix("_spt"))
            if places is not None:
                operands = _split(_NOTES.sub("", call[2]))
                pushed = "; ".join(_expression(operands[place], made) for place in places if place < len(operands))
                handle = re.search(NAME, operands[0])
                if handle is not None:
                    yield handle[0], pushed
            elif (kernel := kernel_of(call[1])) is not None:
                yield kernel, pushed


def _split(operands: str) -> list[str]:
    parts: list[str] = []
    depth = start = 0
    for at, letter in enumerate(operands):
        depth += (letter in "([{<") - (letter in ")]}>")
        if depth < 0:
            return [*parts, operands[start:at].strip()]
        if letter == "," and depth == 0:
            parts.append(operands[start:at].strip())
            start = at + 1
    return [*parts, operands[start:].strip()]


def _expression(operand: str, made: Mapping[str, str]) -> str:
    """The operand with the values that it is made of in place of their names."""
    steps = _MOST_STEPS

    def spelled(text: str, within: frozenset[str]) -> str:
        def one(match: re.Match[str]) -> str:
            nonlocal steps
            name = match[0]
            if name not in made or name in within or steps <= 0:
                return "%"
            steps -= 1
            return f"({spelled(made[name], within | {name})})"

        return _VALUE.sub(one, text)

    return spelled(operand, frozenset())
