"""What a candidate's kernels reach on the device, as the front end compiled it, beside what the original's reach.

A name is what the compiler resolved it to: macros, aliases, pasted tokens and pointers to functions make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from intelliperf.validation.edits.ir import NAME, Function, Module
from intelliperf.validation.edits.names import is_a_librarys, plain_name

_TABLE_LIMIT = 64  # numbers
_LITERAL_LIMIT = 128  # different numbers that the code holds
_INTRINSIC = re.compile(
    r"llvm\.(?:memcpy|memset|memmove|lifetime|fma|fmuladd|sqrt|fabs|floor|ceil|l?l?r(?:ound|int)|trunc|roundeven|nearbyint|"
    r"(?:min|max)(?:num|imum)(?:num)?|copysign|exp(?:2|10)?|log(?:2|10)?|sin|cos|tan|powi?|ldexp|frexp|modf|ctpop|ctlz|cttz|"
    r"bitreverse|bswap|fsh[lr]|[su](?:add|sub|mul|shl)\.(?:with\.overflow|sat)|abs|[su](?:max|min)|expect|assume|trap|"
    r"is\.fpclass|vector\.\w+|prefetch|dbg|masked|experimental\.noalias|fptosi\.sat|fptoui\.sat|convert\.\w+|threadlocal)"
    r"(?:\..*)?$"
)
_MATHEMATICS = re.compile(
    r"(?:__)?(?:a?(?:sin|cos|tan)h?(?:pi)?|atan2|sincos(?:pi)?|exp(?:2|10|m1)?|log(?:2|10|1p|b)?|r?pow[ni]?|r?sqrt|r?cbrt|fma|"
    r"f(?:abs|max|min|mod|dim|loor)|floor|ceil|trunc|l?l?r(?:ound|int)|nearbyint|copysign|ldexp|scalbl?n|frexp|modf|r?hypot|"
    r"erfc?x?(?:inv)?|[tl]gamma|remainder|remquo|nextafter|nan|ilogb|abs|labs|llabs|j[01n]|y[01n])[fl]?(?:_finite)?|"
    r"mem(?:cpy|set|move)"
)
_BANNED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a timer", re.compile(
        r"(?:__|wall_)?clock(?:64|_hi|hi)?|.*globaltimer.*|.*readcyclecounter.*|__simt_clock\w*|.*rdtsc.*"
    )),
    ("approximate arithmetic", re.compile(
        r"__(?:exp(?:10)?|log(?:2|10)?|sin|cos|tan|sincos|pow)f|__fdividef|__frsqrt_\w+|native_\w+|unsafeAtomic\w+|"
        r"__builtin_amdgcn_(?:rcp|rsq|exp2?|log|sin|cos|sqrt)\w*"
    )),
    ("printing", re.compile(r"v?f?printf|puts|putchar|fwrite|fputs")),
    ("device-side allocation", re.compile(r"malloc|calloc|realloc|free|_Zn\w+|_Zd\w+|__simt_malloc")),
)  # fmt: skip
_NARROW = re.compile(r"\b(?:half|bfloat|x86_fp80|fp128)\b|%\"?struct\.(?:__half\w*|__(?:nv|hip)_\w*(?:bfloat|fp8)\w*)")
_LIBERTIES = re.compile(r"= f\w+ (?:fast|[a-z ]*\b(reassoc|afn|arcp|nnan|ninf|nsz)\b)")
_LITERAL = re.compile(r"(?:float|double|half) (-?\d\.\d+e[+-]\d+|0x[0-9A-F]+)")
_LDS = re.compile(r"\bglobal .* undef$")
_ASSERTION = re.compile(r"\bcall void (@(?:_ZL?13)?__assert_?fail\w*)\(")
_CALL_BY_NUMBER = re.compile(r"inttoptr \(i64 \d|inttoptr i64 \d")


@dataclass(frozen=True)
class Device:
    """The device side of one unit. `tree`: the project's files; what stands elsewhere is a library's."""

    module: Module
    kernels: frozenset[str]
    tree: Path
    directory: Path
    text: str = ""  # LLVM assembly

    @cached_property
    def own(self) -> frozenset[str]:
        """Functions that the project's files define."""
        return frozenset(name for name, function in self.module.functions.items() if self._is_own(function))

    def _is_own(self, function: Function) -> bool:
        note = re.search(r"!dbg !(\d+)", function.header)
        program = self.module.notes.get(note[1], "") if note else ""
        file = re.search(r"file: !(\d+)", program)
        described = self.module.notes.get(file[1], "") if file else ""
        named = re.search(r'filename: "([^"]*)"', described)
        if named is None:
            return function.name in self.kernels
        path = (self.directory / named[1]).resolve()
        return self.tree in path.parents

    def reach(self, kernels: Collection[str]) -> set[str]:
        """The project's own functions that these kernels lead to."""
        found: set[str] = set()
        waiting = [name for name in kernels if name in self.module.functions]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += [one for one in self.module.names_in(name) if one in self.own]
        return found

    def named(self, functions: Collection[str]) -> set[str]:
        """What these functions refer to beyond the project's own functions, as symbols."""
        return {one for name in functions for one in self.module.names_in(name)} - self.own

    def raw(self, functions: Collection[str]) -> Iterator[str]:
        for name in functions:
            yield self.module.functions[name].raw


def refusal(old: Device, new: Device) -> str:
    """The first thing that the candidate's kernels do and the original's do not, and may not; "" if nothing."""
    reach = old.reach(old.kernels), new.reach(new.kernels)
    texts = ["\n".join(side.raw(names)) for side, names in zip((old, new), reach, strict=True)]
    return (
        _name_refusal(old, new, reach)
        or _text_refusal(*texts)
        or _variable_refusal(old, new)
        or _table_refusal(old, new, texts)
        or _symbol_refusal(old, new)
    )


def changed_kernels(old: Device, new: Device) -> set[str]:
    """Kernels of both whose own code differs, without what they call."""
    both = old.kernels & new.kernels & set(old.module.functions) & set(new.module.functions)
    return {name for name in both if _texts(old.module, name) != _texts(new.module, name)}


def reaching_changes(old: Device, new: Device) -> set[str]:
    """Kernels of both that reach code that differs."""
    both = old.kernels & new.kernels & set(old.module.functions) & set(new.module.functions)
    found = set()
    for name in both:
        sides = old.reach([name]), new.reach([name])
        if sides[0] != sides[1] or any(_texts(old.module, one) != _texts(new.module, one) for one in sides[0]):
            found.add(name)
    return found


def _texts(module: Module, name: str) -> list[str]:
    return [line.text for line in module.lines(name)]


def _name_refusal(old: Device, new: Device, reach: tuple[set[str], set[str]]) -> str:
    had = {plain_name(name) for name in old.named(reach[0])}
    for symbol in sorted(new.named(reach[1])):
        name = plain_name(symbol)
        if name in had:
            continue
        told = next((what for what, pattern in _BANNED if pattern.fullmatch(name)), "")
        if told:
            return f"the candidate's kernels use {told}: {name}"
        if symbol in new.module.functions or symbol in new.module.variables:
            continue
        known = _INTRINSIC.match(name) or _MATHEMATICS.fullmatch(name)
        if not known and not _from_runtime(new, symbol):
            return f"the candidate's kernels use a function that is not known to be harmless: {name}"
    return ""


def _from_runtime(device: Device, symbol: str) -> bool:
    """Is it what a library's own function, which the kernels may use, calls as well?"""
    rest = set(device.module.functions) - device.own
    return any(symbol in device.module.names_in(name) for name in rest) and not symbol.startswith("@__simt")


def _text_refusal(old: str, new: str) -> str:
    assembly = [set(re.findall(r"\basm (?:\w+ )*\"[^\"]*\"", text)) for text in (old, new)]
    if extra := assembly[1] - assembly[0]:
        return f"the candidate's kernels hold inline assembly: {sorted(extra)[0]}"
    if _NARROW.search(new) and not _NARROW.search(old):
        found = _NARROW.search(new)
        return f"the candidate's kernels use a narrower number type: {found[0] if found else ''}"
    liberties = [set(_LIBERTIES.findall(text)) for text in (old, new)]
    if extra := liberties[1] - liberties[0]:
        return f"the candidate's arithmetic has more freedom than the original's: {sorted(extra)[0] or 'fast'}"
    if _CALL_BY_NUMBER.search(new) and not _CALL_BY_NUMBER.search(old):
        return "the candidate's kernels make a pointer out of a number"
    if re.search(r"= alloca [^,]+, i\d+ %", new) and not re.search(r"= alloca [^,]+, i\d+ %", old):
        return "the candidate's kernels hold arrays of a size that only the run tells"
    return ""


def _variable_refusal(old: Device, new: Device) -> str:
    for name, text in new.module.variables.items():
        before = old.module.variables.get(name)
        if re.search(r"\b(?:external|extern_weak|appending|private)\b", text) or name.startswith("@__hip_cuid"):
            continue
        if before is not None:
            if _value(before) != _value(text) and not (_LDS.search(_value(before)) and _LDS.search(_value(text))):
                return f"the value of {plain_name(name)} changes, which others may use"
        elif re.search(r"\bglobal\b", text) and (told := _lasting(name, text)):
            return told
    return ""


def _value(text: str) -> str:
    return re.sub(r", (?:align \d+|!dbg !\d+|section \"[^\"]*\"|comdat)", "", text)


def _lasting(name: str, text: str) -> str:
    """Of a variable that changes: what is wrong with it, "" for LDS and counters that start at zero."""
    kind = _value(text)
    if _LDS.search(kind):
        return ""
    if "thread_local" in text:
        return f"a variable of the thread: {plain_name(name)}"
    if name.startswith("@_ZZ"):
        return f"a static variable in device code: {plain_name(name)}"
    zero = re.search(r"\bglobal (?:\[[^%{]*\]|i\d+|float|double) (?:0|0\.0+e\+00|zeroinitializer)$", kind)
    if zero is None or " ptr" in kind:
        return f"a new global variable: {plain_name(name)}"
    return ""


def _table_refusal(old: Device, new: Device, texts: list[str]) -> str:
    had = {_value(text) for text in old.module.variables.values()}
    said = _said_by_assertions(new)
    for name, text in new.module.variables.items():
        if name in said:
            continue
        numbers = len(re.findall(r"(?:i\d+|float|double) -?[\d0x]", text))
        letters = len(re.sub(r"\\[0-9A-F]{2}", "x", (re.findall(r'c"([^"]*)"', text) or [""])[0]))
        if max(numbers, letters) > _TABLE_LIMIT and "constant" in text and _value(text) not in had:
            return f"the candidate adds a table of more than {_TABLE_LIMIT} literals"
    literals = [set(_LITERAL.findall(text)) for text in texts]
    if len(literals[1] - literals[0]) > _LITERAL_LIMIT:
        return f"the candidate's kernels hold more than {_LITERAL_LIMIT} numbers that the original's do not"
    return ""


def _said_by_assertions(device: Device) -> set[str]:
    """Texts that nothing but assertions uses, by the library's function: condition, file and function of each."""
    module = device.module
    said: set[str] = set()
    used = {name for variable in module.variables for name in module.names_in(variable)}
    for function in module.functions.values():
        for line in function.raw.splitlines():
            asserts = _ASSERTION.search(line)
            (said if asserts and asserts[1] not in device.own else used).update(re.findall(NAME, line))
    return said - used


def _symbol_refusal(old: Device, new: Device) -> str:
    """A plain name of a library would be what the library calls by it."""
    for name, function in new.module.functions.items():
        plain = name.strip('@"')
        if name in old.module.functions or plain.startswith("_Z") or name in new.kernels:
            continue
        if " internal " not in function.header and name in new.own and is_a_librarys(plain):
            return f"a new function under the name of a library's: {plain}"
    return ""
